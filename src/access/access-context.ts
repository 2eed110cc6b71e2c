import type { SignInProviders } from '../identity/sign-in-providers.ts'
import { type BatchedLog, batchedLog, logText } from '../records/batched-log.ts'
import type { SecretKeys, SigningSecret } from '../records/secrets/signing-secret.ts'
import type { UserLog } from '../shared/api/people/users.ts'
import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import type { Random } from '../shared/guid.ts'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import type { Search } from '../shared/query.ts'
import type { RecordPage } from '../shared/record-page.ts'
import { type Database, documentOf, type Session } from '../storage/database.ts'
import { guidOf } from '../storage/document-fields.ts'
import { findOne, findPage } from '../storage/find-documents.ts'
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
  /** Where users open this server: passkeys are bound to its host. Empty: there are none. */
  readonly publicUrl?: string
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
  /** Requests of visitors in ten minutes above which browsers prove work; if not given, none do. */
  readonly proofAbove?: number
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
  /** Signs challenges of passkeys. */
  readonly secret: SigningSecret
  readonly passwords: PasswordHasher
  readonly addresses: AddressLimit
  readonly identities: IdentityCache
  readonly keyUses: KeyUses
  readonly providers: SignInProviders
  /** Those that are under way, by guid of the token. */
  readonly extensions: Map<string, TokenExtension>
  /** Guid of the document that every change to users writes first, so that they come one after the other: see `users.ts`. */
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

/**
 * Who came in and what they asked for, with address and agent: `_userlogs`. How long they are kept: `records/retention/retention.ts`.
 *
 * Sign-ins, failures and sign-outs are written in the transaction that they are about: there is none without its record.
 * Requests of signed-in users go through a batched log, which may lose some under a flood and says so. What one user sends
 * from one place within a batch (0.2 s) with the same method and the same status is one record, which counts the requests
 * and lists their paths: or a log of programs that ask all the time would write as many records as documents. Nothing of
 * a request but its method and path is kept: a query or body may hold anything.
 */
const LONGEST_AGENT = 512
const LONGEST_PATH = 512
/** In one record. */
const MOST_PATHS = 100

/** Where a request came from. */
export interface Sender {
  readonly ip: string
  /** The header `user-agent`. */
  readonly agent?: string | undefined
}

export interface LoggedRequest extends Sender {
  readonly user: { readonly guid: string; readonly username: string }
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly status: number
  readonly milliseconds: number
  /** One of those that the studio sends by itself. */
  readonly fromStudio?: boolean
}

/** What becomes one record. */
interface LoggedRequests extends LoggedRequest {
  readonly times: number
  /** Each once, in the order in which they came. */
  readonly paths: Set<string>
}

export async function ensureUserLogs(database: Database): Promise<void> {
  await database.ensure(systemStorages.userLogs, {
    indexes: [
      { fields: ['event', '_meta.created'] },
      { fields: ['user.guid', '_meta.created'] },
      { fields: ['ip'] },
    ],
  })
}

/**
 * Notes a sign-in, its failure or a sign-out, in the caller's transaction. Without a user for an unknown name: it
 * may be a password that was typed into the wrong field.
 */
export async function noteUserEvent(
  session: Session,
  event: Exclude<UserLog['event'], 'request' | 'lost'>,
  user: { readonly guid: string; readonly username: string } | undefined,
  sender: Sender,
): Promise<void> {
  const record = { event, user: user ? actor(user) : null, ...senderFields(sender) }
  await session.create(systemStorages.userLogs, setFields(record))
}

/** The log of requests. The storage is there: see {@link ensureUserLogs}. */
export function requestLog(database: Database): Pick<BatchedLog<LoggedRequest>, 'write' | 'flush' | 'close'> {
  const log = batchedLog<LoggedRequests | number>({
    database,
    name: systemStorages.userLogs,
    recordOf: (entry) => (typeof entry === 'number' ? { event: 'lost', count: entry } : recordOf(entry)),
    lost: (count) => count,
    repeated: { keyOf, both },
  })
  return {
    ...log,
    write: (request) => log.write({ ...request, times: 1, paths: new Set([request.path]) }),
  }
}

function keyOf(entry: LoggedRequests | number): string {
  if (typeof entry === 'number') return 'lost'
  const { user, method, status, ip, agent, fromStudio } = entry
  return `${user.guid} ${status} ${method} ${fromStudio === true} ${ip} ${agent}`
}

function both(
  earlier: LoggedRequests | number,
  later: LoggedRequests | number,
): LoggedRequests | number | undefined {
  if (typeof earlier === 'number' || typeof later === 'number')
    return typeof earlier === typeof later ? Number(earlier) + Number(later) : undefined
  const { paths } = earlier
  if (paths.size === MOST_PATHS && !paths.has(later.path)) return undefined
  paths.add(later.path)
  return {
    ...earlier,
    milliseconds: Math.max(earlier.milliseconds, later.milliseconds),
    times: earlier.times + later.times,
  }
}

function recordOf(request: LoggedRequests): JsonObject {
  const { user, method, status, milliseconds, times } = request
  const paths = [...request.paths].map((path) => logText(path, LONGEST_PATH))
  const [path = ''] = paths
  return {
    event: 'request',
    user: actor(user),
    ...senderFields(request),
    method,
    path: paths.length > 1 ? paths : path,
    status,
    milliseconds: Math.round(milliseconds * 10) / 10,
    times,
    ...(request.fromStudio === true && { studio: true }),
  }
}

function actor({ guid, username }: { readonly guid: string; readonly username: string }): JsonObject {
  return { guid, username }
}

function senderFields({ ip, agent }: Sender): JsonObject {
  return { ip, agent: logText(agent ?? '', LONGEST_AGENT) }
}

export async function searchUserLogs(database: Database, search: Search): Promise<RecordPage> {
  return findPage(database.session(), systemStorages.userLogs, search)
}
