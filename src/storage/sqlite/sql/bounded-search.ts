/**
 * Searches in one turn of the event loop, with a bound on what they look at. What needs more throws EffortSpent, and goes to
 * the thread of `search-thread.ts`.
 *
 * What a statement does inside SQLite's own index of free text cannot be counted. It is little where there are few
 * documents; of many, a search by text is answered here when its words are in memory. Only a transaction that has written to
 * the storage has nowhere else to go: there it is estimated.
 */
import type { Query, Search } from '../../../shared/query.ts'
import type { Found } from '../../database.ts'
import { checkQuery, checkSearch } from '../../search/check-search.ts'
import { textQuery } from '../../search/match-text.ts'
import { isRelevanceOrder } from '../../search/rank-text.ts'
import { EffortSpent } from '../../search/search-effort.ts'
import { leavesOf, textsOf } from '../../search/text-limits.ts'
import { numberOf, type SqliteConnection } from '../core/sqlite-connection.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { rankedFind } from '../text/ranked-find.ts'
import type { TextTotal } from '../text/text-totals.ts'
import { countDocuments, findDocuments, pageOf } from './sqlite-find.ts'
import { compileCountUpTo } from './sqlite-query.ts'

/** Looking for a text in the index of all of them takes some 10 ms. */
const FEW_DOCUMENTS = 2_000
/** A page of a million characters takes 5 to 10 ms to read and to copy. Longer ones are read in the thread. */
const LONGEST_PAGE = 1_000_000
/** Effort that the index takes for each document: for a word, and for words that are only begun or misspelled. */
const LOOK_UP = 1
const EXPAND = 10

export interface SearchPlace {
  readonly connection: SqliteConnection
  readonly entry: StorageEntry
  /** What a search may look at, in units of search-effort.ts. */
  readonly effort: number
  /** Whether no other session sees what is searched. */
  readonly alone: boolean
  /** What the connection's own transaction has changed of the totals of free text. */
  readonly unsaved?: TextTotal | undefined
}

/** `settled`: nothing that the connection sees may be undone. Throws EffortSpent. */
export function boundedFind(place: SearchPlace, search: Search, settled: boolean): Found {
  checkSearch(search)
  const { connection, entry } = place
  return connection.within(place.effort, () => {
    if (isLongPage(place, search)) throw new EffortSpent()
    const found = searchHere(place, search, settled)
    noteLength(entry, found)
    return found
  })
}

/** Whether it would be long if its documents are as long as others of the storage. One of few documents is not, whatever its limit is. */
function isLongPage({ connection, entry, alone }: SearchPlace, search: Search): boolean {
  const { charactersEach = 0 } = entry
  if (alone || search.limit * charactersEach <= LONGEST_PAGE) return false
  if (isRelevanceOrder(search)) return true
  const most = search.offset + Math.ceil(LONGEST_PAGE / charactersEach)
  const { sql, parameters } = compileCountUpTo(entry, search, most)
  return numberOf(connection.get(sql, ...parameters) ?? {}, 'n') >= most
}

/** So the first long page of a storage is read in a turn, and the others are not. */
export function noteLength(entry: StorageEntry, { documents, length }: Found): void {
  const each = documents.text.length / Math.max(1, length)
  if (each > (entry.charactersEach ?? 0)) entry.charactersEach = each
}

function searchHere(place: SearchPlace, search: Search, settled: boolean): Found {
  const { connection, entry } = place
  const ranked = rankedFind(connection, entry, search, settled)
  if (ranked) return pageOf(ranked, search)
  checkIndexed(place, search.query)
  return findDocuments(connection, entry, search, place.unsaved)
}

/** Without what is in memory. Throws EffortSpent. */
export function boundedCount(place: SearchPlace, query: Query, includeRemoved: boolean): number {
  checkQuery(query)
  const { connection, entry } = place
  return connection.within(place.effort, () => {
    checkIndexed(place, query)
    return countDocuments(connection, entry, query, includeRemoved)
  })
}

/** Throws EffortSpent where free text is not cheap to look for. */
export function checkIndexed({ connection, entry, alone }: SearchPlace, query: Query): void {
  const texts = textsOf(query)
  if (texts.length === 0) return
  const row = connection.get(`SELECT ifnull(max(id), 0) AS last FROM ${entry.table}`)
  const documents = numberOf(row ?? {}, 'last')
  if (documents <= FEW_DOCUMENTS) return
  if (!alone) throw new EffortSpent()
  for (const leaf of texts.flatMap((text) => leavesOf(textQuery(text))))
    connection.effort?.spend(documents * (leaf.kind === 'fuzzy' || leaf.prefix ? EXPAND : LOOK_UP))
}
