import type { Search } from '../../../shared/query.ts'
import type { RecordPage } from '../../../shared/record-page.ts'
import type { CheckedJob, JobSummary } from '../../job.ts'
import { jobRows } from '../../job-row.ts'
import { compileJobSearch, type JobValues } from '../../job-search.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import type { PostgresTransaction } from '../core/postgres-transaction.ts'
import { numberOf, type PostgresConnection, type Row, textOf } from '../core/rows.ts'
import { numbers, statement, texts, value } from '../sql/field-sql.ts'

// Jobs with one order key run one after the other. Of those that are live exactly one is not held: the one that may run,
// or is running. The call that ends it lets the next one go; so finding a job that may run costs the same however many
// wait.
// Several transactions may do this at once, and each sees only what the others have committed. So a session that enqueues
// or ends a job with a key first takes a lock on the key, which lasts until its transaction ends. The number of
// the new job is drawn under that lock: the order of enqueueing is the order of commits, also when transactions overlap.
// Keys whose hashes are equal (one pair in 2^64) wait for each other without need, and nothing else happens.
// What it costs: ending a job of a key waits for the session that is just enqueueing another one of it, until that has
// committed (idle ones are undone after 5 s; what a node leaves behind that is cut off, by PostgreSQL after 15 s).
// Deadlocks: a transaction that ends jobs takes one key, and takes it before any row, so it cannot be part of a circle.
// A claim that finds jobs whose lease ran out holds rows already and only tries for the key; the jobs it does not get are
// left to the next claim. Two sessions can block each other, when each enqueues with the keys of the other in another order,
// as they can with documents: PostgreSQL ends one of them after its deadlock_timeout (1 s), with UNAVAILABLE, undone as a
// whole. The events of documents cannot: their keys belong to a document, whose row is locked before.

export const LIVE = `state IN ('waiting', 'running')`

/** Of the lock: a hash of the key, mixed with a number that is ours. */
export const lockOf = (key: string) => `hashtextextended(${key} COLLATE "C", 7100)`

/** As its own statement: only the next one sees what was committed while this one waited. */
export async function lockOrderKey(connection: PostgresConnection, orderKey: string): Promise<void> {
  await connection.rows(`SELECT pg_advisory_xact_lock(${lockOf('$1')})`, [orderKey])
}

/**
 * A statement that does `change` (an UPDATE or DELETE after which the jobs are no longer live) and lets the next of their
 * keys go. Gives one row per ended job, with these columns of it and `next`: the number of the job that may run now, or
 * null. The key is locked. `wasLive`: where the change may also meet jobs that are done or dead.
 *
 * Parts of one statement see the rows as they were before all of it: hence the next one is looked for beside the ended one.
 */
export function endAndLetNextGo(change: string, columns = 'ended.id', wasLive = 'true'): string {
  return `WITH ended AS (${change} RETURNING job.*),
    freed AS (
      UPDATE job SET held = false FROM ended
      WHERE NOT ended.held AND ${wasLive} AND job.id = (SELECT min(other.id) FROM job AS other
        WHERE other.order_key = ended.order_key AND other.${LIVE} AND other.id <> ended.id)
      RETURNING job.id, job.order_key)
    SELECT ${columns}, freed.id AS next FROM ended LEFT JOIN freed ON freed.order_key = ended.order_key`
}

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

const { summaryOf, jobOf, statesOf } = jobRows({ numberOf, textOf })

export { jobOf, statesOf }

const values: JobValues = {
  value,
  // Numbers may have fractions, which columns cannot.
  bound: (type, one) =>
    type === 'number'
      ? sql`${value(typeof one === 'number' ? one : null)}::float8`
      : sql`${value(typeof one === 'string' ? one : null)}::text`,
  // As one parameter, so that a statement's text does not change with their number.
  anyOf(read, type, all) {
    const isNumber = (one: unknown) => typeof one === 'number'
    const isText = (one: unknown) => typeof one === 'string'
    const list = type === 'number' ? numbers(all.filter(isNumber), 'float8') : texts(all.filter(isText))
    return sql`${read} = ANY (${list})`
  },
}

/** Searches over the job table on PostgreSQL, which has to be told the type of each value. */
export async function searchJobs(
  connection: PostgresConnection,
  search: Search,
): Promise<RecordPage<JobSummary>> {
  const { page, count, next } = compileJobSearch(search, values)
  const jobs = (await rowsOf(connection, page)).map(summaryOf)
  const [counted] = await rowsOf(connection, count)
  return { records: jobs, total: numberOf(counted ?? {}, 'n'), next: next(jobs) }
}

function rowsOf(connection: PostgresConnection, compiled: CompiledSql): Promise<readonly Row[]> {
  const { text, values: input } = statement(compiled)
  return connection.rows(text, input)
}
