import type { CheckedJob } from '../../job.ts'
import { jobRows } from '../../job-row.ts'
import { numberOf, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'

// Jobs with one order key run one after the other. Of those that are live exactly one is not held: the one that may run,
// or is running. The call that ends it lets the next one go; so finding a job that may run costs the same however many wait.

const LIVE = `state IN ('waiting', 'running')`

/** 1 when a live job has the key already: a new one has to wait for it. */
export function queuedBehind(connection: SqliteConnection, orderKey: string | null): 0 | 1 {
  if (orderKey === null) return 0
  return connection.get(`SELECT 1 FROM job WHERE order_key = ? AND ${LIVE} LIMIT 1`, orderKey) ? 1 : 0
}

/** After the one that was not held is no longer live. True when another may run now. */
export function letNextGo(connection: SqliteConnection, orderKey: unknown): boolean {
  if (typeof orderKey !== 'string') return false
  const next = connection.get(
    `UPDATE job SET held = 0 WHERE id = (SELECT min(id) FROM job WHERE order_key = ? AND ${LIVE}) RETURNING id`,
    orderKey,
  )
  return next !== undefined
}

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
    queuedBehind(connection, orderKey),
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

export const { summaryOf, jobOf, statesOf } = jobRows({ numberOf, textOf })
