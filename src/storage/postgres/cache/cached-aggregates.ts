/**
 * Figures that took long to work out, kept while nothing is written to their storage: whether something was is asked together
 * with all who ask in that turn of the event loop. After a write they are worked out again, of a million documents in 0.1 to 0.6 s from key columns.
 */
import { lruCache } from '../../../shared/lru-cache.ts'
import type { Search } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import type { Aggregated } from '../../aggregate/finish-aggregate.ts'
import type { FoundWithTotal } from '../../database.ts'
import { otherStorages } from '../../search/other-storages.ts'
import type { StorageEntry } from '../core/postgres-catalogue.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { type Instant, instantOf, type LeaseClocks, millisecondsSince } from '../nodes/lease-clock.ts'
import { type CountedTotal, findWithTotal } from '../sql/postgres-query.ts'
import { LATEST_MS, OLDEST_MS, type RequestChangeTracking } from './change-log.ts'
import type { PostgresReadVersions } from './postgres-read-versions.ts'

/** What took a shorter time to work out is worked out each time: asking whether it still holds would cost as much. */
const COSTLY_MS = 5

/** Of all keys and rows. */
const CHARACTERS = 4 * 1024 * 1024
const LONGEST = 256 * 1024
/** Each with its query. */
const MOST_CHEAP = 1_000

export interface CachedAggregatesParts {
  readonly clocks: LeaseClocks
  readonly requestTracking: RequestChangeTracking
}

interface CachedAggregate {
  readonly seen: unknown
  readonly aggregated: Aggregated
}

export class CachedAggregates {
  readonly #versions: Pick<PostgresReadVersions, 'of' | 'catchUp'>
  readonly #clocks: LeaseClocks
  readonly #requested: RequestChangeTracking
  readonly #aggregates = lruCache<string, CachedAggregate>(CHARACTERS)
  /** What took so short a time that a question before it would be a large share of that. */
  readonly #cheap = lruCache<string, true>(MOST_CHEAP)

  constructor(versions: Pick<PostgresReadVersions, 'of' | 'catchUp'>, parts: CachedAggregatesParts) {
    this.#versions = versions
    this.#clocks = parts.clocks
    this.#requested = parts.requestTracking
  }

  /** Forgets all, which may be of another database. */
  forget(): void {
    this.#aggregates.clear()
  }

  /** Of what is committed: what was kept, or what `look` gives. */
  async of(entry: StorageEntry, requested: Aggregate, look: () => Promise<Aggregated>): Promise<Aggregated> {
    if (otherStorages(requested.query).length > 0) return look()
    const key = JSON.stringify([entry.id, requested])
    const version = this.#versions.of(entry.name)
    const cached = this.#aggregates.get(key)
    if (cached && (await this.#versions.catchUp()) && version() === cached.seen) return cached.aggregated
    // Else what was written since the last question, and is in the answer, would count as written after it.
    if (entry.noted && !cached && !this.#cheap.has(key)) await this.#versions.catchUp()
    const seen = entry.noted ? version() : undefined
    const at = instantOf(this.#clocks)
    const aggregated = await look()
    const spent = millisecondsSince(at, this.#clocks)
    if (spent < COSTLY_MS) {
      this.#cheap.set(key, true)
      return aggregated
    }
    this.#cheap.delete(key)
    const size = key.length + aggregated.rows.text.length
    if (seen !== undefined && size <= LONGEST) this.#aggregates.set(key, { seen, aggregated }, size)
    else if (!entry.noted) this.#requested(entry.name, spent)
    return aggregated
  }
}

// Totals that took long to count, kept while nothing is written to their storage: the statement that reads the page asks whether
// something was noted since, and counts again only then. The page and the total are of one moment either way.

/** Characters of all keys, which are queries. */
const CHARACTERS_OF_TOTALS = 1024 * 1024
const LONGEST_KEY = 10_000

export interface CachedTotalsParts {
  readonly clocks: LeaseClocks
  /** Someone would keep what was read of a storage whose writes are not noted. */
  readonly requestTracking: RequestChangeTracking
  /** The notes were lost, and are to begin another epoch. */
  readonly startEpoch: () => Promise<void>
}

interface CachedTotal extends CountedTotal {
  readonly at: Instant
}

export class CachedTotals {
  readonly #parts: CachedTotalsParts
  readonly #totals = lruCache<string, CachedTotal>(CHARACTERS_OF_TOTALS)

  constructor(parts: CachedTotalsParts) {
    this.#parts = parts
  }

  /** For what is committed: not in a transaction that has written. Throws INVALID_QUERY. */
  async find(connection: PostgresConnection, entry: StorageEntry, search: Search): Promise<FoundWithTotal> {
    const { clocks, requestTracking: requested, startEpoch } = this.#parts
    const at = instantOf(clocks)
    const key = keyOf(entry, search)
    const cached = entry.noted && key !== undefined ? this.#totals.get(key) : undefined
    const known = cached && millisecondsSince(cached.at, clocks) < OLDEST_MS ? cached : undefined
    const { moment, ...found } = await findWithTotal(connection, entry, search, known)
    if (known && millisecondsSince(known.at, clocks) >= LATEST_MS)
      return findWithTotal(connection, entry, search)
    const spent = millisecondsSince(at, clocks)
    if (key === undefined || !(known || spent >= COSTLY_MS)) return found
    if (!entry.noted) requested(entry.name, spent)
    else if (moment === undefined) await startEpoch()
    else this.#totals.set(key, { total: found.total, moment, at }, key.length)
    return found
  }
}

/** undefined for what is not kept: a total that depends on other storages too, or is asked for by a very long query. */
function keyOf({ id }: StorageEntry, { query, includeRemoved }: Search): string | undefined {
  if (otherStorages(query).length > 0) return undefined
  const key = JSON.stringify([id, query, includeRemoved])
  return key.length > LONGEST_KEY ? undefined : key
}
