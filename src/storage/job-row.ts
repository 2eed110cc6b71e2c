/** A row of the job table as a job: both engines have the same columns. */
import type { JsonObject } from '../shared/json.ts'
import {
  type FailedIn,
  type Job,
  type JobKind,
  type JobState,
  type JobSummary,
  jobKinds,
  jobStates,
} from './job.ts'

type Row = Readonly<Record<string, unknown>>

/** How an engine reads a column. Both throw when it holds something else. */
export interface ColumnReaders {
  readonly numberOf: (row: Row, column: string) => number
  readonly textOf: (row: Row, column: string) => string
}

export interface JobRows {
  readonly summaryOf: (row: Row) => JobSummary
  readonly jobOf: (row: Row) => Job
  /** Of rows with `guid` and `state`. */
  readonly statesOf: (rows: readonly Row[]) => ReadonlyMap<string, JobState>
}

/** All columns that a summary needs: not the payload, of which a page could hold a gigabyte. */
export const summaryColumns =
  'guid, queue, kind, title, state, priority, run_at, attempt, attempts, created, updated, started, finished, lease_until, owner, dedupe_key, order_key, last_error, failed_in, version'

export const jobColumns = `${summaryColumns}, payload`

export function jobRows({ numberOf, textOf }: ColumnReaders): JobRows {
  const stateOf = (row: Row) => oneOf<JobState>(jobStates, textOf(row, 'state'))

  function summaryOf(row: Row): JobSummary {
    const { dedupe_key: dedupeKey, order_key: orderKey, last_error: lastError, failed_in: failedIn } = row
    return {
      guid: textOf(row, 'guid'),
      queue: textOf(row, 'queue'),
      kind: oneOf<JobKind>(jobKinds, textOf(row, 'kind')),
      title: textOf(row, 'title'),
      state: stateOf(row),
      priority: numberOf(row, 'priority'),
      runAt: numberOf(row, 'run_at'),
      attempt: numberOf(row, 'attempt'),
      attempts: numberOf(row, 'attempts'),
      created: numberOf(row, 'created'),
      updated: numberOf(row, 'updated'),
      started: numberOf(row, 'started') || null,
      finished: numberOf(row, 'finished') || null,
      leaseUntil: numberOf(row, 'lease_until'),
      owner: textOf(row, 'owner'),
      lastError: typeof lastError === 'string' ? lastError : null,
      // Our own text, as the payload is.
      failedIn: typeof failedIn === 'string' ? (JSON.parse(failedIn) as FailedIn) : null,
      version: numberOf(row, 'version'),
      ...(typeof dedupeKey === 'string' && { dedupeKey }),
      ...(typeof orderKey === 'string' && { orderKey }),
    }
  }

  return {
    summaryOf,
    // Our own text: enqueue wrote it from a checked object.
    jobOf: (row) => ({ ...summaryOf(row), payload: JSON.parse(textOf(row, 'payload')) as JsonObject }),
    statesOf: (rows) => new Map(rows.map((row) => [textOf(row, 'guid'), stateOf(row)])),
  }
}

function oneOf<T extends string>(known: readonly T[], text: string): T {
  const found = known.find((one) => one === text)
  if (found === undefined) throw new TypeError(`${text} is none of ${known.join(', ')}.`)
  return found
}
