import { expect, test } from 'vitest'
import { rulesInWords } from './rules-in-words.ts'

type Rules = Parameters<typeof rulesInWords>[0]
const none = { unique: false, reference: null, computed: null } as const

test.each<[Partial<Rules>, string]>([
  [{}, ''],
  [{ validation_rules: {} }, ''],
  [
    { type: 'decimal', validation_rules: { min: 0, max: 100, places: 2 } },
    'from 0 to 100 · 2 decimal places',
  ],
  [{ type: 'decimal', validation_rules: { currency: 'EUR' } }, 'in EUR'],
  [{ type: 'number', validation_rules: { min: 0 } }, 'at least 0'],
  [{ type: 'number', validation_rules: { max: 0, places: 1 } }, 'at most 0 · 1 decimal place'],
  [{ validation_rules: { max_length: 1 } }, 'at most 1 character'],
  [{ validation_rules: { min_length: 2, max_length: 80 } }, 'from 2 to 80 characters'],
  [{ type: 'list', validation_rules: { items: 'string', max_length: 5 } }, 'at most 5 items · each is Text'],
  [{ type: 'choice', validation_rules: { choices: ['open', 'done'] } }, 'one of open, done'],
  [{ type: 'choice', validation_rules: { choices: [1, 2, 3, 4, 5, 6, 7] } }, 'one of 7 choices'],
  [{ validation_rules: { pattern: '^[A-Z]' } }, 'matches ^[A-Z]'],
  [{ unique: true }, 'unique'],
  [{ unique: 'order' }, 'unique'],
  [{ reference: { storage: 'customers', on_delete: 'clear' } }, 'a document of customers'],
  [{ computed: 'doc.a + 1' }, 'computed'],
])('%j: %s', (input, words) => {
  expect(rulesInWords({ type: 'string', validation_rules: {}, ...none, ...input })).toBe(words)
})
