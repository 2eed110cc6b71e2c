/**
 * Free text in the order of relevance, from words in memory of this node. PostgreSQL reads each document that has a word to rank it, some
 * 3 µs each: half a second for a word in 200,000 documents. Here that is a walk over arrays, and the page one statement by guid.
 *
 * The memory is of one moment of the database. The statement that reads the page says whether anything was written to the storage since;
 * if so, what was written is read and the hits are ranked again. So a search is of one moment, as any other.
 *
 * Where searches take long, the documents of the storage are read in the background, and each word that such a search had. Until then, and for
 * all that words in memory do not lead to, PostgreSQL ranks.
 */
import type { Search } from '../../../shared/query.ts'
import type { Found, FoundWithTotal } from '../../database.ts'
import { checkSearch } from '../../search/check-search.ts'
import { otherStorages } from '../../search/other-storages.ts'
import { isRelevanceOrder } from '../../search/rank-text.ts'
import { StoredJson } from '../../stored-json.ts'
import type { PostgresPool } from '../core/postgres-connection.ts'
import type { PostgresConnection } from '../core/rows.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import type { WantNotes } from '../kept/note-when-wanted.ts'
import { type Instant, instantOf, type LeaseClocks, millisecondsSince } from '../nodes/lease-clock.ts'
import { decidesFirst } from '../sql/decide-texts.ts'
import type { NotedMoment } from '../sql/noted-moment.ts'
import { FollowedText } from './followed-text.ts'
import { rankInMemory } from './rank-in-memory.ts'
import { rankedPage } from './ranked-page.ts'

export interface KeptWordsParts {
  readonly pool: Pick<PostgresPool, 'reading' | 'snapshot'>
  readonly clocks: LeaseClocks
  readonly wanted: WantNotes
  /** The notes were lost, and are to begin another life. */
  readonly beginLife: () => Promise<void>
  readonly report: (error: unknown) => void
  /** A search that takes so many milliseconds is worth the memory. Tests have less. */
  readonly longMs?: number | undefined
}

/** Storages whose documents are in memory. */
const MOST_STORAGES = 4
const LONG_MS = 50
/** Of a storage that no search asks for as long. */
const UNUSED_MS = 900_000
/** Until what could not follow is read once more: a million documents cost PostgreSQL seconds. */
const PAUSE_MS = 300_000
/** Of a page and all before it. */
const MOST_HITS = 5_000
/** Where not all hits have to be shown: filters may leave few of them. */
const AHEAD_AT_LEAST = 100
const MORE = 8

interface KeptStorage {
  readonly text: FollowedText
  used: Instant
}

export class KeptWords {
  readonly #parts: KeptWordsParts
  /** By the number of the storage; the one used last stands last. */
  readonly #storages = new Map<number, KeptStorage>()
  readonly #underWay = new Set<Promise<void>>()

  constructor(parts: KeptWordsParts) {
    this.#parts = parts
  }

  /** Of what is committed: from words in memory, or what `look` gives. Throws INVALID_QUERY. */
  async find(entry: StorageEntry, search: Search, look: () => Promise<Found>): Promise<Found> {
    if (!isServed(entry, search)) return look()
    const found = await this.#ranked(entry, search)
    return found?.found ?? this.#timed(entry, search, look)
  }

  /** The same with the total, where words tell it. */
  async findWithTotal(
    entry: StorageEntry,
    search: Search,
    look: () => Promise<FoundWithTotal>,
  ): Promise<FoundWithTotal> {
    if (!isServed(entry, search)) return look()
    const { found, total } = (await this.#ranked(entry, search)) ?? {}
    return found && total !== undefined ? { found, total } : this.#timed(entry, search, look)
  }

  /** Reads what was written, before the notes of it are forgotten. To be called every 20 seconds. */
  async follow(): Promise<void> {
    for (const [id, { text, used }] of this.#storages) {
      const isUnused = millisecondsSince(used, this.#parts.clocks) > UNUSED_MS
      if (isUnused || (text.lostFor ?? 0) > PAUSE_MS) this.#storages.delete(id)
      else if (text.lostFor === undefined) await text.catchUp()
    }
  }

  /** Forgets all, which may be of another database. */
  forget(): void {
    this.#storages.clear()
  }

  /** undefined: PostgreSQL is to rank. */
  async #ranked(entry: StorageEntry, search: Search): Promise<RankedFound | undefined> {
    const kept = this.#storages.get(entry.id)
    if (kept === undefined) return undefined
    checkSearch(search)
    kept.used = instantOf(this.#parts.clocks)
    this.#storages.delete(entry.id)
    this.#storages.set(entry.id, kept)
    const { text } = kept
    const { pool } = this.#parts
    if (!(await text.isCurrent()) || text.moment === undefined) return undefined
    const found = await pageOf(text, text.moment, { connection: pool.reading, entry, search })
    if (found !== 'outdated') return found
    return pool.snapshot(async (connection) => {
      const moment = await text.catchUpOn(connection)
      const again = moment && (await pageOf(text, moment, { connection, entry, search }))
      return again === 'outdated' ? undefined : again
    })
  }

  /** Waits for what is being read. */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay)
  }

  async close(): Promise<void> {
    for (const { text } of this.#storages.values()) text.close()
    await this.idle()
  }

  async #timed<T>(entry: StorageEntry, search: Search, look: () => Promise<T>): Promise<T> {
    const at = instantOf(this.#parts.clocks)
    const found = await look()
    const spent = millisecondsSince(at, this.#parts.clocks)
    const { longMs = LONG_MS, wanted, report } = this.#parts
    if (spent < longMs) return found
    if (!entry.noted) wanted(entry.name, spent)
    else {
      const reading = this.#read(entry, search)
        .catch(report)
        .finally(() => this.#underWay.delete(reading))
      this.#underWay.add(reading)
    }
    return found
  }

  /** In the background. */
  async #read(entry: StorageEntry, search: Search): Promise<void> {
    let kept = this.#storages.get(entry.id)
    if (kept?.text.lostFor !== undefined) return
    if (kept === undefined) {
      kept = { text: new FollowedText(entry, this.#parts), used: instantOf(this.#parts.clocks) }
      this.#storages.set(entry.id, kept)
      const [oldest] = this.#storages.keys()
      if (this.#storages.size > MOST_STORAGES && oldest !== undefined) this.#storages.delete(oldest)
    }
    await kept.text.read(search)
  }
}

interface RankedFound {
  readonly found: Found
  readonly total: number | undefined
}

interface Reading {
  readonly connection: PostgresConnection
  readonly entry: StorageEntry
  readonly search: Search
}

/** undefined: words in memory do not serve. */
async function pageOf(
  text: FollowedText,
  moment: NotedMoment,
  { connection, entry, search }: Reading,
): Promise<RankedFound | 'outdated' | undefined> {
  for (
    let most = search.limit + search.offset;
    most <= MOST_HITS;
    most = Math.max(most * MORE, AHEAD_AT_LEAST)
  ) {
    // Others may have caught up while the page was read.
    if (text.moment !== moment) return 'outdated'
    const ranked = rankInMemory(text.memory, search, most)
    if (ranked === undefined || 'length' in ranked) return undefined
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

function isServed(entry: StorageEntry, search: Search): boolean {
  return (
    entry.textReady &&
    !search.includeRemoved &&
    search.after === undefined &&
    search.limit + search.offset <= MOST_HITS &&
    isRelevanceOrder(search) &&
    otherStorages(search.query).length === 0 &&
    !decidesFirst(entry, search.query)
  )
}
