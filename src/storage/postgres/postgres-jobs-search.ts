/** Searches over the job table: the fields of `jobFields` as expressions over its columns, none of which is ever null. */
import { QuoinError } from '../../shared/errors.ts'
import type { Bounds, Query, Scalar, Search } from '../../shared/query.ts'
import { checkSearch } from '../check-search.ts'
import { type CompiledSql, joinWith, sql, TRUE } from '../compiled-sql.ts'
import { type JobPage, type JobSummary, jobFields } from '../job.ts'
import { type CursorPlace, readCursor } from '../search-cursor.ts'
import { numbers, statement, texts, value } from './compiled-sql.ts'
import { numberOf, type PostgresConnection, type Row } from './postgres-connection.ts'
import { summaryColumns, summaryOf } from './postgres-jobs-row.ts'

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
  dedupe_key: { sql: `coalesce(dedupe_key, '')`, read: (job) => job.dedupeKey ?? '' },
  order_key: { sql: `coalesce(order_key, '')`, read: (job) => job.orderKey ?? '' },
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

export async function searchJobs(connection: PostgresConnection, search: Search): Promise<JobPage> {
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
  const jobs = (await rowsOf(connection, page)).map(summaryOf)
  const [count] = await rowsOf(connection, sql`SELECT count(*) AS n FROM job WHERE ${found}`)
  const total = numberOf(count ?? {}, 'n')
  const last = jobs.length > 0 && jobs.length === search.limit ? jobs.at(-1) : undefined
  return { jobs, total, next: last && cursor(search, last) }
}

function rowsOf(connection: PostgresConnection, compiled: CompiledSql): Promise<readonly Row[]> {
  const { text, values } = statement(compiled)
  return connection.rows(text, values)
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
    const at = bound(key.field, place.values[index] ?? null)
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
      return sql`${column(query.field).sql} = ${bound(query.field, query.value)}`
    case 'terms':
      return anyOf(query.field, query.values)
    case 'range':
      return range(query.field, query.bounds)
    case 'exists':
      // Empty texts and times that have not come stand for what is missing.
      return sql`${column(query.field).sql} <> ${isNumber(query.field) ? '0' : "''"}`
    case 'simple_query_string':
      throw new QuoinError('INVALID_QUERY', 'Jobs cannot be searched by free text. Use filters.')
  }
}

/** As one parameter, so that a statement's text does not change with their number. */
function anyOf(field: string, values: readonly Scalar[]): CompiledSql {
  const { sql: read } = column(field)
  const list = isNumber(field)
    ? numbers(
        values.filter((one) => typeof one === 'number'),
        'float8',
      )
    : texts(values.filter((one) => typeof one === 'string'))
  return sql`${read} = ANY (${list})`
}

const comparisons = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const

function range(field: string, bounds: Bounds): CompiledSql {
  const parts = (['gte', 'gt', 'lte', 'lt'] as const).flatMap((name) => {
    const limit = bounds[name]
    if (limit === undefined) return []
    return [sql`${column(field).sql} ${comparisons[name]} ${bound(field, limit)}`]
  })
  return joinWith('AND', parts)
}

function column(field: string): Column {
  const found = Object.hasOwn(columns, field) ? columns[field] : undefined
  if (found) return found
  const names = Object.keys(columns).join(', ')
  throw new QuoinError('INVALID_QUERY', `Jobs have no field ${JSON.stringify(field)}, but ${names}.`)
}

function isNumber(field: string): boolean {
  return jobFields.find(({ name }) => name === field)?.type === 'number'
}

/**
 * Types are strict: what is of another type than the column becomes NULL, which compares with nothing; in a `not` that
 * would hold for nothing too, hence IS NOT TRUE there. Numbers may have fractions, which columns cannot.
 */
function bound(field: string, one: Scalar | null): CompiledSql {
  if (isNumber(field)) return sql`${value(typeof one === 'number' ? one : null)}::float8`
  return sql`${value(typeof one === 'string' ? one : null)}::text`
}
