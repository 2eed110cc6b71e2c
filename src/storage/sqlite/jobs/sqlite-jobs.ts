/** The queue on SQLite: one table, written through the one writer and its group commit. */

import type { Clock } from '../../../shared/clock.ts'
import { invalidField, QuoinError } from '../../../shared/errors.ts'
import { guidSource, type Random } from '../../../shared/guid.ts'
import { isPromise } from '../../../shared/maybe-promise.ts'
import type { Search } from '../../../shared/query.ts'
import {
  type Claim,
  checkJob,
  errorText,
  type Job,
  type JobLease,
  type JobSummary,
  type Jobs,
  type NewJob,
  type QueueSettings,
  type QueueState,
  queueNameProblem,
} from '../../job.ts'
import { jobColumns } from '../../job-row.ts'
import type { RecordPage } from '../../record-page.ts'
import { guarded, numberOf, type Row, type SqliteConnection } from '../core/sqlite-connection.ts'
import { violatedIndex } from '../core/sqlite-errors.ts'
import type { Segment, SqliteWriter } from '../core/sqlite-writer.ts'
import { claimJobs, endLeases, somethingIsDue } from './sqlite-jobs-claim.ts'
import { ensureQueue, insertJob } from './sqlite-jobs-enqueue.ts'
import { heldBehind, letNextGo } from './sqlite-jobs-order.ts'
import { listQueues } from './sqlite-jobs-queues.ts'
import { jobOf } from './sqlite-jobs-row.ts'
import { searchJobs } from './sqlite-jobs-search.ts'

export interface JobParts {
  readonly writer: SqliteWriter
  readonly reader: SqliteConnection
  readonly clock: Clock
  readonly random: Random
}

/** What a piece of work did, which decides whether anything is committed and whether workers are woken. */
interface Effect {
  wrote: boolean
  wakes: boolean
}

const PURGE_BATCH = 1000

export class SqliteJobs implements Jobs {
  readonly #parts: JobParts
  readonly #guid: () => string
  readonly #listeners = new Set<() => void>()
  #waking = false

  constructor(parts: JobParts) {
    this.#parts = parts
    this.#guid = guidSource(parts.clock, parts.random)
  }

  /** Within a session's turn; the session calls {@link wake} when it is committed. Throws INVALID_BODY. */
  insert(connection: SqliteConnection, job: NewJob): string | undefined {
    const now = this.#parts.clock()
    const checked = checkJob(job, now)
    const guid = this.#guid()
    return insertJob(connection, checked, guid, now) ? guid : undefined
  }

  /** Soon and once, however many ask: this is called in the middle of a commit, where nobody may take the writer. */
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

