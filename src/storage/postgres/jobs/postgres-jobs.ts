/** The queue on PostgreSQL: one table that all nodes claim from. What overlapping transactions do: postgres-jobs-enqueue.ts. */
import type { Clock } from '../../../shared/clock.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { isGuid } from '../../../shared/guid.ts'
import type { Search } from '../../../shared/query.ts'
import type { RecordPage } from '../../../shared/record-page.ts'
import {
  type Claim,
  checkJob,
  errorText,
  type FailedIn,
  type Job,
  type JobLease,
  type JobState,
  type JobSummary,
  type Jobs,
  type NewJob,
} from '../../job.ts'
import { jobColumns } from '../../job-row.ts'
import type { PostgresPool } from '../core/postgres-connection.ts'
import { isDuplicate } from '../core/postgres-errors.ts'
import type { PostgresTransaction } from '../core/postgres-transaction.ts'
import { numberOf, type PostgresConnection } from '../core/rows.ts'
import { endLeases, findDue, lockQueues, takeJobs } from './postgres-jobs-claim.ts'
import {
  type EndedJob,
  endedBefore,
  endInTransaction,
  freeNext,
  LEASED,
  leaseValues,
  lockRow,
} from './postgres-jobs-end.ts'
import {
  endAndLetNextGo,
  insertJob,
  jobOf,
  LIVE,
  lockOrderKey,
  searchJobs,
  statesOf,
} from './postgres-jobs-enqueue.ts'
import type { JobEvents } from './postgres-jobs-queues.ts'

export interface JobParts {
  readonly pool: PostgresPool
  readonly clock: Clock
  readonly guid: () => string
  readonly news: JobEvents
}

export class PostgresJobs implements Jobs {
  readonly #pool: PostgresPool
  readonly #clock: Clock
  readonly #guid: () => string
  readonly #news: JobEvents

  constructor({ pool, clock, guid, news }: JobParts) {
    this.#pool = pool
    this.#clock = clock
    this.#guid = guid
    this.#news = news
  }

  /** Within a session's transaction, `unit`: that of a unit of work; the session calls {@link committed} when it is committed. Throws INVALID_BODY. */
  async insert(transaction: PostgresTransaction, job: NewJob, unit = false): Promise<string | undefined> {
    const now = this.#clock()
    const checked = checkJob(job, now)
    const guid = this.#guid()
    return (await insertJob(transaction, checked, { guid, now, unit })) ? guid : undefined
  }

