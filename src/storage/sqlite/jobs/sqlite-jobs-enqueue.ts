import type { CheckedJob } from '../../job.ts'
import type { SqliteConnection } from '../core/sqlite-connection.ts'
import { heldBehind } from './sqlite-jobs-order.ts'

/** Makes the job. False when a live one has its dedupe key. */
export function insertJob(connection: SqliteConnection, job: CheckedJob, guid: string, now: number): boolean {
  const { queue, kind, title, payload, runAt, priority, attempts, dedupeKey, orderKey } = job
  const inserted = connection.get(
    `INSERT INTO job (guid, queue, kind, title, payload, held, priority, run_at, attempts, created, updated, dedupe_key, order_key)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (dedupe_key) WHERE dedupe_key IS NOT NULL AND state IN ('waiting', 'running') DO NOTHING
     RETURNING id`,
    guid,
    queue,
    kind,
    title,
    payload,
    heldBehind(connection, orderKey),
    priority,
    runAt,
    attempts,
    now,
    now,
    dedupeKey,
    orderKey,
  )
  if (inserted === undefined) return false
  if (job.dead)
    connection.run(
      `UPDATE job SET state = 'dead', held = 0, attempt = 1, finished = ?, last_error = ?, failed_in = ? WHERE guid = ?`,
      now,
      job.dead.error,
      job.dead.failedIn,
      guid,
    )
  ensureQueue(connection, queue)
  return true
}

export function ensureQueue(connection: SqliteConnection, queue: string): void {
  connection.run('INSERT INTO queue (name) VALUES (?) ON CONFLICT DO NOTHING', queue)
}