  async claim(claim: Claim): Promise<readonly Job[]> {
    const now = this.#parts.clock()
    if (claim.limit <= 0 || !this.#read((connection) => somethingIsDue(connection, now))) return []
    return this.#write((connection, effect) => {
      const ended = endLeases(connection, now)
      const jobs = claimJobs(connection, claim, now)
      effect.wrote = ended > 0 || jobs.length > 0
      return jobs
    })
  }

  renew(lease: JobLease, leaseMs: number): Promise<boolean> {
    const until = this.#parts.clock() + leaseMs
    return this.#changeLeased(lease, 'lease_until = ?', until)
  }

  complete(lease: JobLease): Promise<boolean> {
    const now = this.#parts.clock()
    const change = `state = 'done', lease_until = 0, last_error = NULL, finished = ?, updated = ?, version = version + 1`
    return this.#endLeased(lease, change, now, now)
  }

  fail(lease: JobLease, message: string, retryAt?: number): Promise<boolean> {
    const now = this.#parts.clock()
    const error = errorText(message)
    if (retryAt === undefined) {
      const dead = `state = 'dead', lease_until = 0, last_error = ?, finished = ?, updated = ?, version = version + 1`
      return this.#endLeased(lease, dead, error, now, now)
    }
    const again = `state = 'waiting', lease_until = 0, owner = '', last_error = ?, run_at = ?, updated = ?, version = version + 1`
    return this.#changeLeased(lease, again, error, retryAt, now)
  }

  release(leases: readonly JobLease[]): Promise<number> {
    const now = this.#parts.clock()
    const change = `state = 'waiting', lease_until = 0, owner = '', attempt = attempt - 1, updated = ?, version = version + 1`
    return this.#write((connection, effect) => {
      const released = leases.filter((lease) => changeLeased(connection, lease, change, [now]) !== undefined)
      effect.wrote = effect.wakes = released.length > 0
      return released.length
    })
  }

  get(guid: string): Job | undefined {
    return this.#read((connection) => {
      const row = connection.get(`SELECT ${jobColumns} FROM job WHERE guid = ?`, guid)
      return row && jobOf(row)
    })
  }

  search(search: Search): RecordPage<JobSummary> {
    return this.#read((connection) => searchJobs(connection, search))
  }

  requeue(guid: string): Promise<Job | undefined> {
    const now = this.#parts.clock()
    return this.#write((connection, effect) => {
      const row = connection.get('SELECT state, order_key FROM job WHERE guid = ?', guid)
      if (row === undefined) return undefined
      if (row.state !== 'dead')
        throw new QuoinError('CONFLICT', `The job is ${row.state}. Only a dead job can be requeued.`)
      const held = heldBehind(connection, typeof row.order_key === 'string' ? row.order_key : null)
      effect.wrote = effect.wakes = true
      try {
        const requeued = connection.get(
          `UPDATE job SET state = 'waiting', held = ?, run_at = ?, attempt = 0, finished = 0, owner = '', updated = ?, version = version + 1
           WHERE guid = ? RETURNING ${jobColumns}`,
          held,
          now,
          now,
          guid,
        )
        return requeued && jobOf(requeued)
      } catch (error) {
        throw isDedupe(error) ? dedupeTaken() : error
      }
    })
  }

  cancel(guid: string): Promise<Job | undefined> {
    return this.#write((connection, effect) => {
      const row = connection.get(`DELETE FROM job WHERE guid = ? RETURNING held, ${jobColumns}`, guid)
      if (row === undefined) return undefined
      const job = jobOf(row)
      effect.wrote = true
      const live = job.state === 'waiting' || job.state === 'running'
      if (live && numberOf(row, 'held') === 0) effect.wakes = letNextGo(connection, row.order_key)
      return job
    })
  }

  queues(): readonly QueueState[] {
    const now = this.#parts.clock()
    return this.#read((connection) => listQueues(connection, now))
  }

  configure(queue: string, { paused, concurrency }: QueueSettings): Promise<QueueState> {
    const problem = queueNameProblem(queue)
    if (problem) throw new QuoinError('INVALID_BODY', `The queue name ${JSON.stringify(queue)} ${problem}.`)
    if (typeof concurrency === 'number' && !(Number.isSafeInteger(concurrency) && concurrency >= 1))
      throw invalidField('concurrency', 'concurrency must be a whole number from 1, or null for no limit.')
    const now = this.#parts.clock()
    return this.#write((connection, effect) => {
      effect.wrote = effect.wakes = true
      ensureQueue(connection, queue)
      if (paused !== undefined)
        connection.run('UPDATE queue SET paused = ? WHERE name = ?', paused ? 1 : 0, queue)
      if (concurrency !== undefined)
        connection.run('UPDATE queue SET concurrency = ? WHERE name = ?', concurrency, queue)
      const [state] = listQueues(connection, now, queue)
      if (state === undefined) throw new Error('The queue is not there.')
      return state
    })
  }

  async purge(doneBefore: number): Promise<number> {
    let purged = 0
    for (;;) {
      // In batches, so that others have the writer in between.
      const batch = await this.#write((connection, effect) => {
        const gone = connection.all(
          `DELETE FROM job WHERE id IN (SELECT id FROM job WHERE state = 'done' AND finished < ? LIMIT ?) RETURNING id`,
          doneBefore,
          PURGE_BATCH,
        )
        effect.wrote = gone.length > 0
        return gone.length
      })
      purged += batch
      if (batch < PURGE_BATCH) break
    }
    await this.#write((connection, effect) => {
      const gone = connection.all(
        `DELETE FROM queue WHERE paused = 0 AND concurrency IS NULL
         AND NOT EXISTS (SELECT 1 FROM job WHERE job.queue = queue.name) RETURNING name`,
      )
      effect.wrote = gone.length > 0
    })
    return purged
  }

  #read<T>(work: (connection: SqliteConnection) => T): T {
    const { writer, reader } = this.#parts
    return guarded(() => work(writer.idle ? writer.connection : reader), writer.noteFailure)
  }

  #changeLeased(lease: JobLease, change: string, ...values: (string | number)[]): Promise<boolean> {
    return this.#write((connection, effect) => {
      effect.wrote = changeLeased(connection, lease, change, values) !== undefined
      return effect.wrote
    })
  }

  /** The same where the job is no longer live afterwards. */
  #endLeased(lease: JobLease, change: string, ...values: (string | number)[]): Promise<boolean> {
    return this.#write((connection, effect) => {
      const row = changeLeased(connection, lease, change, values)
      effect.wrote = row !== undefined
      if (row) effect.wakes = letNextGo(connection, row.order_key)
      return effect.wrote
    })
  }

  /** One transaction of its own; resolves when it is durable. What the work throws leaves nothing behind. */
  async #write<T>(work: (connection: SqliteConnection, effect: Effect) => T): Promise<T> {
    const { writer } = this.#parts
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

/** The fence: only who still has the lease, by owner and attempt. Gives the row's order key. */
function changeLeased(
  connection: SqliteConnection,
  { guid, owner, attempt }: JobLease,
  change: string,
  values: readonly (string | number)[],
): Row | undefined {
  return connection.get(
    `UPDATE job SET ${change} WHERE guid = ? AND state = 'running' AND owner = ? AND attempt = ? RETURNING order_key`,
    ...values,
    guid,
    owner,
    attempt,
  )
}

function isDedupe(error: unknown): boolean {
  return (
    violatedIndex(error) !== undefined || (error instanceof Error && /job\.dedupe_key/.test(error.message))
  )
}

function dedupeTaken(): QuoinError {
  return new QuoinError('CONFLICT', 'Another job with the same dedupe key is waiting or running.')
}
