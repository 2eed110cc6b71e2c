import { defineValue, PinError } from '../block.ts'
import { anyOf } from '../combine-queries.ts'
import { matchesAny, scalarsOf } from '../exact-match.ts'
import { queryField } from '../query-field.ts'

export default defineValue({
  identifier: 'query_bool_must',
  title: 'At least one of these',
  summary: 'Finds the documents for which at least one term or query holds.',
  in: {
    field: { type: 'value', help: 'Field to compare with the terms; on a list, one item is enough.' },
    terms: {
      type: 'array',
      help: 'Values of which the field must be one. Text that spells a number, true or false also finds that. An empty list gives no filter.',
    },
    queries: {
      type: 'query',
      several: true,
      help: 'Queries of which one must hold. An empty one is skipped.',
    },
  },
  out: { query: { type: 'query', help: 'At least one of them; empty (no filter) when all are empty.' } },
  settings: {},
  value({ field, terms, queries }) {
    const values = scalarsOf('terms', terms)
    if (values.length === 0) return { query: anyOf(queries) }
    if (!field) throw new PinError('field', 'is empty, but there are terms to compare it with')
    return { query: anyOf([matchesAny(queryField(field), values), ...queries]) }
  },
})
