import type { JsonValue } from '../../shared/json.ts'
import { defineValue, PinError } from '../block.ts'

const MOST_CHARACTERS = 1_000_000

export default defineValue({
  identifier: 'value_join',
  title: 'Join texts',
  summary:
    'Puts texts one behind the other, with something between them where you want it. Empty ones are left out.',
  in: {
    values: {
      type: 'any',
      several: true,
      help: 'Texts, numbers and conditions, or lists of them, in the order of the wires.',
    },
    separator: { type: 'value', help: 'What stands between two of them, such as ", ". Empty: nothing.' },
    before: { type: 'value', help: 'Stands in front of all, unless there is nothing to join.' },
    after: { type: 'value', help: 'Stands behind all, unless there is nothing to join.' },
  },
  out: { value: { type: 'value', help: 'The whole text. Empty when all of the values are empty.' } },
  settings: {},
  value({ values, separator = '', before = '', after = '' }) {
    const texts = values.flatMap(textsOf).filter((text) => text !== '')
    const joined = texts.join(separator)
    if (joined.length > MOST_CHARACTERS) throw new PinError('values', 'are longer than a million characters')
    return { value: texts.length === 0 ? '' : before + joined + after }
  },
})

function textsOf(value: JsonValue): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf)
  if (value !== null && typeof value === 'object')
    throw new PinError('values', 'must be texts, numbers, conditions or lists of these, and no objects')
  return value === null ? [] : [String(value)]
}
