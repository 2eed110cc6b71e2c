import type { CheckedJob } from '../../job.ts'
import type { PostgresConnection } from '../core/postgres-connection.ts'
import { LIVE, lockOrderKey } from './postgres-jobs-order.ts'

/**
 * Makes the job. False when a live one has its dedupe key; when another transaction is just making that one, this waits
 * for how it ends. Neither is an error, so the transaction goes on.
 */
export async function insertJob(
  connection: PostgresConnection,
  job: CheckedJob,
  guid: string,
  now: number,
): Promise<boolean> {
  const { queue, kind, title, payload, runAt, priority, attempts, dedupeKey, orderKey } = job
  if (orderKey !== null) await lockOrderKey(connection, orderKey)
  const inserted = await connection.rows(
    `INSERT INTO job (guid, queue, kind, title, payload, priority, run_at, attempts, created, updated, dedupe_key, order_key, held)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11,
       $11::text IS NOT NULL AND EXISTS (SELECT 1 FROM job WHERE order_key = $11 AND ${LIVE}))
     ON CONFLICT (dedupe_key) WHERE dedupe_key IS NOT NULL AND ${LIVE} DO NOTHING
     RETURNING id`,
    [guid, queue, kind, title, payload, priority, runAt, attempts, now, dedupeKey, orderKey],
  )
  return inserted.length > 0
}
