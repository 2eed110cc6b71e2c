import type { JsonObject } from '../shared/json.ts'

/** Who sends a request. */
export interface Identity {
  readonly guid: string
  readonly username: string
  /** Held directly and through active groups. */
  readonly scopes: ReadonlySet<string>
  /** The user's record without secrets, with `_meta`. */
  readonly user: JsonObject
  /** Of the access token, or of the API key. */
  readonly tokenGuid: string
  /** Unix seconds at which the session was made or confirmed. API keys and the command line have no session. */
  readonly confirmed?: number
  /** Where an API key was sent; a signed-in user has none. */
  readonly key?: {
    readonly name: string
    /** Whether the key's list of endpoints allows a request: see `keys/allowed-endpoints.ts`. */
    readonly mayCall: (method: string, url: string) => boolean
  }
}
