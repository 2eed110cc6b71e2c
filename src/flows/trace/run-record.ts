/** What is kept of a traced run: a document of `_runs` under the run's guid. */
import type { Listens } from '../../blocks/block.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { guidOf, textIn } from '../../storage/document-fields.ts'

export type RunStatus = 'running' | 'paused' | 'ended' | 'failed'

/** Types and not interfaces, so that they are JSON for the compiler too. */
export type RunSummary = {
  readonly guid: string
  readonly blueprint: string
  /** Guid of the trigger's block. */
  readonly trigger: string
  readonly trigger_type: Listens
  readonly label: string
  readonly status: RunStatus
  /** ISO 8601. */
  readonly started: string
  /** Microseconds, without those in which it was paused. */
  readonly us: number
  readonly reply: { readonly status: number } | null
  readonly error: { readonly code: string; readonly message: string; readonly block: string | null } | null
  /** Executed blocks, of which not all may be kept. */
  readonly steps: number
  /** Name of the user for whom it ran. */
  readonly user: string | null
  readonly deployment: number
  readonly replay_of: string | null
}

/** Where a run stands still. Times in ISO 8601. */
export type RunPause = {
  readonly block: string
  readonly since: string
  readonly until: string
}

export type RunRecord = RunSummary & {
  /** Guid of the node that runs it: without that node it will never end. */
  readonly node: string
  readonly paused: RunPause | null
  /** {@link RunDetail} as JSON. As text, because values of any kind are in it, and nobody searches them. */
  readonly detail: string
}

export interface RunDetail {
  readonly request: JsonObject | null
  readonly reply: JsonObject | null
  readonly steps: readonly JsonObject[]
  readonly cut: boolean
  /** What blocks that touch the world outside gave: `{ block, out, next, error }`. For a replay; not shown. */
  readonly outside: readonly JsonObject[]
  /** What a function returned. */
  readonly result: JsonValue
  /** What a trigger without a request gave, so that it can be given again; null if it was too long to be kept. */
  readonly given: JsonValue
  /** Guid of the user for whom it ran. */
  readonly user_guid: string | null
  /** What the replay of a run compared. */
  readonly compared: JsonObject | null
}

const summaryFields = [
  ...['blueprint', 'trigger', 'trigger_type', 'label', 'status', 'started', 'us', 'reply', 'error', 'steps'],
  ...['user', 'deployment', 'replay_of'],
]

/** The summary in a stored record, as it is sent. */
export function summaryOf(document: JsonObject): JsonObject {
  return summaryIn(guidOf(document), document)
}

/** The summary in a record that is not stored yet. */
export function summaryIn(guid: string, record: JsonObject): JsonObject {
  const fields = summaryFields.map((field): [string, JsonValue] => [field, record[field] ?? null])
  return { guid, ...Object.fromEntries(fields) }
}

export function detailOf(document: JsonObject): JsonObject {
  const detail: unknown = JSON.parse(textIn(document.detail) || '{}')
  return isJsonObject(detail) ? detail : {}
}

/** What becomes of the record of a run whose node ended first. */
export const lostRun: JsonObject = {
  status: 'failed',
  paused: null,
  error: { code: 'UNAVAILABLE', message: 'The node ended before the run did.', block: null },
}

export function isUnderWay({ status }: JsonObject): boolean {
  return status === 'running' || status === 'paused'
}
