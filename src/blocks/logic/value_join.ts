import type { JsonValue } from '../../shared/json.ts'
import { defineValue, PinError } from '../block.ts'

const MOST_CHARACTERS = 1_000_000

export default defineValue({
  identifier: 'value_join',
  title: 'Join texts',
  summary: 'Joins texts in order, with an optional separator. Empty texts are omitted.',
  in: {
    values: {
      type: 'any',
      several: true,
      help: 'Texts, numbers and conditions, or lists of them, in the order of the wires.',
    },
    separator: { type: 'value', help: 'Separator between two texts, such as ", ". Empty: none.' },
    before: { type: 'value', help: 'Prefix, unless there is nothing to join.' },
    after: { type: 'value', help: 'Suffix, unless there is nothing to join.' },
  },
  out: { value: { type: 'value', help: 'The joined text. Empty if all values are empty.' } },
  settings: {},
  value({ values, separator = '', before = '', after = '' }) {
    const texts: string[] = []
    let length = 0
    for (const text of textsIn(values)) {
      if (text === '') continue
      // Before it is joined: what is shared may be far longer than any text can be.
      length += text.length + separator.length
      if (length > MOST_CHARACTERS + separator.length)
        throw new PinError('values', 'are longer than a million characters')
      texts.push(text)
    }
    return { value: texts.length === 0 ? '' : before + texts.join(separator) + after }
  },
})

function* textsIn(value: JsonValue): Generator<string, void> {
  if (Array.isArray(value)) for (const item of value) yield* textsIn(item)
  else if (value !== null && typeof value === 'object')
    throw new PinError('values', 'must be texts, numbers, conditions or lists of these, not objects')
  else if (value !== null) yield String(value)
}
