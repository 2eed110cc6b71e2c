/** Queries with what a user may see added to them, before any key of a cache is made: what is found, counted and kept is of that query. */
import { QuoinError } from '../../shared/errors.ts'
import { matchAll, type Query, type Search } from '../../shared/query.ts'
import type { Aggregate } from '../../storage/aggregate/aggregate.ts'
import { checkVisible, type StorageView } from './storage-view.ts'

/** The view of a storage; undefined where it has no rules. */
export type ViewOf = (storage: string) => StorageView | undefined

/** Pages from which hidden fields are taken out are read and written as a whole in one turn of the event loop. */
const MOST_STRIPPED = 1_000

/** Throws INVALID_QUERY that names a hidden field. */
export function permittedSearch(storage: string, search: Search, viewOf: ViewOf): Search {
  const view = viewOf(storage)
  for (const { field } of search.sort) if (view) checkVisible(view, field)
  if (view && view.hidden.length > 0 && search.limit > MOST_STRIPPED)
    throw new QuoinError(
      'INVALID_QUERY',
      `limit must be at most ${MOST_STRIPPED.toLocaleString('en-US')} where fields of the storage ${storage} are hidden from you.`,
    )
  return { ...search, query: permittedQuery(storage, search.query, viewOf) }
}

export function permittedAggregate(storage: string, requested: Aggregate, viewOf: ViewOf): Aggregate {
  const view = viewOf(storage)
  for (const { field } of [...requested.groups, ...requested.values])
    if (view && field !== undefined) checkVisible(view, field)
  return { ...requested, query: permittedQuery(storage, requested.query, viewOf) }
}

export function permittedQuery(storage: string, query: Query, viewOf: ViewOf): Query {
  const view = viewOf(storage)
  return narrowed(asked(query, view, viewOf), view?.see)
}

/** As a builder would write it: one list of conditions that all hold. */
function narrowed(query: Query, see: Query | undefined): Query {
  if (see === undefined) return query
  const queries = [query, see].flatMap((one) => (one.kind === 'and' ? one.queries : [one]))
  const [first = matchAll, ...more] = queries.filter(({ kind }) => kind !== 'all')
  return more.length === 0 ? first : { kind: 'and', queries: [first, ...more] }
}

function asked(query: Query, view: StorageView | undefined, viewOf: ViewOf): Query {
  switch (query.kind) {
    case 'all':
      return query
    case 'and':
    case 'or':
      return { kind: query.kind, queries: query.queries.map((one) => asked(one, view, viewOf)) }
    case 'not':
    case 'filter':
      return { kind: query.kind, query: asked(query.query, view, viewOf) }
    case 'through':
      check(view, [query.field])
      return { ...query, query: permittedQuery(query.storage, query.query, viewOf) }
    case 'fields':
      check(view, [query.field, query.other])
      return query
    case 'simple_query_string':
      check(view, query.fields)
      // All text of the document would be that of hidden fields too.
      if (view === undefined || view.hidden.length === 0 || query.fields.length > 0) return query
      return view.texts.length === 0 ? { kind: 'or', queries: [] } : { ...query, fields: view.texts }
    default:
      check(view, [query.field])
      return query
  }
}

function check(view: StorageView | undefined, fields: readonly string[]): void {
  if (view) for (const field of fields) checkVisible(view, field)
}
