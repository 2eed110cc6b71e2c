/** Short ways to write queries down. */
import type { Query, SortKey } from '../src/shared/query.ts'

export const by = (
  field: string,
  order: SortKey['order'] = 'asc',
  missing: SortKey['missing'] = 'last',
): SortKey => ({ field, order, missing })

export const text = (value: string, fields: string[] = []): Query => ({
  kind: 'simple_query_string',
  fields,
  text: value,
})

/** `leaf` under so many levels of `not`, or of `and` and `or` in turns. */
export function deep(kind: 'and' | 'not', levels: number, leaf: Query): Query {
  let query = leaf
  for (let level = 0; level < levels; level++)
    query = kind === 'not' ? { kind, query } : { kind: level % 2 ? 'or' : 'and', queries: [query, leaf] }
  return query
}

/** As many as one query may hold. */
export const wide = (kind: 'and' | 'or', leaf: (n: number) => Query): Query => ({
  kind,
  queries: Array.from({ length: 999 }, (_, n) => leaf(n)),
})

export const and = (...queries: Query[]): Query => ({ kind: 'and', queries })
