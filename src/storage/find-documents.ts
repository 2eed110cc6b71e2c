import { type Pause, runCooperatively } from '../shared/cooperative.ts'
import type { JsonObject } from '../shared/json.ts'
import { andThen, type MaybePromise } from '../shared/maybe-promise.ts'
import { type Query, type Search, type SortKey, search } from '../shared/query.ts'
import type { RecordPage } from '../shared/record-page.ts'
import type { Found, FoundWithTotal, Session, SessionShortcuts } from './database.ts'
import { objectsIn } from './document-fields.ts'

/** The documents of a page, parsed. */
export function documentsOf(found: Found): JsonObject[] {
  return objectsIn(found.documents.value)
}

/** The present document whose field has this value; the field has a unique index. */
export async function findOne(
  session: Session,
  storage: string,
  field: string,
  value: string,
): Promise<JsonObject | undefined> {
  const [document] = await findAll(session, storage, { kind: 'term', field, value }, 1)
  return document
}

/** The present documents that match, up to `limit` of them. */
export async function findAll(
  session: Session,
  storage: string,
  query: Query,
  limit: number,
  sort: readonly SortKey[] = [],
): Promise<JsonObject[]> {
  return documentsOf(await session.find(storage, search({ query, limit, sort })))
}

/** The same in several turns of the event loop; all of them are of one moment. */
export async function findCooperatively(
  session: Session,
  storage: string,
  requested: { readonly query: Query; readonly limit: number; readonly sort: readonly SortKey[] },
  pause?: Pause,
): Promise<JsonObject[]> {
  const { documents } = await session.find(storage, search(requested))
  return objectsIn(await runCooperatively(documents.inSteps(), pause))
}

/** The page and its total, both of one moment. Errors as for `Session.find`. */
export async function findPage(session: Session, storage: string, search: Search): Promise<RecordPage> {
  const { found, total } = await findWithTotal(session, storage, search)
  return { records: documentsOf(found), total, next: found.next() }
}

// A page of a search together with how many documents match on all pages, of one moment where the engine can.

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
