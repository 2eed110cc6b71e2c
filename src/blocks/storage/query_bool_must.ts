import type { Query } from '../../shared/query.ts'
import { defineValue, PinError } from '../block.ts'
import { queryField } from '../names.ts'
import { anyOf, matchesAny, scalarsOf } from './document-queries.ts'

const holdsForNone: Query = { kind: 'or', queries: [] }

export default defineValue({
  identifier: 'query_bool_must',
  title: 'At least one of these',
  summary: 'Finds the documents that match at least one term or query.',
  in: {
    field: { type: 'value', help: 'Field to compare with the terms; on a list, one item is enough.' },
    terms: {
      type: 'array',
      help: 'The field must equal one of these values. Text of a number, true or false also matches that value.',
    },
    queries: {
      type: 'query',
      several: true,
      help: 'Queries of which one must match. Empty queries are skipped.',
    },
    ignore_empty: {
      type: 'condition',
      default: false,
      help: 'Meaning of terms without a value. True: no filter, for optional request parameters. False: no match, so an empty list finds nothing.',
    },
  },
  out: { query: { type: 'query', help: 'The combined query; empty (no filter) if all are empty.' } },
  settings: {},
  value({ field, terms, queries, ignore_empty: ignoreEmpty }) {
    const values = scalarsOf('terms', terms)
    if (values.length === 0) {
      // A missing request parameter gives no list at all: with a field beside it a comparison was meant too.
      const isCompared = terms !== undefined || (field !== undefined && field !== '')
      return { query: anyOf(queries) ?? (isCompared && !ignoreEmpty ? holdsForNone : undefined) }
    }
    if (!field) throw new PinError('field', 'is empty, but there are terms to compare it with')
    return { query: anyOf([matchesAny(queryField(field), values), ...queries]) }
  },
})