  /** Before a unit of work reads: see `postgres-jobs-end.ts`. */
  lock(transaction: PostgresTransaction, lease: JobLease): Promise<string | undefined> {
    return lockRow(this.#pool.reading, transaction, lease)
  }

  /** Within a session's transaction; the session calls {@link ended} when it is committed. */
  end(transaction: PostgresTransaction, lease: JobLease, place?: string): Promise<EndedJob | undefined> {
    return endInTransaction(transaction, lease, this.#clock(), place)
  }

  /** What fails here is done by a later claim. */
  async ended({ lease, orderKey }: EndedJob): Promise<void> {
    if (orderKey === undefined) return
    const freed = this.#transact((connection) => freeNext(connection, lease.guid, orderKey))
    if (await freed.catch(() => false)) this.committed()
  }

  /** After a commit that gave workers something to do. */
  committed(): void {
    this.#news.committed()
  }

  onEnqueued(listener: () => void): () => void {
    return this.#news.listen(listener)
  }

  async claim(claim: Claim): Promise<readonly Job[]> {
    const now = this.#clock()
    if (claim.limit <= 0) return []
    let due = await findDue(this.#pool.reading, claim, now)
    if (due.leasesOver) {
      const { freed, dead } = await this.#transact((connection) => endLeases(connection, now))
      if (freed) this.committed()
      for (const job of dead) claim.died?.(job)
      for (const { guid, orderKey } of await endedBefore(this.#pool.reading, now))
        await this.#transact((connection) => freeNext(connection, guid, orderKey))
      due = await findDue(this.#pool.reading, claim, now)
    }
    if (!due.queues.some(({ limited }) => limited)) return takeJobs(this.#pool, due.queues, claim, now)
    const locked = due.queues.filter(({ limited }) => limited).map(({ name }) => name)
    return this.#transact(async (connection) => {
      await lockQueues(connection, locked)
      const { queues } = await findDue(connection, claim, now)
      // One that was given a concurrency meanwhile is not locked.
      const ours = queues.filter(({ name, limited }) => !limited || locked.includes(name))
      return takeJobs(connection, ours, claim, now)
    })
  }

  /** A row that the transaction of its run has locked needs no renewal: no claim takes it. */
  async renew(lease: JobLease, leaseMs: number): Promise<boolean> {
    const values = leaseValues(lease)
    const renewed = await this.#pool.run(
      `UPDATE job SET lease_until = $4 WHERE id = (SELECT id FROM job WHERE ${LEASED} FOR NO KEY UPDATE SKIP LOCKED)`,
      [...values, this.#clock() + leaseMs],
    )
    if (renewed > 0) return true
    return (await this.#pool.rows(`SELECT 1 FROM job WHERE ${LEASED}`, values)).length > 0
  }

  complete(lease: JobLease): Promise<boolean> {
    const change = `state = 'done', lease_until = 0, last_error = NULL, failed_in = NULL, finished = $4, updated = $4, version = version + 1`
    return this.#endLeased(lease, change, this.#clock())
  }

  fail(lease: JobLease, message: string, retryAt?: number, failedIn?: FailedIn): Promise<boolean> {
    const now = this.#clock()
    const error = errorText(message)
    const run = failedIn ? JSON.stringify(failedIn) : null
    if (retryAt === undefined) {
      const dead = `state = 'dead', lease_until = 0, last_error = $5, failed_in = $6, finished = $4, updated = $4, version = version + 1`
      return this.#endLeased(lease, dead, now, error, run)
    }
    const again = `state = 'waiting', lease_until = 0, owner = '', last_error = $5, failed_in = $6, run_at = $7, updated = $4, version = version + 1`
    return this.#changeLeased(lease, again, now, error, run, retryAt)
  }

  async release(leases: readonly JobLease[], later?: number): Promise<number> {
    const released = await this.#pool.run(
      `UPDATE job SET state = 'waiting', lease_until = 0, owner = '', attempt = job.attempt - 1, updated = $4,
         run_at = coalesce($5::bigint, job.run_at), version = version + 1
       WHERE id = ANY (ARRAY(
         SELECT id FROM job JOIN unnest($1::text[], $2::text[], $3::integer[]) AS lease (guid, owner, attempt)
           USING (guid, owner, attempt)
         WHERE state = 'running' ORDER BY id FOR UPDATE OF job))`,
      [
        leases.map(({ guid }) => guid),
        leases.map(({ owner }) => owner),
        leases.map(({ attempt }) => attempt),
        this.#clock(),
        later ?? null,
      ],
    )
    if (released > 0 && later === undefined) this.committed()
    return released
  }

  async get(guid: string): Promise<Job | undefined> {
    if (!isGuid(guid)) return undefined
    const [row] = await this.#pool.reading.rows(`SELECT ${jobColumns} FROM job WHERE guid = $1`, [guid])
    return row && jobOf(row)
  }

  async states(guids: readonly string[]): Promise<ReadonlyMap<string, JobState>> {
    const text = 'SELECT guid, state FROM job WHERE guid = ANY ($1::text[])'
    return statesOf(await this.#pool.reading.rows(text, [guids.filter(isGuid)]))
  }

  search(search: Search): Promise<RecordPage<JobSummary>> {
    return searchJobs(this.#pool.reading, search)
  }

  async requeue(guid: string): Promise<Job | undefined> {
    const now = this.#clock()
    const job = await this.#withKeyOf(guid, async (connection) => {
      const [row] = await connection.rows('SELECT state FROM job WHERE guid = $1 FOR UPDATE', [guid])
      if (row === undefined) return undefined
      if (row.state !== 'dead')
        throw new QuoinError('CONFLICT', `The job is ${row.state}. Only a dead job can be requeued.`)
      const [requeued] = await connection.rows(
        `UPDATE job SET state = 'waiting', run_at = $2, attempt = 0, finished = 0, owner = '', updated = $2, version = version + 1,
           held = EXISTS (SELECT 1 FROM job AS other WHERE other.order_key = job.order_key AND other.${LIVE})
         WHERE guid = $1 RETURNING ${jobColumns}`,
        [guid, now],
      )
      return requeued && jobOf(requeued)
    }).catch((error: unknown) => {
      // The only unique index that a requeue can meet is that of dedupe keys.
      throw isDuplicate(error) ? dedupeTaken() : error
    })
    if (job) this.committed()
    return job
  }

  async cancel(guid: string, { unbegun } = { unbegun: false }): Promise<Job | undefined> {
    const found = await this.#transact((connection) => this.delete(connection, guid, unbegun))
    if (found?.freed) this.committed()
    return found?.job
  }

  /** In a transaction. `freed`: another one of its order key may run now. */
  async delete(connection: PostgresConnection, guid: string, unbegun = false) {
    const only = unbegun ? "AND state = 'waiting' AND attempt = 0" : ''
    return this.#underKeyOf(connection, guid, async () => {
      const columns = `ended.held, ${jobColumns.replace(/\w+/g, 'ended.$&')}`
      const [row] = await connection.rows(
        endAndLetNextGo(
          `DELETE FROM job WHERE guid = $1 ${only}`,
          columns,
          `(ended.${LIVE} OR ended.lease_until > 0)`,
        ),
        [guid],
      )
      return row && { job: jobOf(row), freed: row.next !== null }
    })
  }

  async #changeLeased(
    lease: JobLease,
    change: string,
    ...values: (string | number | null)[]
  ): Promise<boolean> {
    const text = `UPDATE job SET ${change} WHERE ${LEASED}`
    return (await this.#pool.run(text, [...leaseValues(lease), ...values])) > 0
  }

  /**
   * The same where the job is no longer live afterwards. Without an order key, which the first statement finds out, that
   * is all; with one its lock comes first.
   */
  async #endLeased(lease: JobLease, change: string, ...values: (string | number | null)[]): Promise<boolean> {
    const all = [...leaseValues(lease), ...values]
    const update = `UPDATE job SET ${change} WHERE ${LEASED}`
    const [row] = await this.#pool.rows(
      `WITH ended AS (${update} AND order_key IS NULL RETURNING 1)
       SELECT (SELECT count(*) FROM ended) AS ended, (SELECT order_key FROM job WHERE ${LEASED}) AS order_key`,
      all,
    )
    if (row !== undefined && numberOf(row, 'ended') > 0) return true
    const key = row?.order_key
    if (typeof key !== 'string') return false
    const [ended] = await this.#transact(async (connection) => {
      await lockOrderKey(connection, key)
      return connection.rows(endAndLetNextGo(update), all)
    })
    if (ended !== undefined && ended.next !== null) this.committed()
    return ended !== undefined
  }

  /** A transaction during which no other one enqueues or ends a job with this job's order key. A job keeps its key. */
  async #withKeyOf<T>(
    guid: string,
    work: (connection: PostgresConnection) => Promise<T>,
  ): Promise<T | undefined> {
    if (!isGuid(guid)) return undefined
    return this.#transact((connection) => this.#underKeyOf(connection, guid, () => work(connection)))
  }

  async #underKeyOf<T>(
    connection: PostgresConnection,
    guid: string,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    if (!isGuid(guid)) return undefined
    const [row] = await connection.rows('SELECT order_key FROM job WHERE guid = $1', [guid])
    if (typeof row?.order_key === 'string') await lockOrderKey(connection, row.order_key)
    return row && work()
  }

  async #transact<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const transaction = this.#pool.transaction()
    try {
      const result = await work(transaction)
      await transaction.commit()
      return result
    } catch (error) {
      await transaction.rollback()
      throw error
    }
  }
}

function dedupeTaken(): QuoinError {
  return new QuoinError('CONFLICT', 'Another job with the same dedupe key is waiting or running.')
}
