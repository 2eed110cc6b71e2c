/** Searches over the job table on SQLite, which would take the text '2' for the number 2 beside a column of numbers. */

import type { Scalar, Search } from '../../../shared/query.ts'
import type { RecordPage } from '../../../shared/record-page.ts'
import type { JobField, JobSummary } from '../../job.ts'
import { compileJobSearch, type JobValues } from '../../job-search.ts'
import type { SqlValue } from '../../search/compiled-sql.ts'
import { numberOf, type SqliteConnection } from '../core/sqlite-connection.ts'
import { value } from '../sql/sql-values.ts'
import { summaryOf } from './sqlite-jobs-row.ts'

const values: JobValues = {
  value,
  bound: (type, one) => value(fitting(type, one)),
  anyOf: (read, type, all) => ({
    sql: `${read} IN (${all.map(() => '?').join(', ')})`,
    parameters: all.map((one) => fitting(type, one)),
  }),
}

export function searchJobs(connection: SqliteConnection, search: Search): RecordPage<JobSummary> {
  const { page, count, next } = compileJobSearch(search, values)
  const jobs = connection.all(page.sql, ...page.parameters).map(summaryOf)
  const total = numberOf(connection.get(count.sql, ...count.parameters) ?? {}, 'n')
  return { records: jobs, total, next: next(jobs) }
}

function fitting(type: JobField['type'], one: Scalar | null): SqlValue {
  return typeof one === 'boolean' || typeof one !== type ? null : one
}
