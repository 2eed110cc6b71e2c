/** The record of a traced run: a document of `_runs` under the run's guid. */
import {
  type PausedRun,
  type Run,
  type RunSummary,
  runSummaryFields,
} from '../../shared/api/blueprints/runs.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'

/** Where a run stands still. Times in ISO 8601. */
type RunPause = Pick<PausedRun, 'block' | 'since' | 'until'>

export type RunRecord = RunSummary & {
  /** Guid of the node that runs it: without that node it will never end. */
  readonly node: string
  readonly paused: RunPause | null
  /** {@link RunDetail} as JSON. As text, because its values are of any kind and never searched. */
  readonly detail: string
}

export interface RunDetail extends Pick<Run, 'cut' | 'result' | 'compared'> {
  readonly request: JsonObject | null
  readonly reply: JsonObject | null
  readonly steps: readonly JsonObject[]
  /** By block: what it was then (`rename-names.ts`). */
  readonly marks: Readonly<Record<string, string>>
  /** What blocks that touch the world outside gave: `{ block, out, next, error }`. For a replay; not shown. */
  readonly outside: readonly JsonObject[]
  /** What a trigger without a request gave, so that it can be given again; null if it was too long to be kept. */
  readonly given: JsonValue
  /** The dead letter that its request becomes when it is sent again (`dead-letter-requests.ts`); null if it cannot be one. Not shown. */
  readonly letter: JsonObject | null
  /** Guid of the user for whom it ran. */
  readonly user_guid: string | null
}

/** The summary in a stored record, as it is sent. */
export function summaryOf(document: JsonObject): JsonObject {
  return summaryIn(guidOf(document), document)
}

/** The summary in a record that is not stored yet. */
export function summaryIn(guid: string, record: JsonObject): JsonObject {
  const fields = runSummaryFields.flatMap((field): [string, JsonValue][] =>
    field === 'recorded_as' && record[field] === undefined ? [] : [[field, record[field] ?? null]],
  )
  // Of a record of an older version nothing is known: it was traced.
  return { recorded_as: 'traced', ...Object.fromEntries(fields), guid }
}

export function detailOf(document: JsonObject): JsonObject {
  const detail: unknown = JSON.parse(textIn(document.detail) || '{}')
  return isJsonObject(detail) ? detail : {}
}

/** Changes to the record of a run whose node ended first. */
export const lostRun: JsonObject = {
  status: 'failed',
  paused: null,
  error: { code: 'UNAVAILABLE', message: 'The node ended before the run did.', block: null },
}

export function isUnderWay({ status }: JsonObject): boolean {
  return status === 'running' || status === 'paused'
}
