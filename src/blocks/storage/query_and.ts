import { defineValue } from '../block.ts'
import { allOf } from './document-queries.ts'

export default defineValue({
  identifier: 'query_and',
  title: 'All of these queries',
  summary: 'Finds the documents that match all queries.',
  in: {
    queries: {
      type: 'query',
      several: true,
      help: 'Queries that must all match. Empty queries (optional filters without a value) are skipped.',
    },
  },
  out: { query: { type: 'query', help: 'The combined query; empty if all queries are empty.' } },
  settings: {},
  value({ queries }) {
    return { query: allOf(queries) }
  },
})
