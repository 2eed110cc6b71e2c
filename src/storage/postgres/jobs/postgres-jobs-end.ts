/**
 * The end of a job in the transaction of its run: what the run wrote is committed with it, so it is there once, however often
 * the job was begun.
 *
 * - The fence is the lease: where another worker has the job, no row is changed, and the run must not commit.
 * - The next job of its order key is let go after the commit, in a transaction of its own: under the lock of the key a run that
 *   waits for another key would block that one crosswise, and a unit of work would not see jobs that were enqueued since its first
 *   read. Until then the job keeps its lease though it is done: a claim that finds this lease over does it (`freeNext`).
 * - A unit of work sees the row as it was at its first read, and a renewal since then would be a conflict. So it locks the row
 *   before it reads. A lock for sharing, because sessions that enqueue behind the job lock it so too. Renewals pass over a
 *   locked row: no claim takes it either.
 * - A unit of work finds the row by its place (ctid) and not in an index. What it reads in a page of an index conflicts with what
 *   other units write there: two runs that each end a job and enqueue another one would always do so.
 */
import type { JobLease } from '../../job.ts'
import { SerializationConflict } from '../../unit-of-work.ts'
import { type PostgresConnection, textOf } from '../core/rows.ts'
import { LIVE, lockOrderKey } from './postgres-jobs-enqueue.ts'

/** The fence: only who still has the lease, by owner and attempt. The first three values of a statement. */
export const LEASED = `guid = $1 AND owner = $2 AND attempt = $3 AND state = 'running'`

/** Done, and the next job of its key is not let go yet. */
export const ENDED = `state = 'done' AND lease_until > 0`

/** Renewals that come between finding the row and locking it. One comes each five seconds. */
const MOST_TRIES = 3

export interface EndedJob {
  readonly lease: JobLease
  readonly orderKey: string | undefined
}

export function leaseValues({ guid, owner, attempt }: JobLease): (string | number)[] {
  return [guid, owner, attempt]
}

/** Locks the row of the job for a unit of work. Gives its place, undefined where the lease is lost. */
export async function lockRow(
  reading: PostgresConnection,
  unit: PostgresConnection,
  lease: JobLease,
): Promise<string | undefined> {
  const values = leaseValues(lease)
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const [found] = await reading.rows(`SELECT ctid::text AS place FROM job WHERE ${LEASED}`, values)
    if (found === undefined) return undefined
    const place = textOf(found, 'place')
    const text = `SELECT 1 FROM job WHERE ctid = $4::tid AND ${LEASED} FOR SHARE`
    if ((await unit.rows(text, [...values, place])).length > 0) return place
  }
  throw new SerializationConflict()
}

/** `place`: of a row that is locked. Undefined where the lease is lost. */
export async function endInTransaction(
  connection: PostgresConnection,
  lease: JobLease,
  now: number,
  place?: string,
): Promise<EndedJob | undefined> {
  const [ended] = await connection.rows(
    `UPDATE job SET state = 'done', last_error = NULL, failed_in = NULL, finished = $4, updated = $4, version = version + 1,
       lease_until = CASE WHEN order_key IS NULL THEN 0 ELSE lease_until END
     WHERE ${place === undefined ? '' : 'ctid = $5::tid AND '}${LEASED} RETURNING order_key`,
    [...leaseValues(lease), now, ...(place === undefined ? [] : [place])],
  )
  if (ended === undefined) return undefined
  const { order_key: key } = ended
  return { lease, orderKey: typeof key === 'string' ? key : undefined }
}

/** In a transaction: lets the next job of the key go, once for each job that has ended. True when one may run now. */
export async function freeNext(
  connection: PostgresConnection,
  guid: string,
  orderKey: string,
): Promise<boolean> {
  await lockOrderKey(connection, orderKey)
  const freed = await connection.run(
    `WITH ended AS (UPDATE job SET lease_until = 0 WHERE guid = $1 AND ${ENDED} RETURNING order_key)
     UPDATE job SET held = false FROM ended WHERE id = (SELECT min(id) FROM job WHERE order_key = $2 AND ${LIVE})
       AND NOT EXISTS (SELECT 1 FROM job WHERE order_key = $2 AND ${LIVE} AND NOT held)`,
    [guid, orderKey],
  )
  return freed > 0
}

/** Jobs whose node was killed between their end and `freeNext`. */
export async function endedBefore(
  connection: PostgresConnection,
  now: number,
): Promise<readonly { readonly guid: string; readonly orderKey: string }[]> {
  const rows = await connection.rows(
    `SELECT guid, order_key FROM job WHERE ${ENDED} AND lease_until <= $1 LIMIT 100`,
    [now],
  )
  return rows.map((row) => ({ guid: textOf(row, 'guid'), orderKey: textOf(row, 'order_key') }))
}
