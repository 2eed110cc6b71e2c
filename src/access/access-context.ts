import type { SignInProviders } from '../identity/sign-in-providers.ts'
import type { SecretKeys } from '../records/secrets/signing-secret.ts'
import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import type { Random } from '../shared/guid.ts'
import { type Database, documentOf, type Session } from '../storage/database.ts'
import { guidOf } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
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
  /** For which a session counts as confirmed; 300 if not given, 0 for ever. */
  readonly confirmSeconds?: number
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
  readonly providers: SignInProviders
  /** Those that are under way, by guid of the token. */
  readonly extensions: Map<string, TokenExtension>
  /** Guid of the document that every change to users writes first: see `user-changes.ts`. */
  readonly turnGuid: string
}

/** Unix seconds, as records keep them. */
export function unixSeconds(clock: Clock): number {
  return Math.floor(clock() / 1000)
}

// Changes to users happen one after the other, on all nodes: each first writes one well-known document, which holds the
// engine's lock on it until the end. What a change then reads (is the name free, is an administrator left) stays true
// until it commits. Without it two administrators could remove each other at the same time. Users change rarely, so
// waiting costs nothing; sign-ins do not take the turn.

const NAME = 'users'

/** Makes the document if this is the first start. Gives its guid. */
export async function openTurn(database: Database): Promise<string> {
  await database.ensure(systemStorages.accessTurns, { indexes: [{ fields: ['name'], unique: true }] })
  for (let tries = 1; ; tries++) {
    const there = await findOne(database.session(), systemStorages.accessTurns, 'name', NAME)
    if (there) return guidOf(there)
    try {
      return await transact(database, async (session) => {
        const made = await session.create(systemStorages.accessTurns, [
          { op: 'set', field: 'name', value: NAME },
          { op: 'set', field: 'changes', value: 0 },
        ])
        return guidOf(documentOf(made))
      })
    } catch (error) {
      // Another node made it first; then it is found.
      if (!(error instanceof QuoinError) || error.code !== 'CONFLICT' || tries === 5) throw error
    }
  }
}

/** The first thing a transaction does that changes users. */
export async function takeTurn(session: Session, turnGuid: string): Promise<void> {
  const written = await session.update(systemStorages.accessTurns, turnGuid, [
    { op: 'increment', field: 'changes', amount: 1 },
  ])
  if (written.outcome !== 'written')
    throw new QuoinError('INTERNAL', 'The document that orders changes to users is missing. Restart Quoin.')
}
