import type { Query } from '../../shared/query.ts'

/** What holds when all do; undefined (no filter) for none, and a single one as it is. */
export function allOf(queries: readonly Query[]): Query | undefined {
  return queries.length > 1 ? { kind: 'and', queries } : queries[0]
}

/** What holds when at least one does; undefined (no filter) for none, and a single one as it is. */
export function anyOf(queries: readonly Query[]): Query | undefined {
  return queries.length > 1 ? { kind: 'or', queries } : queries[0]
}
