/**
 * Groups of large storages, kept for each part of their documents (`sql/parted-aggregate.ts`). After a write only the parts that were
 * written are worked out again: 20 to 75 ms for a full part on two busy cores, where a million documents take seconds.
 *
 * The groups are of one moment of the database. To bring them up to date, one statement asks which parts were written since and works
 * those out. So the answer is the one that the whole would give at the moment of that statement. All is worked out again where
 * - the notes of writes were lost, or could not be asked for as long as they are remembered,
 * - more was written than is looked at, or most parts, or it is not known which,
 * - the storage has grown so that its parts no longer fit.
 */
import { boundedMap } from '../../../shared/bounded-map.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import { type Aggregated, finishAggregate, type RawGroup } from '../../aggregate/finish-aggregate.ts'
import { canMerge, mergeGroups } from '../../aggregate/merge-groups.ts'
import type { PostgresConnection } from '../core/rows.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { type Instant, instantOf, type LeaseClocks, millisecondsSince } from '../nodes/lease-clock.ts'
import { decidesFirst } from '../sql/decide-texts.ts'
import type { NotedMoment } from '../sql/noted-moment.ts'
import { allParts, laterParts, type PartBounds, writtenParts } from '../sql/parted-aggregate.ts'
import { aggregateDocuments } from '../sql/postgres-aggregate.ts'
import { LATEST_MS, OLDEST_MS } from './forget-noted-writes.ts'
import { StorageBounds, sameParts } from './part-bounds.ts'

/** Of all groups, as they are sent. In memory they take several times as much. */
const CHARACTERS = 4 * 1024 * 1024
const LONGEST = 1024 * 1024
/** What takes less is worked out as a whole. */
const LONG_MS = 50
/** Aggregates that are remembered to take long, or to have too many groups. */
const MOST_LONG = 1_000

/** With fewer bounds, one part is a large share of all. */
const FEW = 8

/** Characters of a number, about. */
const CELL = 40

/** Of what is asked for as often, notes are asked before they are forgotten. */
const FOLLOWED_MS = 900_000
export const FOLLOW_EVERY_MS = 20_000
/** Each costs PostgreSQL a millisecond then. */
const MOST_FOLLOWED = 100

interface KeptParts {
  readonly storage: number
  readonly moment: NotedMoment
  readonly at: Instant
  readonly used: Instant
  readonly bounds: PartBounds
  readonly groups: ReadonlyMap<number, readonly RawGroup[]>
  /** Parts that were written since, and not worked out. */
  readonly stale: readonly number[]
  readonly size: number
  /** How long all parts took. */
  readonly spent: number
}

export interface PartedOptions {
  readonly clocks: LeaseClocks
  /** The notes were lost, and are to begin another life. */
  readonly beginLife: () => Promise<void>
  /** Documents of a part. Tests have few. */
  readonly documents?: number | undefined
}

export class PartedAggregates {
  readonly #clocks: LeaseClocks
  readonly #beginLife: () => Promise<void>
  readonly #bounds: StorageBounds
  readonly #kept = boundedMap<string, KeptParts>(CHARACTERS)
  readonly #long = boundedMap<string, 'long' | 'too many'>(MOST_LONG)
  /** Raised when all is forgotten: what was asked before is not kept. */
  #epoch = 0

  constructor({ clocks, beginLife, documents }: PartedOptions) {
    this.#clocks = clocks
    this.#beginLife = beginLife
    this.#bounds = new StorageBounds({ clocks, documents })
  }

