import { isDeepStrictEqual } from 'node:util'
import type { JsonValue } from '../../shared/json.ts'
import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'condition_equals',
  title: 'Equals',
  words: '{value} is[ {other}]',
  summary: 'Checks whether two values are equal. The number 5 and the text 5 are not.',
  in: {
    value: { type: 'any', help: 'A value of any kind.' },
    other: { type: 'any', help: 'The value to compare with. Two empty values are equal.' },
    ignore_case: { type: 'condition', default: false, help: 'True: upper and lower case are equal.' },
  },
  out: { condition: { type: 'condition', help: 'True if both are equal.' } },
  settings: {},
  value: ({ value, other, ignore_case }) => ({
    condition: isDeepStrictEqual(plain(value, ignore_case), plain(other, ignore_case)),
  }),
})

/** Missing and null are both empty. */
function plain(value: JsonValue | undefined, ignoreCase: boolean): JsonValue {
  return typeof value === 'string' && ignoreCase ? value.toUpperCase().toLowerCase() : (value ?? null)
}
