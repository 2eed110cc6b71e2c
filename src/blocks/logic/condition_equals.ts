import { isDeepStrictEqual } from 'node:util'
import type { JsonValue } from '../../shared/json.ts'
import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'condition_equals',
  title: 'Equals',
  summary: 'Tells whether two values are the same. The number 5 and the text 5 are not.',
  in: {
    value: { type: 'any', help: 'A value of any kind.' },
    other: { type: 'any', help: 'What it is compared with. Two empty values are the same.' },
    ignore_case: { type: 'condition', default: false, help: 'True: capital and small letters are the same.' },
  },
  out: { condition: { type: 'condition', help: 'True when both are the same.' } },
  settings: {},
  value: ({ value, other, ignore_case }) => ({
    condition: isDeepStrictEqual(plain(value, ignore_case), plain(other, ignore_case)),
  }),
})

/** Missing and null are both empty. */
function plain(value: JsonValue | undefined, ignoreCase: boolean): JsonValue {
  return typeof value === 'string' && ignoreCase ? value.toUpperCase().toLowerCase() : (value ?? null)
}
