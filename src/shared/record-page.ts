import type { JsonObject } from './json.ts'

/** One page of what a search matches, as management endpoints list it and the studio shows it. */
export interface RecordPage<T = JsonObject> {
  readonly records: readonly T[]
  /** How many match on all pages. */
  readonly total: number
  /** Cursor after the last record; undefined on the last page and in relevance order. */
  readonly next: string | undefined
}
