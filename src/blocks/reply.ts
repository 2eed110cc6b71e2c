import type { JsonValue } from '../shared/json.ts'
import type { PageAnswer } from '../shared/page-content.ts'
import type { StoredJson } from '../storage/stored-json.ts'

/** What goes back. `value` undefined sends no body. */
export interface Reply {
  readonly code: number
  readonly value: JsonValue | StoredJson | undefined
  readonly headers: Readonly<Record<string, string>>
  /** What a page's flow answers instead of `value`. */
  readonly page?: PageAnswer
}
