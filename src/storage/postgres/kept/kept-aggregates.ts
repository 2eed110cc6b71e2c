/**
 * Figures that took long to work out, kept while nothing is written to their storage: whether something was is asked together
 * with all who ask in that turn of the event loop. After a write they are worked out again, of a million documents in 0.1 to 0.6 s from key columns.
 */
import { boundedMap } from '../../../shared/bounded-map.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import type { Aggregated } from '../../aggregate/finish-aggregate.ts'
import { otherStorages } from '../../search/other-storages.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { instantOf, type LeaseClocks, millisecondsSince } from '../nodes/lease-clock.ts'
import { COSTLY_MS } from './costly.ts'
import type { WantNotes } from './note-when-wanted.ts'
import type { PostgresReadVersions } from './postgres-read-versions.ts'

/** Of all keys and rows. */
const CHARACTERS = 4 * 1024 * 1024
const LONGEST = 256 * 1024
/** Each with its query. */
const MOST_CHEAP = 1_000

export interface KeptAggregatesParts {
  readonly clocks: LeaseClocks
  readonly wanted: WantNotes
}

interface KeptAggregate {
  readonly seen: unknown
  readonly aggregated: Aggregated
}

export class KeptAggregates {
  readonly #versions: Pick<PostgresReadVersions, 'of' | 'catchUp'>
  readonly #clocks: LeaseClocks
  readonly #wanted: WantNotes
  readonly #aggregates = boundedMap<string, KeptAggregate>(CHARACTERS)
  /** What took so short a time that a question before it would be a large share of that. */
  readonly #cheap = boundedMap<string, true>(MOST_CHEAP)

  constructor(versions: Pick<PostgresReadVersions, 'of' | 'catchUp'>, parts: KeptAggregatesParts) {
    this.#versions = versions
    this.#clocks = parts.clocks
    this.#wanted = parts.wanted
  }

  /** Forgets all, which may be of another database. */
  forget(): void {
    this.#aggregates.clear()
  }

  /** Of what is committed: what was kept, or what `look` gives. */
  async of(entry: StorageEntry, wanted: Aggregate, look: () => Promise<Aggregated>): Promise<Aggregated> {
    if (otherStorages(wanted.query).length > 0) return look()
    const key = JSON.stringify([entry.id, wanted])
    const version = this.#versions.of(entry.name)
    const kept = this.#aggregates.get(key)
    if (kept && (await this.#versions.catchUp()) && version() === kept.seen) return kept.aggregated
    // Else what was written since the last question, and is in the answer, would count as written after it.
    if (entry.noted && !kept && !this.#cheap.has(key)) await this.#versions.catchUp()
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
    else if (!entry.noted) this.#wanted(entry.name, spent)
    return aggregated
  }
}
