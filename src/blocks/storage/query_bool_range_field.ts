import { defineValue } from '../block.ts'
import { queryField } from '../names.ts'
import { rangeQuery } from '../range-query.ts'

export default defineValue({
  identifier: 'query_bool_range_field',
  title: 'Field is between',
  words: '{field}[ ≥ {gte}][ > {gt}][ ≤ {lte}][ < {lt}]',
  summary:
    'Finds the documents whose field is a number or date between bounds. Dates may be stored as text (2026-01-31) or as Unix seconds, as in _meta.created.',
  in: {
    field: { type: 'value', required: true, help: 'Name of the field; use dots for nested fields.' },
    gte: {
      type: 'any',
      help: 'Minimum, included: a number, a date (2026-01-31, midnight UTC), or date maths: now-7d/d is the start of the day seven days ago.',
    },
    gt: {
      type: 'any',
      help: 'Minimum, excluded. A day, and date maths with /d at its end, means the end of that day.',
    },
    lte: {
      type: 'any',
      help: 'Maximum, included. A day, and date maths with /d at its end, means the end of that day: now/d includes today.',
    },
    lt: { type: 'any', help: 'Maximum, excluded: with gte 2026-01-01, lt 2026-02-01 is all of January.' },
  },
  out: { query: { type: 'query', help: 'The filter; empty if all bounds are empty.' } },
  settings: {},
  readsRun: true,
  readsClock: true,
  value({ field, ...bounds }, context) {
    return { query: rangeQuery(queryField(field), bounds, context.now()) }
  },
})
