import { setImmediate as nextTurn } from 'node:timers/promises'
import { QuoinError } from '../../shared/errors.ts'
import { search } from '../../shared/query.ts'
import type { Database, Found, Session } from '../../storage/database.ts'
import { documentsOf } from '../../storage/find-documents.ts'

/** Bytes that a page should have: what is in memory at a time is a few of them. */
const PAGE_BYTES = 1024 * 1024
const MOST = 500

/**
 * All present documents of a storage as NDJSON, one a line, the oldest first, in pieces of some lines. Each page is a
 * search of its own behind the last document of the page before: no transaction is held open while a slow client reads.
 * So every document that is there from beginning to end comes exactly once; one that is written meanwhile comes as it was
 * before or after, and a new one may come.
 */
export async function* exportDocuments(database: Database, name: string): AsyncGenerator<string, void> {
  const session = database.session()
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  // Documents may be of 16 MiB each: the first page is small, and the next ones as large as the last one allows.
  let limit = 4
  let after: string | undefined
  do {
    const found: Found = await pageOf(session, name, { sort, limit, ...(after !== undefined && { after }) })
    const lines = documentsOf(found).map((document) => `${JSON.stringify(document)}\n`)
    if (lines.length > 0) yield lines.join('')
    // SQLite answers at once, and so does a fast client: others must have their turn in between.
    await nextTurn()
    // A page that had to be made smaller is full by its own limit, and says itself where it ended.
    after = found.next()
    const fitting = Math.floor((limit * PAGE_BYTES) / Math.max(found.documents.text.length, 1))
    limit = Math.max(1, Math.min(MOST, limit * 2, fitting))
  } while (after !== undefined)
}

async function pageOf(
  session: Session,
  name: string,
  { limit, ...page }: Parameters<typeof search>[0] & { readonly limit: number },
): Promise<Found> {
  try {
    return await session.find(name, search({ ...page, limit }))
  } catch (error) {
    // Large documents behind many small ones can be more than the engine joins to one text.
    const tooLarge = error instanceof QuoinError && error.code === 'INVALID_QUERY'
    if (!tooLarge || limit === 1) throw error
    return session.find(name, search({ ...page, limit: 1 }))
  }
}
