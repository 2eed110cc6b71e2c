/** Searches over the job table on PostgreSQL, which has to be told the type of each value. */

import type { Search } from '../../../shared/query.ts'
import type { RecordPage } from '../../../shared/record-page.ts'
import type { JobSummary } from '../../job.ts'
import { compileJobSearch, type JobValues } from '../../job-search.ts'
import { type CompiledSql, sql } from '../../search/compiled-sql.ts'
import { numberOf, type PostgresConnection, type Row } from '../core/rows.ts'
import { numbers, statement, texts, value } from '../sql/field-sql.ts'
import { summaryOf } from './postgres-jobs-enqueue.ts'

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
