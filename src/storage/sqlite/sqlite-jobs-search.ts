/** Searches over the job table: the fields of `jobFields` as expressions over its columns, none of which is ever null. */
import { QuoinError } from '../../shared/errors.ts'
import type { Bounds, Query, Scalar, Search } from '../../shared/query.ts'
import { checkSearch } from '../check-search.ts'
import { type CompiledSql, FALSE, joinWith, type SqlValue, sql, TRUE } from '../compiled-sql.ts'
import { type JobPage, type JobSummary, jobFields } from '../job.ts'
import { type CursorPlace, readCursor } from '../search-cursor.ts'
import { value } from './sql-values.ts'
import { numberOf, type SqliteConnection } from './sqlite-connection.ts'
import { summaryColumns, summaryOf } from './sqlite-jobs-row.ts'

interface Column {
  readonly sql: string
  readonly read: (job: JobSummary) => string | number
}

const seconds = (ms: number | null) => Math.floor((ms ?? 0) / 1000)

/** By the names of `jobFields`, with what a cursor keeps of a job. */
const columns: Readonly<Record<string, Column>> = {
  queue: { sql: 'queue', read: (job) => job.queue },
  type: { sql: 'kind', read: (job) => job.kind },
  status: { sql: 'state', read: (job) => job.state },
  title: { sql: 'title', read: (job) => job.title },
  worker_id: { sql: 'owner', read: (job) => job.owner },
  dedupe_key: { sql: `ifnull(dedupe_key, '')`, read: (job) => job.dedupeKey ?? '' },
  order_key: { sql: `ifnull(order_key, '')`, read: (job) => job.orderKey ?? '' },
  priority: { sql: 'priority', read: (job) => job.priority },
  attempts: { sql: 'attempt', read: (job) => job.attempt },
  max_attempts: { sql: 'attempts', read: (job) => job.attempts },
  scheduled_for: { sql: 'run_at / 1000', read: (job) => seconds(job.runAt) },
  started_at: { sql: 'started / 1000', read: (job) => seconds(job.started) },
  completed_at: { sql: 'finished / 1000', read: (job) => seconds(job.finished) },
  '_meta.guid': { sql: 'guid', read: (job) => job.guid },
  '_meta.created': { sql: 'created / 1000', read: (job) => seconds(job.created) },
  '_meta.updated': { sql: 'updated / 1000', read: (job) => seconds(job.updated) },
  '_meta.cms': { sql: 'created', read: (job) => job.created },
  '_meta.ums': { sql: 'updated', read: (job) => job.updated },
}

export function searchJobs(connection: SqliteConnection, search: Search): JobPage {
  checkSearch(search)
  const found = condition(search.query)
  const place = readCursor(search)
  const where = place ? joinWith('AND', [found, behind(search, place)]) : found
  const way = search.sort.at(-1)?.order ?? 'desc'
  const order = [
    ...search.sort.map((key) => `${column(key.field).sql} ${key.order}`),
    `created ${way}`,
    `guid ${way}`,
  ]
  const page = sql`SELECT ${summaryColumns} FROM job WHERE ${where} ORDER BY ${order.join(', ')} LIMIT ${value(search.limit)} OFFSET ${value(search.offset)}`
  const jobs = connection.all(page.sql, ...page.parameters).map(summaryOf)
  const all = sql`SELECT count(*) AS n FROM job WHERE ${found}`
  const total = numberOf(connection.get(all.sql, ...all.parameters) ?? {}, 'n')
  const last = jobs.length > 0 && jobs.length === search.limit ? jobs.at(-1) : undefined
  return { jobs, total, next: last && cursor(search, last) }
}

/** In the form that `readCursor` reads. */
function cursor(search: Search, job: JobSummary): string {
  const order = search.sort.map((key) => `${key.field} ${key.order} ${key.missing}`).join(',')
  const values = search.sort.map((key) => column(key.field).read(job))
  return Buffer.from(JSON.stringify([order, values, job.created, job.guid])).toString('base64url')
}

function behind(search: Search, place: CursorPlace): CompiledSql {
  const comparison = search.sort.at(-1)?.order === 'asc' ? '>' : '<'
  let tied = sql`(created, guid) ${comparison} (${value(place.cms)}, ${value(place.guid)})`
  for (const [index, key] of [...search.sort.entries()].toReversed()) {
    const read = column(key.field).sql
    const at = value(place.values[index] ?? null)
    tied = sql`(${read} ${key.order === 'asc' ? '>' : '<'} ${at} OR (${read} = ${at} AND ${tied}))`
  }
  return tied
}

function condition(query: Query): CompiledSql {
  switch (query.kind) {
    case 'all':
      return TRUE
    case 'and':
    case 'or':
      return joinWith(query.kind === 'and' ? 'AND' : 'OR', query.queries.map(condition))
    case 'not':
      return sql`(${condition(query.query)} IS NOT TRUE)`
    case 'filter':
      return condition(query.query)
    case 'term':
      return sql`${column(query.field).sql} = ${value(fitting(query.field, query.value))}`
    case 'terms':
      return query.values.length === 0 ? FALSE : anyOf(query.field, query.values)
    case 'range':
      return range(query.field, query.bounds)
    case 'exists':
      // Empty texts and times that have not come stand for what is missing.
      return sql`${column(query.field).sql} NOT IN ('', 0)`
    case 'simple_query_string':
      throw new QuoinError('INVALID_QUERY', 'Jobs cannot be searched by free text. Use filters.')
  }
}

function anyOf(field: string, values: readonly Scalar[]): CompiledSql {
  return {
    sql: `${column(field).sql} IN (${values.map(() => '?').join(', ')})`,
    parameters: values.map((one) => fitting(field, one)),
  }
}

const comparisons = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const

function range(field: string, bounds: Bounds): CompiledSql {
  const parts = (['gte', 'gt', 'lte', 'lt'] as const).flatMap((name) => {
    const bound = bounds[name]
    if (bound === undefined) return []
    return [sql`${column(field).sql} ${comparisons[name]} ${value(fitting(field, bound))}`]
  })
  return joinWith('AND', parts)
}

function column(field: string): Column {
  const found = Object.hasOwn(columns, field) ? columns[field] : undefined
  if (found) return found
  const names = Object.keys(columns).join(', ')
  throw new QuoinError('INVALID_QUERY', `Jobs have no field ${JSON.stringify(field)}, but ${names}.`)
}

/**
 * Types are strict, while SQLite would take the text '2' for the number 2 beside a column of numbers. What is of another
 * type becomes NULL, which compares with nothing; in a `not` that would hold for nothing too, hence IS NOT TRUE there.
 */
function fitting(field: string, one: Scalar): SqlValue {
  const type = jobFields.find(({ name }) => name === field)?.type
  return typeof one === 'boolean' || typeof one !== type ? null : one
}