  /** The whole took so long, of which the aggregate with this key is to be remembered. */
  took(key: string, milliseconds: number): void {
    if (milliseconds >= LONG_MS && !this.#long.has(key)) this.#long.set(key, 'long')
  }

  /** Whether `aggregate` is to be asked for it. */
  has(key: string, entry: StorageEntry, wanted: Aggregate): boolean {
    return (
      entry.noted && this.#long.get(key) === 'long' && canMerge(wanted) && !decidesFirst(entry, wanted.query)
    )
  }

  /** Of what is committed, and of one moment. */
  async aggregate(
    connection: PostgresConnection,
    entry: StorageEntry,
    wanted: Aggregate,
    key: string,
  ): Promise<Aggregated> {
    const epoch = this.#epoch
    const bounds = await this.#bounds.of(connection, entry)
    const known = this.#kept.get(key)
    const later = known && (await this.#later(connection, entry, wanted, { known, bounds }))
    const parts = later ?? (await this.#all(connection, entry, wanted, bounds))
    if (parts === 'too many') {
      this.#long.set(key, 'too many')
      this.#kept.delete(key)
      return aggregateDocuments(connection, entry, wanted)
    }
    const { moment } = parts
    if (moment === undefined) await this.#beginLife()
    else if (epoch === this.#epoch) this.#keep(key, { ...parts, moment })
    return finishAggregate(wanted, mergeGroups(wanted, parts.groups.values()))
  }

  /** Asks what was written to parts while no request asks for them. To be called as often as {@link FOLLOW_EVERY_MS} says. */
  async follow(connection: PostgresConnection): Promise<void> {
    for (const [key, known] of this.#used()) {
      const at = instantOf(this.#clocks)
      const from = known.bounds.length + 1
      const written = await writtenParts(connection, { id: known.storage }, { ...known, from })
      // It was brought up to date meanwhile.
      if (this.#kept.get(key) !== known) continue
      if (written === undefined || millisecondsSince(known.at, this.#clocks) >= LATEST_MS)
        this.#kept.delete(key)
      else {
        const { moment, parts: stale } = written
        this.#kept.set(key, { ...known, moment, at, stale }, key.length + known.size)
      }
    }
  }

  /** Forgets all, which may be of another database. */
  forget(): void {
    this.#epoch += 1
    this.#kept.clear()
    this.#bounds.forgetAll()
  }

  /** In the order of their use, which `get` keeps so. */
  #used(): [string, KeptParts][] {
    return [...this.#kept.keys()].slice(-MOST_FOLLOWED).flatMap((key): [string, KeptParts][] => {
      const known = this.#kept.get(key)
      const isUsed =
        known !== undefined &&
        millisecondsSince(known.used, this.#clocks) < FOLLOWED_MS &&
        millisecondsSince(known.at, this.#clocks) < OLDEST_MS
      return isUsed ? [[key, known]] : []
    })
  }

  #keep(key: string, parts: KeptParts): void {
    if (parts.size <= LONGEST) this.#kept.set(key, parts, key.length + parts.size)
    else {
      this.#kept.delete(key)
      this.#long.set(key, 'too many')
    }
  }

  async #all(connection: PostgresConnection, entry: StorageEntry, wanted: Aggregate, bounds: PartBounds) {
    const at = instantOf(this.#clocks)
    const found = await allParts(connection, entry, wanted, bounds)
    if (found === 'too many') return found
    const spent = millisecondsSince(at, this.#clocks)
    return { ...found, storage: entry.id, at, used: at, bounds, stale: [], spent }
  }

  /** undefined: all has to be worked out. */
  async #later(
    connection: PostgresConnection,
    entry: StorageEntry,
    wanted: Aggregate,
    { known, bounds }: { readonly known: KeptParts; readonly bounds: PartBounds },
  ): Promise<KeptParts | 'too many' | undefined> {
    if (millisecondsSince(known.at, this.#clocks) >= OLDEST_MS) return undefined
    const at = instantOf(this.#clocks)
    const from = sameParts(known.bounds, bounds)
    if (from < bounds.length / 2 || known.stale.length > bounds.length / 2 + 1) return undefined
    const { moment, stale } = known
    const found = await laterParts(connection, entry, wanted, { moment, bounds, stale, from })
    if (found === undefined || found === 'too many') return found
    // Notes may have been forgotten while the statement waited for a connection.
    if (millisecondsSince(known.at, this.#clocks) >= LATEST_MS) return undefined
    if (bounds.length >= FEW && millisecondsSince(at, this.#clocks) > known.spent / 2)
      this.#bounds.forget(entry)
    const groups = new Map(known.groups)
    for (const part of groups.keys()) if (part >= from) groups.delete(part)
    for (const part of found.parts) groups.delete(part)
    for (const [part, list] of found.groups) groups.set(part, list)
    return { ...known, moment: found.moment, at, used: at, bounds, groups, stale: [], size: sizeOf(groups) }
  }
}

function sizeOf(groups: ReadonlyMap<number, readonly RawGroup[]>): number {
  let size = 0
  for (const list of groups.values())
    for (const { keys, cells } of list) {
      size += JSON.stringify(keys).length
      for (const cell of cells) size += typeof cell === 'string' ? cell.length : CELL
    }
  return size
}
