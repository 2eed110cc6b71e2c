/** The queue on SQLite: one table, written through the one writer and its group commit. */
import type { Clock } from '../../../shared/clock.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { guidSource, type Random } from '../../../shared/guid.ts'
import type { Scalar, Search } from '../../../shared/query.ts'
import type { RecordPage } from '../../../shared/record-page.ts'
import {
  type Claim,
  checkJob,
  errorText,
  type FailedIn,
  type Job,
  type JobField,
  type JobLease,
  type JobState,
  type JobSummary,
  type Jobs,
  type NewJob,
} from '../../job.ts'
import { jobColumns } from '../../job-row.ts'
import { compileJobSearch, type JobValues } from '../../job-search.ts'
import type { SqlValue } from '../../search/compiled-sql.ts'
import { numberOf, type Row, type SqliteConnection } from '../core/sqlite-connection.ts'
import { violatedIndex } from '../core/sqlite-errors.ts'
import { value } from '../sql/sql-values.ts'
import {
  claimJobs,
  endLeases,
  insertJob,
  type JobWork,
  jobOf,
  letNextGo,
  queuedBehind,
  somethingIsDue,
  statesOf,
  summaryOf,
} from './sqlite-jobs-claim.ts'

// Searches over the job table on SQLite, which would take the text '2' for the number 2 beside a column of numbers.

const values: JobValues = {
  value,
  bound: (type, one) => value(fitting(type, one)),
  anyOf: (read, type, all) => ({
    sql: `${read} IN (${all.map(() => '?').join(', ')})`,
    parameters: all.map((one) => fitting(type, one)),
  }),
}

function searchJobs(connection: SqliteConnection, search: Search): RecordPage<JobSummary> {
  const { page, count, next } = compileJobSearch(search, values)
  const jobs = connection.all(page.sql, ...page.parameters).map(summaryOf)
  const total = numberOf(connection.get(count.sql, ...count.parameters) ?? {}, 'n')
  return { records: jobs, total, next: next(jobs) }
}

function fitting(type: JobField['type'], one: Scalar | null): SqlValue {
  return typeof one === 'boolean' || typeof one !== type ? null : one
}

const DONE = `state = 'done', lease_until = 0, last_error = NULL, failed_in = NULL, finished = ?, updated = ?, version = version + 1`

export class SqliteJobs implements Jobs {
  readonly #work: JobWork
  readonly #clock: Clock
  readonly #guid: () => string

  constructor(work: JobWork, clock: Clock, random: Random) {
    this.#work = work
    this.#clock = clock
    this.#guid = guidSource(clock, random)
  }

  /** Within a session's turn; the session calls {@link wake} when it is committed. Throws INVALID_BODY. */
  insert(connection: SqliteConnection, job: NewJob): string | undefined {
    const now = this.#clock()
    const checked = checkJob(job, now)
    const guid = this.#guid()
    return insertJob(connection, checked, guid, now) ? guid : undefined
  }

  /** Within a session's turn: the end of a job that commits with what its run wrote. */
  end(connection: SqliteConnection, lease: JobLease): { readonly ended: boolean; readonly freed: boolean } {
    const now = this.#clock()
    const row = changeLeased(connection, lease, DONE, [now, now])
    return { ended: row !== undefined, freed: row !== undefined && letNextGo(connection, row.order_key) }
  }

  /** Within a turn. `freed`: another one of its order key may run now. */
  delete(
    connection: SqliteConnection,
    guid: string,
    unbegun = false,
  ): { readonly job: Job | undefined; readonly freed: boolean } {
    const only = unbegun ? "AND state = 'waiting' AND attempt = 0" : ''
    const row = connection.get(`DELETE FROM job WHERE guid = ? ${only} RETURNING held, ${jobColumns}`, guid)
    if (row === undefined) return { job: undefined, freed: false }
    const job = jobOf(row)
    const live = job.state === 'waiting' || job.state === 'running'
    const freed = live && numberOf(row, 'held') === 0 && letNextGo(connection, row.order_key)
    return { job, freed }
  }

  /** Called in the middle of a commit. */
  wake(): void {
    this.#work.wake()
  }

  onEnqueued(listener: () => void): () => void {
    return this.#work.onEnqueued(listener)
  }

