/**
 * Free text in the order of relevance, from words in memory of this node. PostgreSQL reads each document that has a word to rank it, some
 * 3 µs each: half a second for a word in 200,000 documents. Here that is a walk over arrays, and the page one statement by guid.
 *
 * The memory is of one moment of the database. The statement that reads the page says whether anything was written to the storage since;
 * if so, what was written is read and the hits are ranked again. So a search is of one moment, as any other.
 *
 * Where searches of a large storage take long, its documents are read in the background, and each word that such a search had. Until then, and for
 * all that words in memory do not lead to, PostgreSQL ranks.
 */
import { lruCache } from '../../../shared/lru-cache.ts'
import type { Search } from '../../../shared/query.ts'
import type { Found, FoundWithTotal } from '../../database.ts'
import { checkSearch } from '../../search/check-search.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import { otherStorages } from '../../search/other-storages.ts'
import { isRelevanceOrder, rankedClauses, rankedPhrases } from '../../search/rank-text.ts'
import { StoredJson } from '../../stored-json.ts'
import type { RequestChangeTracking } from '../cache/change-log.ts'
import type { StorageEntry } from '../core/postgres-catalogue.ts'
import type { PostgresPool } from '../core/postgres-connection.ts'
import { isTableGone } from '../core/postgres-errors.ts'
import { numberOf, type PostgresConnection, textOf } from '../core/rows.ts'
import { type Instant, instantOf, type LeaseClocks, millisecondsSince } from '../nodes/lease-clock.ts'
import { decidesFirst } from '../sql/decide-texts.ts'
import { numbers, oneRow, texts, value } from '../sql/field-sql.ts'
import { whereSql } from '../sql/postgres-query.ts'
import { UNDECIDED } from '../sql/search-plan.ts'
import { isUnchanged, type SearchTarget, type Snapshot } from '../sql/search-target.ts'
import { hasFrequent, TEXT_BOUNDS, type TextBounds } from '../sql/text-estimate.ts'
import { IncrementalTextIndex } from './incremental-text-index.ts'
import { type RankedHit, rankInMemory } from './rank-in-memory.ts'
import { documentsIn } from './read-texts.ts'

// Which searches words in memory may lead to.

/** Of a page and all before it. */
const MOST_HITS = 5_000

function isServed(target: SearchTarget, search: Search): boolean {
  return (
    target.textReady &&
    !search.includeRemoved &&
    search.after === undefined &&
    search.limit + search.offset <= MOST_HITS &&
    isRelevanceOrder(search) &&
    otherStorages(search.query).length === 0 &&
    // Of misspelled words PostgreSQL finds out what they may be.
    !decidesFirst(target, search.query)
  )
}

export interface FullTextCacheParts {
  readonly pool: Pick<PostgresPool, 'reading' | 'snapshot'>
  readonly clocks: LeaseClocks
  readonly requestTracking: RequestChangeTracking
  /** The notes were lost, and are to begin another epoch. */
  readonly startEpoch: () => Promise<void>
  readonly report: (error: unknown) => void
  /** A search that takes so many milliseconds is worth the memory. Tests have less. */
  readonly longMs?: number | undefined
  /** Documents that a storage has at least. Tests have fewer. */
  readonly fewest?: number | undefined
  readonly bounds?: TextBounds | undefined
}

/** Storages whose documents are in memory. */
const MOST_STORAGES = 4
const LONG_MS = 50
/** Of fewer documents PostgreSQL ranks most texts in under 10 ms, and a search that takes longer waits for something else. */
const FEWEST = 25_000
/** 160 MB. */
const MOST = 4_000_000
/** Of a storage that no search asks for as long. */
const UNUSED_MS = 900_000
/** Until what could not follow is read once more: a million documents cost PostgreSQL seconds. */
const PAUSE_MS = 300_000
/** Where not all hits have to be shown: filters may leave few of them. */
const AHEAD_AT_LEAST = 100
const MORE = 8

