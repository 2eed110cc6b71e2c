import type { JsonValue } from '../../shared/json.ts'
import { defineFlow, PinError } from '../block.ts'
import { functionName } from '../function-name.ts'
import { namedValue, pinsNamed } from '../named-values.ts'

const MOST_ITEMS = 10_000

export default defineFlow({
  identifier: 'function_custom_execute_each',
  title: 'Call a custom function for each',
  summary:
    'Runs a function of your own once for each item of a list, one after the other, and waits. If one of them fails, nothing that any of them wrote is kept.',
  in: {
    function: { type: 'function', required: true, help: 'The name of the function.' },
    array: {
      type: 'array',
      help: 'The list, of at most 10,000 items. Each is handed over as the parameter item, its place from 1 as number.',
    },
  },
  out: {
    values: {
      type: 'array',
      help: 'What the function returned for each item. Null where it returned nothing.',
    },
    count: { type: 'number', help: 'How many items there were.' },
  },
  settings: { parameters: { kind: 'names', help: 'More parameters, the same for all: each becomes a pin.' } },
  moreIn: ({ parameters }) => pinsNamed(parameters, (name) => `The parameter ${name}.`),
  async run({ function: given, array = [] }, context) {
    if (array.length > MOST_ITEMS) throw new PinError('array', 'must hold at most 10,000 items')
    const name = functionName('function', given)
    const same = Object.fromEntries(context.settings.parameters.map((id) => [id, namedValue(context, id)]))
    const values: JsonValue[] = []
    for (const item of array) {
      context.signal.throwIfAborted()
      const value = context.call(name, { ...same, item, number: values.length + 1 })
      values.push((await value) ?? null)
    }
    return { values, count: values.length }
  },
})
