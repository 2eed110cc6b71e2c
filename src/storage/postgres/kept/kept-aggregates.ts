/**
 * Figures that took long to work out, kept while nothing is written to their storage: whether something was is asked together
 * with all who ask in that turn of the event loop. Those of large storages are brought up to date after a write (`kept-parts.ts`).
 */
import { boundedMap } from '../../../shared/bounded-map.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import type { Aggregated } from '../../aggregate/finish-aggregate.ts'
import { otherStorages } from '../../search/other-storages.ts'
import type { PostgresConnection } from '../core/rows.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { instantOf, type LeaseClocks, millisecondsSince } from '../nodes/lease-clock.ts'
import { aggregateDocuments } from '../sql/postgres-aggregate.ts'
import { COSTLY_MS } from './costly.ts'
import { PartedAggregates } from './kept-parts.ts'
import type { WantNotes } from './note-when-wanted.ts'
import type { PostgresReadVersions } from './postgres-read-versions.ts'

/** Of all keys and rows. */
const CHARACTERS = 4 * 1024 * 1024
const LONGEST = 256 * 1024
/** Each with its query. */
const MOST_CHEAP = 1_000

/** Works an aggregate out on a connection that reads what is committed. */
export type AggregateWork = (
  connection: PostgresConnection,
  entry: StorageEntry,
  wanted: Aggregate,
) => Promise<Aggregated>

export interface KeptAggregatesParts {
  readonly clocks: LeaseClocks
  readonly wanted: WantNotes
  /** The notes were lost, and are to begin another life. */
  readonly beginLife: () => Promise<void>
  /** Documents of a part. Tests have few. */
  readonly documents?: number
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
  readonly #parted: PartedAggregates

  constructor(versions: Pick<PostgresReadVersions, 'of' | 'catchUp'>, parts: KeptAggregatesParts) {
    this.#versions = versions
    this.#clocks = parts.clocks
    this.#wanted = parts.wanted
    this.#parted = new PartedAggregates(parts)
  }

  /** To be called as often as `FOLLOW_EVERY_MS` of kept-parts.ts says. */
  follow(connection: PostgresConnection): Promise<void> {
    return this.#parted.follow(connection)
  }

  /** Forgets all, which may be of another database. */
  forget(): void {
    this.#aggregates.clear()
    this.#parted.forget()
  }

  /** Of what is committed: what was kept, or what `look` gives. */
  async of(
    entry: StorageEntry,
    wanted: Aggregate,
    look: (work: AggregateWork) => Promise<Aggregated>,
  ): Promise<Aggregated> {
    if (otherStorages(wanted.query).length > 0) return look(aggregateDocuments)
    const key = JSON.stringify([entry.id, wanted])
    const version = this.#versions.of(entry.name)
    const kept = this.#aggregates.get(key)
    if (kept && (await this.#versions.catchUp()) && version() === kept.seen) return kept.aggregated
    // Else what was written since the last question, and is in the answer, would count as written after it.
    if (entry.noted && !kept && !this.#cheap.has(key)) await this.#versions.catchUp()
    const seen = entry.noted ? version() : undefined
    const isParted = this.#parted.has(key, entry, wanted)
    const at = instantOf(this.#clocks)
    const aggregated = await look(
      isParted
        ? (connection, now) => this.#parted.aggregate(connection, now, wanted, key)
        : aggregateDocuments,
    )
    const spent = millisecondsSince(at, this.#clocks)
    this.#parted.took(key, spent)
    if (spent < COSTLY_MS && !isParted) {
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
