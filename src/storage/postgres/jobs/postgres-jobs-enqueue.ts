import type { CheckedJob } from '../../job.ts'
import type { PostgresTransaction } from '../core/postgres-transaction.ts'
import { LIVE, lockOrderKey } from './postgres-jobs-order.ts'

/**
 * The last live job of a key. A unit of work sees the jobs as they were at its first read, also under the lock of the key: a
 * job that has ended since would hold the new one, and no job would be left to let it go. Locking that row fails when it
 * has changed since, and the unit begins once more.
 */
const lastOfKey = (unit: boolean) =>
  `SELECT 1 FROM job WHERE order_key = $11 AND ${LIVE} ORDER BY id DESC LIMIT 1${unit ? ' FOR SHARE' : ''}`

interface Made {
  readonly guid: string
  readonly now: number
  readonly unit: boolean
}

/**
 * Makes the job. False when a live one has its dedupe key; when another transaction is just making that one, this waits
 * for how it ends. Neither is an error, so the transaction goes on. A job without keys is deferred: nothing refuses it.
 */
export async function insertJob(
  transaction: PostgresTransaction,
  job: CheckedJob,
  made: Made,
): Promise<boolean> {
  const { dedupeKey, orderKey } = job
  const { text, values } = insertStatement(job, made)
  if (job.dead) return insertDead(transaction, text, values, job.dead, made)
  if (dedupeKey === null && orderKey === null && !made.unit) {
    transaction.defer({
      statement: () => transaction.statement(text, values),
      perform: async () => void (await transaction.run(text, values)),
    })
    return true
  }
  if (orderKey !== null) await lockOrderKey(transaction, orderKey)
  return (await transaction.rows(text, values)).length > 0
}

function insertStatement(job: CheckedJob, { guid, now, unit }: Made) {
  const { queue, kind, title, payload, runAt, priority, attempts, dedupeKey, orderKey } = job
  return {
    text: `INSERT INTO job (guid, queue, kind, title, payload, priority, run_at, attempts, created, updated, dedupe_key, order_key, held)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11,
       $11::text IS NOT NULL AND EXISTS (${lastOfKey(unit)}))
     ON CONFLICT (dedupe_key) WHERE dedupe_key IS NOT NULL AND ${LIVE} DO NOTHING
     RETURNING id`,
    values: [guid, queue, kind, title, payload, priority, runAt, attempts, now, dedupeKey, orderKey],
  }
}

async function insertDead(
  transaction: PostgresTransaction,
  text: string,
  values: readonly (string | number | null)[],
  { error, failedIn }: NonNullable<CheckedJob['dead']>,
  { guid, now }: Made,
): Promise<boolean> {
  if ((await transaction.rows(text, values)).length === 0) return false
  await transaction.run(
    `UPDATE job SET state = 'dead', held = false, attempt = 1, finished = $2, last_error = $3, failed_in = $4 WHERE guid = $1`,
    [guid, now, error, failedIn],
  )
  return true
}
