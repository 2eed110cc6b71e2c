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

export const and = (...queries: Query[]): Query => ({ kind: 'and', queries })
