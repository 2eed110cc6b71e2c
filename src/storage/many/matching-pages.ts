/** The documents that match, a page of guids at a time, from the oldest on: what is written meanwhile does not move them. */
import type { JsonObject } from '../../shared/json.ts'
import { search } from '../../shared/query.ts'
import type { Session } from '../database.ts'
import { guidOf } from '../document-fields.ts'
import { documentsOf } from '../find-documents.ts'
import { isHaving, type ManyChange } from './many-change.ts'

/** The first page is small, because documents may be of 16 MiB each. */
const FIRST = 10
const MOST = 200
/** Characters of a page that are aimed at: parsing them takes about 5 ms. */
const PAGE = 512 * 1024

export interface MatchingPage {
  readonly guids: readonly string[]
  /** Documents that the page has looked at. */
  readonly seen: number
  /** Cursor of the next page; undefined behind the last one. */
  readonly after: string | undefined
  /** For the next page. */
  readonly limit: number
}

type Matching = Pick<ManyChange, 'storage' | 'query' | 'includeRemoved' | 'having'>

export async function matchingPage(
  session: Pick<Session, 'find'>,
  { storage, query, includeRemoved, having }: Matching,
  { after, limit = FIRST }: { readonly after?: string | undefined; readonly limit?: number } = {},
): Promise<MatchingPage> {
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  const wanted = search({ query, sort, limit, includeRemoved, ...(after !== undefined && { after }) })
  const found = await session.find(storage, wanted)
  const guids = documentsOf(found)
    .filter((document: JsonObject) => having === undefined || isHaving({ having }, document))
    .map((document: JsonObject) => guidOf(document))
  const size = Math.max(1, found.documents.text.length / Math.max(1, found.length))
  const next = found.next()
  return {
    guids,
    seen: found.length,
    after: next,
    limit: Math.max(1, Math.min(MOST, Math.floor(PAGE / size))),
  }
}
