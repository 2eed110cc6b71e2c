/** A page of a search together with how many documents match on all pages, of one moment where the engine can. */
import { andThen, type MaybePromise } from '../shared/maybe-promise.ts'
import type { Search } from '../shared/query.ts'
import type { Found, FoundWithTotal, Session, SessionShortcuts } from './database.ts'

export function findWithTotal(
  session: Pick<Session, 'find' | 'count'> & Pick<SessionShortcuts, 'findWithTotal'>,
  storage: string,
  search: Search,
): MaybePromise<FoundWithTotal> {
  return session.findWithTotal
    ? session.findWithTotal(storage, search)
    : findThenCount(session, storage, search)
}

/** In two reads: one moment only where nothing can be committed between them. */
function findThenCount(
  session: Pick<Session, 'find' | 'count'>,
  storage: string,
  search: Search,
): MaybePromise<FoundWithTotal> {
  return andThen(session.find(storage, search), (found) => {
    const known = totalKnownFrom(found, search)
    const total = known ?? session.count(storage, search.query, search.includeRemoved)
    return andThen(total, (counted) => ({ found, total: counted }))
  })
}

/** The last page tells the total by itself; counting may cost as much as the search. */
export function totalKnownFrom(
  { length }: Pick<Found, 'length'>,
  { limit, offset, after }: Search,
): number | undefined {
  // How many came before a cursor is not known.
  if (after !== undefined) return undefined
  const isLastPage = length < limit && (length > 0 || offset === 0)
  return isLastPage ? offset + length : undefined
}