interface CachedStorage {
  readonly text: IncrementalTextIndex
  used: Instant
}

export class FullTextCache {
  readonly #parts: FullTextCacheParts
  /** By the number of the storage. What is read for one that makes room ends, too. */
  readonly #storages = lruCache<number, CachedStorage>(MOST_STORAGES, {
    evicted: ({ text }) => text.close(),
  })
  readonly #underWay = new Set<Promise<void>>()
  #isClosed = false

  constructor(parts: FullTextCacheParts) {
    this.#parts = parts
  }

  /** Of what is committed: from words in memory, or what `look` gives. Throws INVALID_QUERY. */
  async find(entry: StorageEntry, search: Search, look: () => Promise<Found>): Promise<Found> {
    if (!isServed(entry, search)) return look()
    const found = await this.#ranked(entry, search, false)
    return found?.found ?? this.#timed(entry, search, look)
  }

  /** The same with the total, where words tell it. */
  async findWithTotal(
    entry: StorageEntry,
    search: Search,
    look: () => Promise<FoundWithTotal>,
  ): Promise<FoundWithTotal> {
    if (!isServed(entry, search)) return look()
    const { found, total } = (await this.#ranked(entry, search, true)) ?? {}
    return found && total !== undefined ? { found, total } : this.#timed(entry, search, look)
  }

  /** Reads what was written, before the notes of it are forgotten. To be called every 20 seconds. */
  async follow(): Promise<void> {
    for (const [id, { text, used }] of [...this.#storages.entries()]) {
      if (!this.#storages.has(id)) continue
      const isUnused = millisecondsSince(used, this.#parts.clocks) > UNUSED_MS
      if (isUnused || (text.lostFor ?? 0) > PAUSE_MS) this.#drop(id)
      else if (text.lostFor === undefined) await text.catchUp().catch((error) => this.#report(error))
    }
  }

  /** Forgets all, which may be of another database. */
  forget(): void {
    for (const id of [...this.#storages.keys()]) this.#drop(id)
  }

  /** Ends what is read for it, too. */
  #drop(id: number): void {
    this.#storages.get(id)?.text.close()
    this.#storages.delete(id)
  }

  /** undefined: PostgreSQL is to rank. */
  async #ranked(entry: StorageEntry, search: Search, counts: boolean): Promise<RankedFound | undefined> {
    const cached = this.#storages.get(entry.id)
    if (cached === undefined) return undefined
    checkSearch(search)
    cached.used = instantOf(this.#parts.clocks)
    const { text } = cached
    const requested = { entry, search, counts }
    const { pool } = this.#parts
    if (!(await text.isCurrent()) || text.moment === undefined) return undefined
    const found = await pageOf(text, text.moment, { connection: pool.reading, ...requested })
    if (found !== 'outdated') return found
    return pool.snapshot(async (connection) => {
      const moment = await text.catchUpOn(connection)
      const again = moment && (await pageOf(text, moment, { connection, ...requested }))
      return again === 'outdated' ? undefined : again
    })
  }

  /** A storage that was dropped meanwhile is lost without a word. */
  #report(error: unknown): void {
    if (!isTableGone(error)) this.#parts.report(error)
  }

  /** Waits for what is being read. */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const { text } of this.#storages.values()) text.close()
    await this.idle()
  }

  async #timed<T>(entry: StorageEntry, search: Search, look: () => Promise<T>): Promise<T> {
    const at = instantOf(this.#parts.clocks)
    const found = await look()
    const spent = millisecondsSince(at, this.#parts.clocks)
    const { longMs = LONG_MS } = this.#parts
    if (spent >= longMs) this.#remember(entry, search, spent)
    return found
  }

  #remember(entry: StorageEntry, search: Search, spent: number): void {
    const reading = this.#read(entry, search, spent)
      .catch((error) => this.#report(error))
      .finally(() => this.#underWay.delete(reading))
    this.#underWay.add(reading)
  }

  /** In the background. */
  async #read(entry: StorageEntry, search: Search, spent: number): Promise<void> {
    const { pool, requestTracking: requested, clocks, fewest = FEWEST, bounds = TEXT_BOUNDS } = this.#parts
    if (!this.#storages.has(entry.id)) {
      const documents = await documentsIn(pool.reading, entry)
      if (documents < fewest || documents > MOST) return
    }
    // Of frequent words PostgreSQL ranks the newest documents only, on each node, and a million documents need not be in memory for it.
    if (await hasFrequent(pool.reading, entry, rankedPhrases(rankedClauses(search.query)), bounds)) return
    if (!entry.noted) return requested(entry.name, spent)
    if (this.#isClosed) return
    let cached = this.#storages.get(entry.id)
    if (cached?.text.lostFor !== undefined) return
    if (cached === undefined) {
      cached = { text: new IncrementalTextIndex(entry, this.#parts), used: instantOf(clocks) }
      this.#storages.set(entry.id, cached)
    }
    await cached.text.read(search)
  }
}

interface RankedFound {
  readonly found: Found
  readonly total: number | undefined
}

interface Requested {
  readonly entry: StorageEntry
  readonly search: Search
  /** Whether the total is asked for. */
  readonly counts: boolean
}

/** undefined: words in memory do not serve. */
async function pageOf(
  text: IncrementalTextIndex,
  moment: Snapshot,
  { connection, entry, search, counts }: Requested & { readonly connection: PostgresConnection },
): Promise<RankedFound | 'outdated' | undefined> {
  for (
    let most = search.limit + search.offset;
    most <= MOST_HITS;
    most = Math.max(most * MORE, AHEAD_AT_LEAST)
  ) {
    // Others may have caught up while the page was read.
    if (text.moment !== moment) return 'outdated'
    const ranked = rankInMemory(text.memory, search, most, counts)
    if (ranked === undefined || 'phrases' in ranked) return undefined
    const page = await rankedPage(connection, entry, search, { hits: ranked.hits, moment })
    if (page === undefined) {
      text.outdated(moment)
      return 'outdated'
    }
    const { documents, length } = page
    if (length === search.limit || ranked.isAll)
      return {
        found: { documents: new StoredJson(documents), length, next: () => undefined },
        total: ranked.total,
      }
  }
  return undefined
}

// The page of a search whose best hits are known, and whether nothing was written since the moment of which they are.

export interface PageHits {
  readonly hits: readonly RankedHit[]
  /** Of which they are. */
  readonly moment: Snapshot
}

export interface RankedPage {
  /** A JSON array. */
  readonly documents: string
  readonly length: number
}

/** undefined: something was written since. */
async function rankedPage(
  connection: PostgresConnection,
  target: SearchTarget,
  search: Search,
  found: PageHits,
): Promise<RankedPage | undefined> {
  const row = await oneRow(connection, pageSql(target, search, found))
  if (row.same !== true) return undefined
  return { documents: textOf(row, 'documents'), length: numberOf(row, 'length') }
}

function pageSql(target: SearchTarget, search: Search, { hits, moment }: PageHits): CompiledSql {
  const guids = texts(hits.map(({ guid }) => guid))
  const scores = numbers(
    hits.map(({ score }) => score),
    'float8',
  )
  const where = whereSql(
    { target, decided: UNDECIDED, plain: new Set() },
    search.query,
    search.includeRemoved,
  )
  const page = sql`SELECT doc FROM unnest(${guids}, ${scores}) AS scored(scored_guid, score) JOIN ${target.table} ON guid = scored_guid
    WHERE ${where} ORDER BY score DESC, created DESC, guid DESC LIMIT ${value(search.limit)} OFFSET ${value(search.offset)}`
  return sql`SELECT '[' || coalesce(string_agg(doc::text, ','), '') || ']' AS documents, count(*)::integer AS length, ${isUnchanged(target, moment)} AS same FROM (${page}) AS page`
}
