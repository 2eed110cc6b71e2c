/**
 * Where the parts of a storage begin, by `created`: new documents fall into the last one. Any bounds are right. They only decide how much
 * is worked out again after a write, so they are read apart from the groups, and shared by all aggregates of a storage.
 */
import { boundedMap } from '../../../shared/bounded-map.ts'
import type { PostgresConnection } from '../core/rows.ts'
import { numberOf } from '../core/rows.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { type Instant, instantOf, type LeaseClocks, millisecondsSince } from '../nodes/lease-clock.ts'
import type { PartBounds } from '../sql/parted-aggregate.ts'

/** To work out their groups took PostgreSQL 20 to 75 ms on two busy cores. Smaller parts have more groups in all. */
const DOCUMENTS_OF_A_PART = 8_192
/** Parts that one reading of bounds adds. Then every second bound goes, as often as needed. */
const MOST_BOUNDS = 500
/** Storages, each with some kilobytes. */
const STORAGES = 200
/** How often it is looked whether the last part has grown. */
const LOOK_MS = 10_000

interface KnownBounds {
  readonly bounds: PartBounds
  readonly at: Instant
}

export interface BoundsOptions {
  readonly clocks: LeaseClocks
  /** Tests have small ones. */
  readonly documents?: number | undefined
}

export class StorageBounds {
  readonly #clocks: LeaseClocks
  readonly #documents: number
  readonly #known = boundedMap<number, KnownBounds>(STORAGES)

  constructor({ clocks, documents = DOCUMENTS_OF_A_PART }: BoundsOptions) {
    this.#clocks = clocks
    this.#documents = documents
  }

  /** Bounds begin as those that were given before, unless they were forgotten meanwhile. */
  async of(connection: PostgresConnection, entry: StorageEntry): Promise<PartBounds> {
    const known = this.#known.get(entry.id)
    if (known && millisecondsSince(known.at, this.#clocks) < LOOK_MS) return known.bounds
    const at = instantOf(this.#clocks)
    const before = known?.bounds ?? []
    const bounds = [...before, ...(await this.#behind(connection, entry, before.at(-1)))]
    const few = bounds.length <= MOST_BOUNDS ? bounds : thinned(bounds)
    this.#known.set(entry.id, { bounds: few, at })
    return few
  }

  /** They no longer fit: parts have grown in the middle. */
  forget({ id }: StorageEntry): void {
    this.#known.delete(id)
  }

  forgetAll(): void {
    this.#known.clear()
  }

  /** Each of so many documents, from the index by `created`. Documents of the same millisecond are in one part. */
  async #behind(
    connection: PostgresConnection,
    { table }: StorageEntry,
    last: number | undefined,
  ): Promise<number[]> {
    const rows = await connection.rows(
      `SELECT DISTINCT created FROM (
        SELECT created, row_number() OVER (ORDER BY created) AS number FROM ${table} WHERE removed = 0 AND created >= $1) AS rows
      WHERE number % $2 = 0 AND created > $1 ORDER BY created`,
      [last ?? Number.MIN_SAFE_INTEGER, this.#documents],
    )
    return rows.map((row) => numberOf(row, 'created'))
  }
}

function thinned(bounds: PartBounds): PartBounds {
  const half = bounds.filter((_, at) => at % 2 === 0)
  return half.length <= MOST_BOUNDS ? half : thinned(half)
}

/** How many parts of before are the same with these bounds. */
export function sameParts(before: PartBounds, bounds: PartBounds): number {
  const differs = before.findIndex((bound, at) => bounds[at] !== bound)
  // The last part of before ends where new bounds begin.
  if (differs < 0) return bounds.length === before.length ? before.length + 1 : before.length
  return differs
}
