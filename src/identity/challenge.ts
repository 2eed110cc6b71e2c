/**
 * A step of a sign-in that waits for a code, or the setup of a factor: `_signin_challenges` holds `{ challenge_hash, kind,
 * user_guid, password, bound_to, secret, expiry }`, and the provider of a sign-in without a password. The text of a challenge is in the reply only. It works for five minutes, once, in the
 * browser or session that it was made for, and only while the user has the password that was checked.
 */
import { hash } from 'node:crypto'
import type { AccessContext, Sender } from '../access/access-context.ts'
import { originIn, type SessionOrigin } from '../access/tokens.ts'
import type { UserRecord } from '../access/user-record.ts'
import { QuoinError } from '../shared/errors.ts'
import type { Random } from '../shared/guid.ts'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import type { Session } from '../storage/database.ts'
import { guidOf, numberIn, textIn } from '../storage/document-fields.ts'
import { findAll, findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { loadTotp } from './one-time-code.ts'
import { passkeySite } from './passkey-challenge.ts'
import { missingKey, newSecret, passkeyCount } from './second-factor.ts'

export const CHALLENGE_SECONDS = 300
const MOST_OF_USER = 10
/** One user has few, and so has one session at a provider. */
const MOST_ENDED = 100
const CHALLENGE = /^qc_[A-Za-z0-9_-]{43}$/

/**
 * `code`: a sign-in that needs a code. `setup`: one that needs a factor. `add`: a signed-in user adds a factor. `studio` and `program`: who
 * takes over a session (`handovers.ts`).
 */
export type ChallengeKind = 'code' | 'setup' | 'add' | 'studio' | 'program'

export interface Challenge {
  readonly guid: string
  readonly kind: ChallengeKind
  readonly userGuid: string
  /** Of the password that was checked. */
  readonly password: string
  readonly boundTo: string
  /** Sealed, of a factor that is set up. */
  readonly secret: string
  /** The provider in place of a password. */
  readonly from?: SessionOrigin | undefined
  /** Unix seconds: when the session that is handed over was made or confirmed. */
  readonly confirmed?: number
  /** The session that is handed to a program: with it ends what it gave. */
  readonly tokenGuid?: string
}

/** Stores a challenge and gives its text. Write the user first: the oldest challenges of the user go. */
export async function createChallenge(
  session: Session,
  random: Random,
  challenge: Omit<Challenge, 'guid'>,
  now: number,
): Promise<{ readonly challenge: string; readonly expiry: number }> {
  const { kind, userGuid, password, boundTo, secret, from, confirmed, tokenGuid } = challenge
  const newestFirst = [{ field: 'expiry', order: 'desc', missing: 'last' }] as const
  const ofUser = { kind: 'term', field: 'user_guid', value: userGuid } as const
  const stored = await findAll(
    session,
    systemStorages.signInChallenges,
    ofUser,
    2 * MOST_OF_USER,
    newestFirst,
  )
  for (const old of stored.slice(MOST_OF_USER - 1))
    await session.delete(systemStorages.signInChallenges, guidOf(old))
  const bytes = Buffer.alloc(32)
  random(bytes)
  const text = `qc_${bytes.toString('base64url')}`
  const expiry = now + CHALLENGE_SECONDS
  const fields = { kind, user_guid: userGuid, password, bound_to: boundTo, secret, expiry }
  const origin = from && { provider: from.provider, provider_sid: from.sid }
  const handed = { ...origin, ...(confirmed !== undefined && { confirmed, token_guid: tokenGuid ?? '' }) }
  const mutations = setFields({ ...fields, ...handed, challenge_hash: hash('sha256', text, 'hex') })
  await session.create(systemStorages.signInChallenges, mutations, { expiry })
  return { challenge: text, expiry }
}

/** Undefined for a text that is unknown, has expired, or belongs to another browser, session or kind of step. */
export async function findChallenge(
  session: Session,
  text: string,
  { kinds, boundTo, now }: { kinds: readonly ChallengeKind[]; boundTo: string; now: number },
): Promise<Challenge | undefined> {
  if (!CHALLENGE.test(text)) return undefined
  const key = hash('sha256', text, 'hex')
  const record = await findOne(session, systemStorages.signInChallenges, 'challenge_hash', key)
  const kind = kinds.find((one) => one === record?.kind)
  if (!record || !kind || numberIn(record.expiry) <= now || record.bound_to !== boundTo) return undefined
  return {
    ...{ guid: guidOf(record), kind, userGuid: textIn(record.user_guid), boundTo },
    ...{ password: textIn(record.password), secret: textIn(record.secret) },
    ...{
      from: originIn(record),
      confirmed: numberIn(record.confirmed),
      tokenGuid: textIn(record.token_guid),
    },
  }
}

/** False if another request has used it. */
export async function useChallenge(session: Session, { guid }: Challenge): Promise<boolean> {
  return (await session.delete(systemStorages.signInChallenges, guid)).outcome === 'written'
}

/**
 * Steps of sign-ins that wait, of one user or of one session at a provider, end with the sessions. `began` in Unix seconds.
 */
export async function deleteChallenges(
  session: Session,
  field: 'user_guid' | 'provider_sid',
  value: string,
  isEnded: (challenge: {
    readonly provider: string
    readonly sid: string
    readonly began: number
  }) => boolean,
): Promise<void> {
  const waiting = await findAll(
    session,
    systemStorages.signInChallenges,
    { kind: 'term', field, value },
    MOST_ENDED,
  )
  for (const record of waiting) {
    const { provider, provider_sid: sid, expiry } = record
    const began = numberIn(expiry) - CHALLENGE_SECONDS
    if (isEnded({ provider: textIn(provider), sid: textIn(sid), began }))
      await session.delete(systemStorages.signInChallenges, guidOf(record))
  }
}

/** Which browser a sign-in comes from. */
export function browserOf({ agent }: { readonly agent?: string | undefined }): string {
  return hash('sha256', `agent ${agent ?? ''}`, 'hex')
}

/** The password of a user, for comparison with the one that was checked. */
export function passwordMark(user: JsonObject): string {
  return hash('sha256', `password ${textIn(user.password_hash)}`, 'hex')
}

/** What an app is told of its secret. */
export interface AppSetup {
  readonly secret: string
  readonly uri: string
}

/** A new factor. `passkey`: whether a passkey can be set up. `missing`: why no app can, for people. */
export type FactorSetup = { readonly passkey: boolean } & (AppSetup | { readonly missing: string })

/** What the reply to a right password says in place of a session. */
export interface SignInChallenge {
  readonly challenge: string
  /** Unix seconds. */
  readonly expiry: number
  /** Of a factor that the user has to set up now. */
  readonly setup?: FactorSetup
  /** Whether a passkey of the user ends it too. */
  readonly passkey?: boolean
}

/** Makes the challenge of a sign-in whose password is right, in its transaction. */
export async function challengeFor(
  context: AccessContext,
  session: Session,
  user: UserRecord,
  {
    needs,
    sender,
    now,
    from,
  }: { needs: 'code' | 'setup'; sender: Sender; now: number; from?: SessionOrigin },
): Promise<SignInChallenge> {
  const passkey = typeof passkeySite(context.settings.publicUrl ?? '') !== 'string'
  const missing = missingKey(context)
  // A passkey needs no key of secrets.
  const isWithoutApp = passkey && missing !== undefined
  const made = needs === 'setup' && !isWithoutApp ? newSecret(context, await loadTotp(), user) : undefined
  const challenge = await createChallenge(
    session,
    context.random,
    {
      ...{ kind: needs, userGuid: user.guid, password: passwordMark(user.document) },
      ...{ boundTo: browserOf(sender), secret: made?.sealed ?? '', from },
    },
    now,
  )
  if (needs === 'setup' && isWithoutApp) return { ...challenge, setup: { passkey, missing } }
  if (made) return { ...challenge, setup: { secret: made.secret, uri: made.uri, passkey } }
  return { ...challenge, passkey: passkeyCount(user.document) > 0 }
}

export function secondFactorRequired({
  challenge,
  expiry,
  setup,
  passkey = false,
}: SignInChallenge): QuoinError {
  const message = requiredText(setup)
  return new QuoinError('SECOND_FACTOR_REQUIRED', message, {
    details: {
      challenge,
      expiry,
      ...(!setup && { passkey }),
      ...(setup && { setup: { ...setup } }),
    },
  })
}

function requiredText(setup: FactorSetup | undefined): string {
  if (!setup)
    return 'This account has a second factor. Send its code to POST /api/v1/auth/second-factor within five minutes, or a passkey to POST /api/v1/auth/passkey.'
  if ('missing' in setup)
    return `This account needs a second factor. Add a passkey with POST /api/v1/auth/passkey/setup. ${setup.missing}`
  return 'This account needs a second factor. Add the secret to an authenticator app and send its code to POST /api/v1/auth/second-factor, or add a passkey with POST /api/v1/auth/passkey/setup.'
}
