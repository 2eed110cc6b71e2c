/** Who gets which job. */

import { isPromise } from '../../../shared/maybe-promise.ts'
import type { CheckedJob, Claim, Job } from '../../job.ts'
import { jobColumns, jobRows } from '../../job-row.ts'
import type { Segment } from '../core/group-commit.ts'
import { guarded, numberOf, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import type { SqliteWriter } from '../core/sqlite-writer.ts'
import { ROWS } from '../sql/sql-values.ts'

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

// Reads and writes of the queue's tables, through the one writer, and who is told when there is something to do.

/** What a piece of work did, which decides whether anything is committed and whether workers are woken. */
interface Effect {
  wrote: boolean
  wakes: boolean
}

interface JobConnections {
  readonly writer: SqliteWriter
  readonly reader: SqliteConnection
}

export class JobWork {
  readonly #connections: JobConnections
  readonly #listeners = new Set<() => void>()
  #waking = false

  constructor(connections: JobConnections) {
    this.#connections = connections
  }

  /** Soon, and once for any number of calls: it is called in the middle of a commit, where no code may take the writer. */
  wake(): void {
    if (this.#waking) return
    this.#waking = true
    queueMicrotask(() => {
      this.#waking = false
      for (const listener of this.#listeners) listener()
    })
  }

  onEnqueued(listener: () => void): () => void {
    // In a function of its own, so that one function can listen twice and end once.
    const own = () => listener()
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  read<T>(work: (connection: SqliteConnection) => T): T {
    const { writer, reader } = this.#connections
    return guarded(() => work(writer.idle ? writer.connection : reader), writer.noteFailure)
  }

  /** One transaction of its own; resolves when it is durable. What the work throws leaves nothing behind. */
  async write<T>(work: (connection: SqliteConnection, effect: Effect) => T): Promise<T> {
    const { writer } = this.#connections
    const effect: Effect = { wrote: false, wakes: false }
    const segment: Segment = {
      granted: () => undefined,
      lost: () => undefined,
      settled: (error) => {
        if (error === undefined && effect.wakes) this.wake()
      },
    }
    const turn = writer.take(segment)
    if (isPromise(turn)) await turn
    let result: T
    try {
      result = writer.operate(segment, (connection) => work(connection, effect))
    } catch (error) {
      await writer.undo(segment)
      throw error
    }
    if (effect.wrote) await writer.keep(segment)
    else await writer.undo(segment)
    return result
  }
}
