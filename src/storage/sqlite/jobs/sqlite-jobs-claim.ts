/** Who gets which job. */
import type { Claim, Job } from '../../job.ts'
import { jobColumns } from '../../job-row.ts'
import { numberOf, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { ROWS } from '../sql/sql-values.ts'
import { jobOf, letNextGo } from './sqlite-jobs-enqueue.ts'

const LEASE_OVER = 'The worker that ran it stopped answering: its lease ran out.'

/** Whether `claimJobs` might find something. A read, so that workers with nothing to do do not take the writer. */
export function somethingIsDue(connection: SqliteConnection, now: number): boolean {
  const row = connection.get(
    `SELECT EXISTS (SELECT 1 FROM job WHERE state = 'running' AND lease_until <= ?)
         OR EXISTS (SELECT 1 FROM queue WHERE paused = 0 AND EXISTS (
              SELECT 1 FROM job INDEXED BY job_due
              WHERE queue = queue.name AND state = 'waiting' AND held = 0 AND run_at <= ?)) AS due`,
    now,
    now,
  )
  return row !== undefined && numberOf(row, 'due') === 1
}

/** Jobs whose owner did not renew: waiting again, or dead after the last attempt. */
export function endLeases(
  connection: SqliteConnection,
  now: number,
): { readonly ended: number; readonly dead: readonly Job[] } {
  const dead = connection.all(
    `UPDATE job SET state = 'dead', finished = ?, updated = ?, lease_until = 0, last_error = ?, failed_in = NULL, version = version + 1
     WHERE state = 'running' AND lease_until <= ? AND attempt >= attempts RETURNING ${jobColumns}`,
    now,
    now,
    LEASE_OVER,
    now,
  )
  for (const row of dead) letNextGo(connection, row.order_key)
  const waiting = connection.all(
    `UPDATE job SET state = 'waiting', updated = ?, lease_until = 0, owner = '', last_error = ?, failed_in = NULL, version = version + 1
     WHERE state = 'running' AND lease_until <= ? RETURNING id`,
    now,
    LEASE_OVER,
    now,
  )
  return { ended: dead.length + waiting.length, dead: dead.map(jobOf) }
}

interface DueQueue {
  /** Row numbers, the first to run first. */
  readonly due: number[]
  /** Since when the first one is due. */
  readonly since: number
  running: number
}

/** One row after the other, in the order of claims: a statement for all of them would take them in the order of their numbers. */
export function claimJobs(connection: SqliteConnection, claim: Claim, now: number): Job[] {
  const queues = dueQueues(connection, claim, now)
  const jobs: Job[] = []
  while (jobs.length < claim.limit) {
    const queue = nextQueue(queues)
    const id = queue?.due.shift()
    if (queue === undefined || id === undefined) break
    queue.running += 1
    const row = connection.get(
      `UPDATE job SET state = 'running', owner = ?, attempt = attempt + 1, started = ?, updated = ?, lease_until = ?, version = version + 1
       WHERE id = ? RETURNING ${jobColumns}`,
      claim.owner,
      now,
      now,
      now + claim.leaseMs,
      id,
    )
    if (row !== undefined) jobs.push(jobOf(row))
  }
  return jobs
}

/** The queue with the fewest jobs running, so that a long one leaves room for the others; then what waits longest. */
function nextQueue(queues: readonly DueQueue[]): DueQueue | undefined {
  return queues
    .filter((queue) => queue.due.length > 0)
    .reduce<DueQueue | undefined>((best, queue) => {
      if (best === undefined || queue.running < best.running) return queue
      return queue.running === best.running && queue.since < best.since ? queue : best
    }, undefined)
}

function dueQueues(connection: SqliteConnection, { limit, rooms }: Claim, now: number): DueQueue[] {
  const found: DueQueue[] = []
  for (const row of connection.all('SELECT name, concurrency FROM queue WHERE paused = 0')) {
    const name = textOf(row, 'name')
    const due = connection.get(
      `SELECT run_at FROM job INDEXED BY job_due
       WHERE queue = ? AND state = 'waiting' AND held = 0 AND run_at <= ? ORDER BY run_at LIMIT 1`,
      name,
      now,
    )
    if (due === undefined) continue
    const running = numberOf(
      connection.get(`SELECT count(*) AS n FROM job WHERE queue = ? AND state = 'running'`, name) ?? {},
      'n',
    )
    const left = typeof row.concurrency === 'number' ? row.concurrency - running : limit
    const most = Math.min(left, rooms?.get(name) ?? limit)
    if (most <= 0) continue
    const first = connection.all(
      `SELECT id FROM job INDEXED BY job_claim
       WHERE queue = ? AND state = 'waiting' AND held = 0 AND run_at <= ?
       ORDER BY priority DESC, run_at, id LIMIT ${ROWS}`,
      name,
      now,
      Math.min(most, limit),
    )
    found.push({ due: first.map((one) => numberOf(one, 'id')), since: numberOf(due, 'run_at'), running })
  }
  return found
}
