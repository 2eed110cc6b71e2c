/**
 * What transactions have written, noted by the database itself for the storages that have the trigger: so no writer can leave
 * it out, neither one of an older version nor one by hand. A node asks what has come since a snapshot.
 *
 * Rows and not a counter: one row that all writers raise would let them wait for each other, and a serializable run fail.
 * A noted write costs the database one more insert for each document, into a table without a log.
 */
import { numberOf, type PostgresConnection, textOf } from '../core/rows.ts'
import { type Instant, instantOf, type LeaseClocks, millisecondsSince } from '../nodes/lease-clock.ts'
import { MAX_CHANGES } from '../sql/search-target.ts'

export interface LaterWrites {
  /** Of the moment of the answer, as PostgreSQL writes it. */
  readonly snapshot: string
  /** Another one after the notes were lost; undefined: they were, just now. */
  readonly epoch: string | undefined
  /** Storage and guid of each document that a transaction has written which the earlier snapshot does not show. */
  readonly written: readonly (readonly [storage: number, guid: string])[] | 'too many'
}

/** What was written since a snapshot; nothing if none is given. In one statement, so of the moment of the new snapshot. */
export async function laterWrites(
  connection: PostgresConnection,
  since: string | undefined,
): Promise<LaterWrites> {
  const [row = {}] = await connection.rows(LATER_WRITES, [since ?? null])
  const written = row.written === null ? [] : writtenOf(JSON.parse(textOf(row, 'written')))
  return {
    snapshot: textOf(row, 'snapshot'),
    epoch: row.epoch === null ? undefined : textOf(row, 'epoch'),
    written: numberOf(row, 'looked') === MAX_CHANGES ? 'too many' : written,
  }
}

/** A transaction that the snapshot shows has a number below its xmin, or is not among those that were under way. */
const LATER_WRITES = `
  WITH later AS MATERIALIZED (
    SELECT xid, storage, guid FROM noted_write WHERE xid >= pg_snapshot_xmin($1::pg_snapshot) ORDER BY xid LIMIT ${MAX_CHANGES}),
  unseen AS MATERIALIZED (
    SELECT DISTINCT storage, guid FROM later WHERE NOT pg_visible_in_snapshot(xid, $1::pg_snapshot))
  SELECT pg_current_snapshot()::text AS snapshot,
    (SELECT life::text FROM noted_write_life) AS epoch,
    (SELECT count(*) FROM later) AS looked,
    (SELECT json_agg(json_build_array(storage, guid))::text FROM unseen) AS written`

/** Lets nodes see by a new epoch that notes were lost. Whichever node comes first makes it. */
export async function startEpoch(connection: PostgresConnection): Promise<void> {
  await connection.run('INSERT INTO noted_write_life DEFAULT VALUES ON CONFLICT DO NOTHING')
}

function writtenOf(value: unknown): (readonly [number, string])[] {
  if (!Array.isArray(value)) throw new TypeError('Noted writes are no list.')
  return value.map((one: unknown) => {
    const [storage, guid] = Array.isArray(one) ? one : []
    if (typeof storage !== 'number' || typeof guid !== 'string')
      throw new TypeError('A noted write has no storage.')
    return [storage, guid] as const
  })
}

// Deletes noted writes that no node asks for any more.

/** What was written before a snapshot this old is forgotten. A node asks since a snapshot of at most half this age. */
export const REMEMBERED_MS = 120_000
/** Nothing is asked since a snapshot older than this. */
export const OLDEST_MS = REMEMBERED_MS / 2
/** An answer that comes later, by then, may lack what was forgotten while its statement waited for a connection. */
export const LATEST_MS = REMEMBERED_MS - 10_000

/** Any number that no other lock of the database is likely to have. */
const LOCK = 7_102_027

export interface ForgettingParts {
  /** For a single statement that writes. */
  readonly connection: PostgresConnection
  readonly clocks: LeaseClocks
}

/** Gives a function that forgets what is old by now. To be called now and then, by any number of nodes. */
export function deleteOldChanges({ connection, clocks }: ForgettingParts): () => Promise<void> {
  /** All transactions below `least` were over at that moment. The oldest first. */
  let moments: { readonly at: Instant; readonly least: string }[] = []

  return async () => {
    const [row = {}] = await connection.rows('SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS least')
    // After the answer, which may have been long on its way: never taken for older than it is.
    moments.push({ at: instantOf(clocks), least: textOf(row, 'least') })
    const old = moments.findLastIndex((moment) => millisecondsSince(moment.at, clocks) >= REMEMBERED_MS)
    const oldest = moments[old]
    if (oldest === undefined) return
    moments = moments.slice(old)
    // What lies ahead of all transactions is of another server, whose database was copied here.
    await connection.run(
      `DELETE FROM noted_write WHERE (xid < $1::xid8 OR xid >= pg_snapshot_xmax(pg_current_snapshot()))
        AND (SELECT pg_try_advisory_xact_lock($2))`,
      [oldest.least, LOCK],
    )
  }
}

// Has the writes to a storage noted once that was often wanted: the trigger costs each write, and most storages need none.

/** Reads that could have been kept; one that took long counts as several. */
const OFTEN = 10
const MS_OF_ONE = 10
/** Until the next try, where a long transaction was in the way. */
const PAUSE_MS = 10_000
/** Where the database refuses it: most likely it always will. */
const REFUSED_MS = 3_600_000

export interface ChangeLogParts {
  /** false: not now. */
  readonly note: (storage: string) => Promise<boolean>
  readonly clocks: LeaseClocks
  readonly report: (error: unknown) => void
}

/** `milliseconds`: what keeping it would have saved, if that is known. */
export type RequestChangeTracking = (storage: string, milliseconds?: number) => void

/** To be called with the name of a storage that is there. */
export function openChangeTracking({ note, clocks, report }: ChangeLogParts): RequestChangeTracking {
  const requested = new Map<string, number>()
  let isTracking = false
  let paused: { readonly since: Instant; readonly milliseconds: number } | undefined
  const pause = (milliseconds: number) => {
    paused = { since: instantOf(clocks), milliseconds }
  }

  async function begin(storage: string): Promise<void> {
    isTracking = true
    try {
      if (await note(storage)) requested.delete(storage)
      else pause(PAUSE_MS)
    } catch (error) {
      pause(REFUSED_MS)
      report(error)
    } finally {
      isTracking = false
    }
  }

  return (storage, milliseconds = 0) => {
    const times = (requested.get(storage) ?? 0) + Math.max(1, milliseconds / MS_OF_ONE)
    requested.set(storage, times)
    if (times < OFTEN || isTracking) return
    if (paused && millisecondsSince(paused.since, clocks) < paused.milliseconds) return
    void begin(storage)
  }
}
