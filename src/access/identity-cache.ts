/**
 * Whom a token belonged to the last time, for as long as nothing was written to tokens, users or groups since, on any
 * node: reading them again was 27 % of the time of a small request on SQLite, and half of it on PostgreSQL. In exchange a
 * sign-in or sign-out waits until the other nodes have heard of it.
 */

import type { JsonObject } from '../shared/json.ts'
import { lruCache } from '../shared/lru-cache.ts'
import type { Changes } from '../storage/capabilities.ts'

/** Some kilobytes each. */
const MOST = 10_000

export interface IdentityCache {
  /** What is known of the token with this hash now (Unix seconds). */
  get(tokenHash: string, now: number): Identity | undefined
  /**
   * Begins to look a token up; the function keeps what was found until then (Unix seconds), unless something was
   * written meanwhile.
   */
  looking(tokenHash: string): (identity: Identity, until: number) => void
  close(): void
}

interface Known {
  readonly identity: Identity
  readonly until: number
}

/** `names`: the storages that identities depend on. */
export function identityCache(changes: Changes, names: readonly string[]): IdentityCache {
  const ends = names.map((name) => changes.watch(name, () => undefined))
  const known = lruCache<string, Known>(MOST)
  let seen = ''

  /** Forgets everything when something was written, and gives at which versions that was asked. */
  function current(): string {
    const versions = names.map((name) => changes.version(name)).join(' ')
    if (versions !== seen) known.clear()
    seen = versions
    return versions
  }

  return {
    get(tokenHash, now) {
      current()
      const found = known.get(tokenHash)
      return found && found.until > now ? found.identity : undefined
    },
    looking(tokenHash) {
      const before = current()
      return (identity, until) => {
        if (current() !== before) return
        known.set(tokenHash, { identity, until })
      }
    },
    close() {
      for (const end of ends) end()
    },
  }
}

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
  /** Of a request that a tool of `/mcp` sends: how many tools led here. No client says this. */
  readonly hops?: number
  /** Where an API key was sent; a signed-in user has none. */
  readonly key?: {
    readonly name: string
    /** Whether the key's list of endpoints allows a request: see `keys/allowed-endpoints.ts`. */
    readonly mayCall: (method: string, url: string) => boolean
    /** A token that a user has given an agent by OAuth: for `/mcp`, and there for all that the consent says. */
    readonly byConsent?: true
  }
}
