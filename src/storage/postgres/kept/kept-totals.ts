/**
 * Totals that took long to count, kept while nothing is written to their storage: the statement that reads the page asks whether
 * something was noted since, and counts again only then. The page and the total are of one moment either way.
 */
import { boundedMap } from '../../../shared/bounded-map.ts'
import type { Search } from '../../../shared/query.ts'
import type { FoundWithTotal } from '../../database.ts'
import { otherStorages } from '../../search/other-storages.ts'
import type { PostgresConnection } from '../core/rows.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { type Instant, instantOf, type LeaseClocks, millisecondsSince } from '../nodes/lease-clock.ts'
import { type CountedTotal, findWithTotal } from '../sql/postgres-query.ts'
import { COSTLY_MS } from './costly.ts'
import { LATEST_MS, OLDEST_MS } from './forget-noted-writes.ts'
import type { WantNotes } from './note-when-wanted.ts'

/** Characters of all keys, which are queries. */
const CHARACTERS = 1024 * 1024
const LONGEST_KEY = 10_000

export interface KeptTotalsParts {
  readonly clocks: LeaseClocks
  /** Someone would keep what was read of a storage whose writes are not noted. */
  readonly wanted: WantNotes
  /** The notes were lost, and are to begin another life. */
  readonly beginLife: () => Promise<void>
}

interface KeptTotal extends CountedTotal {
  readonly at: Instant
}

export class KeptTotals {
  readonly #parts: KeptTotalsParts
  readonly #totals = boundedMap<string, KeptTotal>(CHARACTERS)

  constructor(parts: KeptTotalsParts) {
    this.#parts = parts
  }

  /** For what is committed: not in a transaction that has written. Throws INVALID_QUERY. */
  async find(connection: PostgresConnection, entry: StorageEntry, search: Search): Promise<FoundWithTotal> {
    const { clocks, wanted, beginLife } = this.#parts
    const at = instantOf(clocks)
    const key = keyOf(entry, search)
    const kept = entry.noted && key !== undefined ? this.#totals.get(key) : undefined
    const known = kept && millisecondsSince(kept.at, clocks) < OLDEST_MS ? kept : undefined
    const { moment, ...found } = await findWithTotal(connection, entry, search, known)
    if (known && millisecondsSince(known.at, clocks) >= LATEST_MS)
      return findWithTotal(connection, entry, search)
    const spent = millisecondsSince(at, clocks)
    if (key === undefined || !(known || spent >= COSTLY_MS)) return found
    if (!entry.noted) wanted(entry.name, spent)
    else if (moment === undefined) await beginLife()
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
