import type { JsonValue } from '../../shared/json.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'condition_not_empty_value',
  title: 'Is filled',
  words: '{value} is filled',
  summary: 'Checks whether a value is not empty.',
  in: {
    // Raw, so that a list of documents is not parsed only to see that it has some.
    value: { type: 'any', raw: true, help: 'The value to check.' },
  },
  out: {
    condition: {
      type: 'condition',
      help: 'False for a missing value, null, text without a visible character, an empty list and an empty object. True for all other values, including 0 and false.',
    },
  },
  settings: {},
  value: ({ value }) => ({ condition: isFilled(value) }),
})

function isFilled(value: JsonValue | StoredJson | undefined): boolean {
  if (value === undefined || value === null) return false
  if (typeof value === 'string') return value.trim() !== ''
  if (typeof value !== 'object') return true
  // No filled list or object is so short that it could be one of the empty ones.
  if (value instanceof StoredJson) return value.text.length > 8 || isFilled(value.value)
  return Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0
}
