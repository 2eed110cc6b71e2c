/** Searches over the job table: the fields of `jobFields` as expressions over its columns, none of which is ever null. */
import { QuoinError } from '../shared/errors.ts'
import type { Bounds, Query, Scalar, Search } from '../shared/query.ts'
import { type JobField, type JobSummary, jobFields } from './job.ts'
import { summaryColumns } from './job-row.ts'
import { checkSearch } from './search/check-search.ts'
import { type CompiledSql, FALSE, joinWith, type SqlValue, sql, TRUE } from './search/compiled-sql.ts'
import { type CursorPlace, readCursor } from './search/search-cursor.ts'

type FieldType = JobField['type']

/**
 * How an engine writes values down. Types are strict: what is of another type than the column becomes NULL, which compares
 * with nothing; in a `not` that would hold for nothing too, hence IS NOT TRUE there.
 */
export interface JobValues {
  value(parameter: SqlValue): CompiledSql
  /** To compare with a column of the type. */
  bound(type: FieldType, one: Scalar | null): CompiledSql
  /** Whether what is read is one of several. At least one. */
  anyOf(read: string, type: FieldType, values: readonly Scalar[]): CompiledSql
}

export interface CompiledJobSearch {
  /** Gives summaries. */
  readonly page: CompiledSql
  /** Gives `n`, how many there are in all. */
  readonly count: CompiledSql
  /** The cursor behind the jobs of the page; undefined when it is not full. */
  next(jobs: readonly JobSummary[]): string | undefined
}

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

/** Throws INVALID_QUERY. */
export function compileJobSearch(search: Search, values: JobValues): CompiledJobSearch {
  checkSearch(search)
  const { value } = values
  const found = condition(search.query, values)
  const place = readCursor(search)
  const where = place ? joinWith('AND', [found, behind(search, place, values)]) : found
  const way = search.sort.at(-1)?.order ?? 'desc'
  const order = [
    ...search.sort.map((key) => `${column(key.field).sql} ${key.order}`),
    `created ${way}`,
    `guid ${way}`,
  ]
  return {
    page: sql`SELECT ${summaryColumns} FROM job WHERE ${where} ORDER BY ${order.join(', ')} LIMIT ${value(search.limit)} OFFSET ${value(search.offset)}`,
    count: sql`SELECT count(*) AS n FROM job WHERE ${found}`,
    next(jobs) {
      const last = jobs.length === search.limit ? jobs.at(-1) : undefined
      return last && cursor(search, last)
    },
  }
}

/** In the form that `readCursor` reads. */
function cursor(search: Search, job: JobSummary): string {
  const order = search.sort.map((key) => `${key.field} ${key.order} ${key.missing}`).join(',')
  const values = search.sort.map((key) => column(key.field).read(job))
  return Buffer.from(JSON.stringify([order, values, job.created, job.guid])).toString('base64url')
}

function behind(search: Search, place: CursorPlace, { value, bound }: JobValues): CompiledSql {
  const comparison = search.sort.at(-1)?.order === 'asc' ? '>' : '<'
  let tied = sql`(created, guid) ${comparison} (${value(place.cms)}, ${value(place.guid)})`
  for (const [index, key] of [...search.sort.entries()].toReversed()) {
    const read = column(key.field).sql
    const at = bound(typeOf(key.field), place.values[index] ?? null)
    tied = sql`(${read} ${key.order === 'asc' ? '>' : '<'} ${at} OR (${read} = ${at} AND ${tied}))`
  }
  return tied
}

function condition(query: Query, values: JobValues): CompiledSql {
  switch (query.kind) {
    case 'all':
      return TRUE
    case 'and':
    case 'or': {
      const parts = query.queries.map((part) => condition(part, values))
      return joinWith(query.kind === 'and' ? 'AND' : 'OR', parts)
    }
    case 'not':
      return sql`(${condition(query.query, values)} IS NOT TRUE)`
    case 'filter':
      return condition(query.query, values)
    case 'term':
      return sql`${column(query.field).sql} = ${values.bound(typeOf(query.field), query.value)}`
    case 'terms': {
      const { sql: read } = column(query.field)
      return query.values.length === 0 ? FALSE : values.anyOf(read, typeOf(query.field), query.values)
    }
    case 'range':
      return range(query.field, query.bounds, values)
    case 'exists':
      // Empty texts and times that have not come stand for what is missing.
      return sql`${column(query.field).sql} <> ${typeOf(query.field) === 'number' ? '0' : "''"}`
    case 'fields':
    case 'contains':
    case 'caseless':
    case 'folded':
    case 'empty':
    case 'through':
      throw new QuoinError('INVALID_QUERY', 'Jobs can be filtered by values only.')
    case 'simple_query_string':
      throw new QuoinError('INVALID_QUERY', 'Jobs cannot be searched by free text. Use filters.')
  }
}

const comparisons = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const

function range(field: string, bounds: Bounds, { bound }: JobValues): CompiledSql {
  const parts = (['gte', 'gt', 'lte', 'lt'] as const).flatMap((name) => {
    const limit = bounds[name]
    if (limit === undefined) return []
    return [sql`${column(field).sql} ${comparisons[name]} ${bound(typeOf(field), limit)}`]
  })
  return joinWith('AND', parts)
}

function column(field: string): Column {
  const found = Object.hasOwn(columns, field) ? columns[field] : undefined
  if (found) return found
  const names = Object.keys(columns).join(', ')
  throw new QuoinError('INVALID_QUERY', `Jobs have no field ${JSON.stringify(field)}, but ${names}.`)
}

function typeOf(field: string): FieldType {
  return jobFields.find(({ name }) => name === field)?.type ?? 'string'
}
