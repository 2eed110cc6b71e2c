/**
 * Searches in one turn of the event loop, with a bound on what they look at. What needs more throws EffortSpent, and goes to
 * the thread of `search-thread.ts`.
 *
 * What a statement does inside SQLite's own index of free text cannot be counted. It is little where there are few
 * documents; of many, a search by text is answered here when its words are in memory. Only a transaction that has written to
 * the storage has nowhere else to go: there it is estimated.
 */
import { QuoinError } from '../../../shared/errors.ts'
import { type Query, type Search, search } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import { checkAggregate } from '../../aggregate/check-aggregate.ts'
import type { Aggregated } from '../../aggregate/finish-aggregate.ts'
import type { Found } from '../../database.ts'
import { checkQuery, checkSearch, leavesOf, textsOf } from '../../search/check-search.ts'
import { adviseIndex, type SearchedStorage } from '../../search/index-advice.ts'
import { textQuery } from '../../search/match-text.ts'
import { isRelevanceOrder } from '../../search/rank-text.ts'
import type { SearchAdvisor } from '../../search/search-advisor.ts'
import { EffortSpent } from '../../search/search-effort.ts'
import { StoredJson } from '../../stored-json.ts'
import type { CountRequest } from '../cache/cached-counts.ts'
import { ARRAY, OBJECT } from '../core/document-shape.ts'
import type { SessionParts } from '../core/session-parts.ts'
import { cachedAggregate } from '../core/sqlite-catalogue.ts'
import { numberOf, type SqliteConnection } from '../core/sqlite-connection.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { rankedFind } from '../text/ranked-find.ts'
import type { TextTotal } from '../text/sqlite-text-index.ts'
import { fieldSql } from './field-sql.ts'
import type { SearchTarget } from './sql-values.ts'
import { aggregateDocuments } from './sqlite-aggregate.ts'
import { countDocuments, findDocuments, pageOf } from './sqlite-find.ts'
import { compileCount, compileCountUpTo, whereSql } from './sqlite-query.ts'

/** Looking for a text in the index of all of them takes some 10 ms. */
const FEW_DOCUMENTS = 2_000
/** A page of a million characters takes 5 to 10 ms to read and to copy. Longer ones are read in the thread. */
const LONGEST_PAGE = 1_000_000
/** Where it is not known how long documents are, reading ends here. */
const MOST_BYTES = 2 * LONGEST_PAGE
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
  /** Whether the search can go to the thread when it passes over many documents that no index narrows. */
  readonly countsRows: boolean
  /** What the connection's own transaction has changed of the totals of free text. */
  readonly unsaved?: TextTotal | undefined
}

