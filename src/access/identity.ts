import type { JsonObject } from '../shared/json.ts'

/** Who sends a request. */
export interface Identity {
  readonly guid: string
  readonly username: string
  /** Held directly and through active groups. */
  readonly scopes: ReadonlySet<string>
  /** The user's record without secrets, with `_meta`. */
  readonly user: JsonObject
  readonly tokenGuid: string
}
