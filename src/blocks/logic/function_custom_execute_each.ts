import type { JsonValue } from '../../shared/json.ts'
import { defineFlow, PinError } from '../block.ts'
import { functionName } from '../names.ts'
import { namedValue, pinsNamed } from '../pins/named-values.ts'

const MOST_ITEMS = 10_000

export default defineFlow({
  identifier: 'function_custom_execute_each',
  title: 'Call a custom function for each',
  words: 'Call {function} for each[ of {array}]',
  summary:
    'Runs a custom function once for each item of a list, one after the other, and waits. If one call fails, the writes of all calls are undone, and the error names the element, from 0 ("element 7: …").',
  effects: { setsVariables: true },
  in: {
    function: { type: 'function', required: true, help: 'The name of the function.' },
    array: {
      type: 'array',
      help: 'The list, of at most 10,000 items. Each call gets the item as parameter item and its position from 1 as number.',
    },
  },
  out: {
    values: {
      type: 'array',
      help: 'The result for each item. Null where the function returned none.',
    },
    count: { type: 'number', help: 'Number of items.' },
  },
  settings: {
    parameters: { kind: 'names', help: 'Further parameters, the same for each call: each becomes a pin.' },
  },
  moreIn: ({ parameters }) => pinsNamed(parameters, (name) => `The parameter ${name}.`),
  async run({ function: input, array = [] }, context) {
    if (array.length > MOST_ITEMS) throw new PinError('array', 'must hold at most 10,000 items')
    const name = functionName('function', input)
    const same = Object.fromEntries(context.settings.parameters.map((id) => [id, namedValue(context, id)]))
    const values: JsonValue[] = []
    for (const item of array) {
      context.signal.throwIfAborted()
      const element = { index: values.length, pin: 'array' }
      try {
        const value = context.call(name, { ...same, item, number: values.length + 1 }, element)
        values.push((await value) ?? null)
      } catch (error) {
        // The flow at error may continue and commit: what the calls before have written must not be committed with it.
        await context.session.transaction.rollback()
        throw error
      }
    }
    return { values, count: values.length }
  },
})