/** `settled`: nothing that the connection sees may be undone. Throws EffortSpent. */
export function boundedFind(place: SearchPlace, search: Search, settled: boolean): Found {
  checkSearch(search)
  const { connection, entry } = place
  return connection.within(place.effort, () => {
    if (isLongPage(place, search)) throw new EffortSpent()
    const look = () => searchHere(place, search, settled)
    const found = place.alone ? look() : connection.shorterThan(MOST_BYTES, look)
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

/** So that of long pages only the first is begun in a turn. */
function noteLength(entry: StorageEntry, { documents, length }: Found): void {
  const each = documents.text.length / Math.max(1, length)
  if (each > (entry.charactersEach ?? 0)) entry.charactersEach = each
}

function searchHere(place: SearchPlace, search: Search, settled: boolean): Found {
  const { connection, entry } = place
  const ranked = rankedFind(connection, entry, search, settled)
  if (ranked) return pageOf(ranked, search)
  checkIndexed(place, search.query)
  return findDocuments(connection, targetOf(place, search, false), search, place.unsaved)
}

/** Counts the documents that the statement passes over where no index serves it: those of a million take a second. */
function targetOf({ entry, countsRows }: SearchPlace, requested: Search, counts: boolean): SearchTarget {
  const isServed = !countsRows || adviseIndex(requested, searchedStorage(entry), counts) === undefined
  return isServed ? entry : { ...entry, countsRows }
}

/** Without what is in memory. Throws EffortSpent. */
export function boundedCount(place: SearchPlace, query: Query, includeRemoved: boolean): number {
  checkQuery(query)
  const { connection } = place
  return connection.within(place.effort, () => {
    checkIndexed(place, query)
    const target = targetOf(place, search({ query, includeRemoved }), true)
    return countDocuments(connection, target, query, includeRemoved)
  })
}

/** Throws EffortSpent where free text is not cheap to look for. */
function checkIndexed({ connection, entry, alone }: SearchPlace, query: Query): void {
  const texts = textsOf(query)
  if (texts.length === 0) return
  const row = connection.get(`SELECT ifnull(max(id), 0) AS last FROM ${entry.table}`)
  const documents = numberOf(row ?? {}, 'last')
  if (documents <= FEW_DOCUMENTS) return
  if (!alone) throw new EffortSpent()
  for (const leaf of texts.flatMap((text) => leavesOf(textQuery(text))))
    connection.effort?.spend(documents * (leaf.kind === 'fuzzy' || leaf.prefix ? EXPAND : LOOK_UP))
}

// Searches that the search thread carries out. What they find is kept while nothing was written to the storage in between:
// then it is what is committed.

type Parts = Pick<SessionParts, 'advisor' | 'catalogue' | 'reader' | 'results' | 'thread'>

export interface Aside {
  /** Whether the session sees what is committed and nothing else. */
  readonly keep: boolean
  readonly effort: number
}

/** `total`: whether to count as well, in the same transaction. */
export async function findAside(
  parts: Parts,
  entry: StorageEntry,
  { search, total }: { readonly search: Search; readonly total: boolean },
  { keep, effort }: Aside,
): Promise<{ readonly found: Found; readonly total: number | undefined }> {
  const { catalogue, results, thread } = parts
  const { name } = entry
  const version = catalogue.version(name)
  const answer = await thread.find({ storage: name, search, total, effort })
  const found = pageOf({ documents: answer.documents, length: answer.length }, search)
  noteLength(entry, found)
  const requested = { search, key: JSON.stringify(search) }
  if (keep && isCurrent(parts, entry, version)) {
    results.found(name, version, requested, () => found)
    if (answer.total !== undefined) entry.counts?.keep(search, answer.total)
  }
  after(parts, entry, 'find', search, answer.milliseconds)
  return { found, total: answer.total }
}

export async function countAside(
  parts: Parts,
  entry: StorageEntry,
  requested: CountRequest,
  { keep, effort }: Aside,
): Promise<number> {
  const { catalogue, thread } = parts
  const version = catalogue.version(entry.name)
  const { total, milliseconds } = await thread.count({ storage: entry.name, ...requested, effort })
  if (keep && isCurrent(parts, entry, version)) entry.counts?.keep(requested, total)
  after(parts, entry, 'count', requested, milliseconds)
  return total
}

/** Searches that come may then find the words in memory. Without them they are slower, not wrong. */
export function readMissing({ thread }: Pick<Parts, 'thread'>, { postings }: StorageEntry): void {
  postings?.readMissing(thread).catch(() => undefined)
}

/** The thread may have seen a commit that this process was just making: then the version differs. */
function isCurrent({ catalogue }: Parts, entry: StorageEntry, version: number): boolean {
  const { name, touched } = entry
  return catalogue.find(name) === entry && catalogue.version(name) === version && touched?.version === version
}

function after(
  { advisor, reader, thread }: Parts,
  entry: StorageEntry,
  kind: 'find' | 'count',
  requested: Parameters<typeof noteSearch>[2],
  milliseconds: number,
): void {
  readMissing({ thread }, entry)
  noteSearch({ connection: reader, entry, advisor }, kind, requested, performance.now() - milliseconds)
}

// Aggregates in one turn of the event loop where there are few documents, else in the search thread. A transaction that has
// written to the storage has nowhere else to go: it may aggregate so many documents as take some 30 ms.

/** Documents of a storage that are aggregated in this turn: at 2 to 4 µs each. */
const FEW_AGGREGATED = 3_000
/** Documents that match, for a transaction that has written to the storage. */
const MOST_FOR_A_WRITER = 10_000

/** Throws EffortSpent. */
export function boundedAggregate(place: SearchPlace, requested: Aggregate): Aggregated {
  checkAggregate(requested)
  const { connection, entry, alone, effort } = place
  return connection.within(effort, () => {
    checkIndexed(place, requested.query)
    const last = connection.get(`SELECT ifnull(max(id), 0) AS last FROM ${entry.table}`)
    if (numberOf(last ?? {}, 'last') > FEW_AGGREGATED) {
      if (!alone) throw new EffortSpent()
      checkFew(connection, entry, requested)
    }
    return aggregateDocuments(connection, entry, requested)
  })
}

/** What the thread found is kept while nothing was written to the storage in between. */
export async function aggregateAside(
  parts: Parts,
  entry: StorageEntry,
  requested: Aggregate,
  { keep, effort }: Aside,
): Promise<Aggregated> {
  const { catalogue, results, thread } = parts
  const { name } = entry
  const version = catalogue.version(name)
  const answer = await thread.aggregate({ storage: name, aggregate: requested, effort })
  const aggregated = { rows: new StoredJson(answer.rows), total: answer.total }
  if (keep && isCurrent(parts, entry, version))
    cachedAggregate(results, name, version, requested, () => aggregated)
  after(parts, entry, 'count', { query: requested.query, includeRemoved: false }, answer.milliseconds)
  return aggregated
}

function checkFew(connection: SqliteConnection, entry: StorageEntry, { query }: Aggregate): void {
  const { sql, parameters } = whereSql(entry, query, false)
  const most = MOST_FOR_A_WRITER + 1
  const row = connection.get(
    `SELECT count(*) AS n FROM (SELECT 1 FROM ${entry.table} WHERE ${sql} LIMIT ${most})`,
    ...parameters,
  )
  if (numberOf(row ?? {}, 'n') < most) return
  throw new QuoinError(
    'UNAVAILABLE',
    `This aggregate would read more than ${MOST_FOR_A_WRITER} documents in a run that has written to ${entry.name} and not committed. Aggregate before the first write, or narrow the condition.`,
  )
}

interface Searched {
  readonly connection: SqliteConnection
  readonly entry: StorageEntry
  readonly advisor: SearchAdvisor
}

/** `started`: by performance.now(). A count is a search of which only the query counts. */
export function noteSearch(
  { connection, entry, advisor }: Searched,
  kind: 'find' | 'count',
  requested: Pick<Search, 'query' | 'includeRemoved'> & Partial<Search>,
  started: number,
): void {
  const milliseconds = performance.now() - started
  if (milliseconds < advisor.limits.milliseconds) return
  const finished = { storage: entry.table, kind, search: search(requested), milliseconds }
  const look = advisor.look(finished, searchedStorage(entry))
  if (look === undefined) return
  look.keep(look.worse ? countRows(connection, entry, look.advice) : 0)
}

/** Tells the advisor of searches that took long. */
export function searchedStorage(entry: StorageEntry): SearchedStorage {
  return {
    indexes: [...entry.indexes.values()],
    text: entry.textTable !== undefined,
    holdsLists: (field) => (fieldSql(entry.shape, field).types & (ARRAY | OBJECT)) !== 0,
  }
}

function countRows(
  connection: SqliteConnection,
  entry: StorageEntry,
  { reads, readsRemoved }: { readonly reads: Search['query']; readonly readsRemoved: boolean },
): number {
  const { sql, parameters } = compileCount(entry, reads, readsRemoved)
  return numberOf(connection.get(sql, ...parameters) ?? {}, 'n')
}
