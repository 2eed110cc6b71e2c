import { matchAll, type Query } from '../../shared/query.ts'
import type { InPin } from '../pin.ts'

export const whereIn = {
  type: 'query',
  language: 'where',
  help: 'Condition on each document, doc: doc.status == maybe(params.status) && doc.price >= 10. Both it and query must hold.',
} as const satisfies InPin

/** What the pins `query` and `where` ask for together. */
export function narrowed(query: Query | undefined, where: Query | undefined): Query {
  if (!query || !where) return query ?? where ?? matchAll
  return { kind: 'and', queries: [query, where] }
}