  async claim(claim: Claim): Promise<readonly Job[]> {
    const now = this.#clock()
    if (claim.limit <= 0 || !this.#work.read((connection) => somethingIsDue(connection, now))) return []
    const { dead, jobs } = await this.#work.write((connection, effect) => {
      const { ended, dead } = endLeases(connection, now)
      const jobs = claimJobs(connection, claim, now)
      effect.wrote = ended > 0 || jobs.length > 0
      return { dead, jobs }
    })
    for (const job of dead) claim.died?.(job)
    return jobs
  }

  renew(lease: JobLease, leaseMs: number): Promise<boolean> {
    const until = this.#clock() + leaseMs
    return this.#changeLeased(lease, 'lease_until = ?', until)
  }

  complete(lease: JobLease): Promise<boolean> {
    const now = this.#clock()
    return this.#endLeased(lease, DONE, now, now)
  }

  fail(lease: JobLease, message: string, retryAt?: number, failedIn?: FailedIn): Promise<boolean> {
    const now = this.#clock()
    const error = errorText(message)
    const run = failedIn ? JSON.stringify(failedIn) : null
    if (retryAt === undefined) {
      const dead = `state = 'dead', lease_until = 0, last_error = ?, failed_in = ?, finished = ?, updated = ?, version = version + 1`
      return this.#endLeased(lease, dead, error, run, now, now)
    }
    const again = `state = 'waiting', lease_until = 0, owner = '', last_error = ?, failed_in = ?, run_at = ?, updated = ?, version = version + 1`
    return this.#changeLeased(lease, again, error, run, retryAt, now)
  }

  release(leases: readonly JobLease[], later?: number): Promise<number> {
    const now = this.#clock()
    const change = `state = 'waiting', lease_until = 0, owner = '', attempt = attempt - 1, run_at = coalesce(?, run_at), updated = ?, version = version + 1`
    const values = [later ?? null, now]
    return this.#work.write((connection, effect) => {
      const released = leases.filter((lease) => changeLeased(connection, lease, change, values) !== undefined)
      effect.wrote = released.length > 0
      effect.wakes = effect.wrote && later === undefined
      return released.length
    })
  }

  get(guid: string): Job | undefined {
    return this.#work.read((connection) => {
      const row = connection.get(`SELECT ${jobColumns} FROM job WHERE guid = ?`, guid)
      return row && jobOf(row)
    })
  }

  states(guids: readonly string[]): ReadonlyMap<string, JobState> {
    const text = 'SELECT guid, state FROM job WHERE guid IN (SELECT value FROM json_each(?))'
    return statesOf(this.#work.read((connection) => connection.all(text, JSON.stringify(guids))))
  }

  search(search: Search): RecordPage<JobSummary> {
    return this.#work.read((connection) => searchJobs(connection, search))
  }

  requeue(guid: string): Promise<Job | undefined> {
    const now = this.#clock()
    return this.#work.write((connection, effect) => {
      const row = connection.get('SELECT state, order_key FROM job WHERE guid = ?', guid)
      if (row === undefined) return undefined
      if (row.state !== 'dead')
        throw new QuoinError('CONFLICT', `The job is ${row.state}. Only a dead job can be requeued.`)
      const held = queuedBehind(connection, typeof row.order_key === 'string' ? row.order_key : null)
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

  cancel(guid: string, { unbegun } = { unbegun: false }): Promise<Job | undefined> {
    return this.#work.write((connection, effect) => {
      const { job, freed } = this.delete(connection, guid, unbegun)
      effect.wrote = job !== undefined
      effect.wakes = freed
      return job
    })
  }

  #changeLeased(lease: JobLease, change: string, ...values: (string | number | null)[]): Promise<boolean> {
    return this.#work.write((connection, effect) => {
      effect.wrote = changeLeased(connection, lease, change, values) !== undefined
      return effect.wrote
    })
  }

  /** The same where the job is no longer live afterwards. */
  #endLeased(lease: JobLease, change: string, ...values: (string | number | null)[]): Promise<boolean> {
    return this.#work.write((connection, effect) => {
      const row = changeLeased(connection, lease, change, values)
      effect.wrote = row !== undefined
      if (row) effect.wakes = letNextGo(connection, row.order_key)
      return effect.wrote
    })
  }
}

/** The fence: only who still has the lease, by owner and attempt. Gives the row's order key. */
function changeLeased(
  connection: SqliteConnection,
  { guid, owner, attempt }: JobLease,
  change: string,
  values: readonly (string | number | null)[],
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
