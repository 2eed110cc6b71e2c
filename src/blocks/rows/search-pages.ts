/** The documents of a search of any size, read in pages so that few are in memory. */
import type { JsonValue } from '../../shared/json.ts'
import { matchAll, type Query, type Search, type SortKey } from '../../shared/query.ts'
import type { Session } from '../../storage/database.ts'
import { objectsIn } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { expandDocuments } from '../../storage/reference/expand-documents.ts'
import type { Reference } from '../../storage/reference/references.ts'
import { isRelevanceOrder } from '../../storage/search/rank-text.ts'

const SMALLEST = 10
const LARGEST = 500
/** Characters of a page that are aimed at: parsing them takes about 5 ms. */
const PAGE = 512 * 1024

const newestFirst: readonly SortKey[] = [{ field: '_meta.cms', order: 'desc', missing: 'last' }]

export interface Searched {
  readonly session: Pick<Session, 'find'>
  readonly storage: string
  readonly query: Query | undefined
  readonly sort: readonly SortKey[]
  /** The documents that these fields refer to are given too, under `_expand`; what the session may not read is null. */
  readonly expand?: readonly Reference[]
}

/** Pages of a search to its end, the next one read when the one before is done with. */
export async function* pagesOf(searched: Searched): AsyncGenerator<readonly JsonValue[]> {
  const { session, storage, query = matchAll, expand = [] } = searched
  const asked: Search = { query, sort: searched.sort, limit: SMALLEST, offset: 0, includeRemoved: false }
  // By best matches there is no place to continue from.
  let search: Search = isRelevanceOrder(asked) ? { ...asked, sort: newestFirst } : asked
  while (true) {
    const found = await session.find(storage, search)
    const after = found.next()
    yield expand.length === 0
      ? documentsOf(found)
      : objectsIn((await expandDocuments(session, found.documents, expand)).value)
    if (after === undefined) return
    const each = found.documents.text.length / Math.max(1, found.length)
    const limit = Math.round(Math.min(LARGEST, Math.max(SMALLEST, PAGE / each)))
    search = { ...search, after, limit }
  }
}
