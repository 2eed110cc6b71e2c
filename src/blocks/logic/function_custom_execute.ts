import { andThen } from '../../shared/maybe-promise.ts'
import { defineFlow } from '../block.ts'
import { functionName } from '../names.ts'
import { namedValue, pinsNamed } from '../pins/named-values.ts'

export default defineFlow({
  identifier: 'function_custom_execute',
  title: 'Call a custom function',
  words: 'Call {function}',
  summary: 'Runs a custom function with these parameters and waits for its result.',
  effects: { setsVariables: true },
  in: { function: { type: 'function', required: true, help: 'The name of the function.' } },
  out: { value: { type: 'any', help: 'The result of the function. Empty if it returned none.' } },
  settings: { parameters: { kind: 'names', help: 'Parameters to pass: each becomes a pin.' } },
  moreIn: ({ parameters }) => pinsNamed(parameters, (name) => `The parameter ${name}.`),
  run(inputs, context) {
    const name = functionName('function', inputs.function)
    const parameters = context.settings.parameters.map((id) => [id, namedValue(context, id)])
    return andThen(context.call(name, Object.fromEntries(parameters)), (value) => ({ value }))
  },
})
