import type { SecretKeys } from '../records/secrets/secret-keys.ts'
import type { Clock } from '../shared/clock.ts'
import type { Random } from '../shared/guid.ts'
import type { Database } from '../storage/database.ts'
import type { AddressLimit } from './address-limit.ts'
import type { IdentityCache } from './identity-cache.ts'
import type { KeyUses } from './keys/key-uses.ts'
import type { PasswordCost, PasswordHasher } from './password-hash.ts'

export interface AccessSettings {
  /** Failed sign-ins in a row that lock a user. */
  readonly lockoutAttempts: number
  /** How long the lock holds. */
  readonly lockoutSeconds: number
  /** Failed sign-ins in 15 minutes after which an address is refused. */
  readonly addressAttempts: number
  /** Lifetime of a token that is not used. */
  readonly tokenSeconds: number
  /** OWASP's minimum for argon2id if not given. Hashes of another cost are renewed when their users sign in. */
  readonly passwordCost?: PasswordCost
  /** Seal the secrets of second factors. Without a key that seals, users cannot set one up. */
  readonly secretKeys?: SecretKeys
  /** What authenticator apps call this server; `Quoin` if empty. */
  readonly siteName?: string
  /** undefined: no mail server or no public address is set, and no links are sent. */
  readonly links?: LinkSettings | undefined
}

/** Links in mail to users: to set a password, to accept an invitation, to sign up. */
export interface LinkSettings {
  /** Origin of the address at which users reach Quoin: never taken from a request, which could name another site. */
  readonly publicUrl: string
  /** What mails call the application. */
  readonly siteName: string
  /** Names of the groups of users who sign up; undefined: users cannot sign up. */
  readonly signUp: readonly string[] | undefined
}

/** What the parts of this room share. */
/** A token that is used gets its full lifetime again. */
export interface TokenExtension {
  /** False if the token is gone. */
  readonly done: Promise<boolean>
  /** Requests do not wait for it any more. */
  isLate: boolean
}

export interface AccessContext {
  readonly database: Database
  readonly clock: Clock
  readonly random: Random
  readonly settings: AccessSettings
  readonly passwords: PasswordHasher
  readonly addresses: AddressLimit
  readonly identities: IdentityCache
  readonly keyUses: KeyUses
  /** Those that are under way, by guid of the token. */
  readonly extensions: Map<string, TokenExtension>
  /** Guid of the document that every change to users writes first: see `user-changes.ts`. */
  readonly turnGuid: string
}

/** Unix seconds, as records keep them. */
export function unixSeconds(clock: Clock): number {
  return Math.floor(clock() / 1000)
}
