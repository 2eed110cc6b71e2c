import type { RunRequest } from '../../../blocks/run-request.ts'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'

/** A value of a frame as JSON. A date would come back as a text. */
export type SavedValue = { readonly json: JsonValue } | { readonly date: string }

/** What of a request is there behind a wait: neither headers, which hold tokens, nor what a reply needs. */
export type FormerRequest = Pick<RunRequest, 'path' | 'query' | 'body'>

/** The values of a frame that blocks behind a wait read, as JSON. */
export interface SavedFrame {
  /** By guid of the block and id of its out-pin. */
  readonly values: Readonly<Record<string, Readonly<Record<string, SavedValue>>>>
  /** Parameters of the custom function that the flow is. */
  readonly parameters?: Readonly<Record<string, SavedValue>>
  /** What a request gave by the schema of its trigger. */
  readonly sent?: { readonly fields: readonly string[]; readonly given: Readonly<Record<string, SavedValue>> }
  readonly request?: FormerRequest
  readonly variables?: JsonObject
}
