/** Deletes noted writes that no node asks for any more. */
import { type PostgresConnection, textOf } from '../core/rows.ts'
import { type Instant, instantOf, type LeaseClocks, millisecondsSince } from '../nodes/lease-clock.ts'

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
export function forgetNotedWrites({ connection, clocks }: ForgettingParts): () => Promise<void> {
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
