import { defineValue } from '../block.ts'
import { queryField } from '../query-field.ts'
import { rangeQuery } from './range-query.ts'

export default defineValue({
  identifier: 'query_bool_range_field',
  title: 'Field is between',
  summary:
    'Finds the documents whose field is a number or date between bounds. Dates may be stored as text (2026-01-31) or as Unix seconds, as in _meta.created.',
  in: {
    field: { type: 'value', required: true, help: 'Name of the field; a dot reaches into a nested object.' },
    gte: {
      type: 'any',
      help: 'From this on: a number, a date (2026-01-31, midnight UTC), or date maths: now-7d/d is the start of the day seven days ago.',
    },
    gt: { type: 'any', help: 'After this. With /d at its end, date maths means the end of that day.' },
    lte: {
      type: 'any',
      help: 'Up to and including this. With /d at its end, date maths means the end of that day: now/d includes today.',
    },
    lt: { type: 'any', help: 'Before this: with gte 2026-01-01, lt 2026-02-01 is all of January.' },
  },
  out: { query: { type: 'query', help: 'The filter; empty when all bounds are empty.' } },
  settings: {},
  readsRun: true,
  readsClock: true,
  value({ field, ...bounds }, context) {
    return { query: rangeQuery(queryField(field), bounds, context.now()) }
  },
})
