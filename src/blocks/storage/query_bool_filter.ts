import { defineValue } from '../block.ts'
import { allOf } from './combine-queries.ts'

export default defineValue({
  identifier: 'query_bool_filter',
  title: 'Filter',
  summary:
    'Finds the documents for which every one of the queries holds, without an effect on which come first.',
  in: {
    queries: {
      type: 'query',
      several: true,
      help: 'Queries that must all hold. An empty one (an optional filter that was not given) is skipped.',
    },
  },
  out: { query: { type: 'query', help: 'All of them together; empty when all of them are empty.' } },
  settings: {},
  value({ queries }) {
    const query = allOf(queries)
    return { query: query && { kind: 'filter', query } }
  },
})
