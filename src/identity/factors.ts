/**
 * Second factors and confirmations of users: the entry of this folder. A user sees and changes the own factor; an administrator
 * removes that of another user whom they may change. Whatever changes a factor, except a sign-in, needs a confirmed session.
 */
import { type AccessContext, noteUserEvent, type Sender, unixSeconds } from '../access/access-context.ts'
import type { Identity } from '../access/identity-cache.ts'
import { requirePerson } from '../access/keys/allowed-endpoints.ts'
import { endSessions } from '../access/sessions.ts'
import { checkPasswordOf } from '../access/sign-in.ts'
import { deleteTokensOf } from '../access/tokens.ts'
import { userRecord } from '../access/user-record.ts'
import { changeUser } from '../access/users.ts'
import { invalidField, QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { documentOf } from '../storage/database.ts'
import { numberIn, textIn, textsIn } from '../storage/document-fields.ts'
import { systemStorages } from '../storage/system-storages.ts'
import {
  type AppSetup,
  browserOf,
  type ChallengeKind,
  createChallenge,
  findChallenge,
  passwordMark,
  type SignInChallenge,
  useChallenge,
} from './challenge.ts'
import { CONFIRMED_SECONDS, changeSelf, confirmSession, mailFactorChange } from './change-self.ts'
import { type CodeInput, type FinishedSignIn, finishSignIn } from './finish-sign-in.ts'
import { loadTotp } from './one-time-code.ts'
import { deletePasskeysOf } from './passkey-record.ts'
import {
  appRemovals,
  hasApp,
  hasSecondFactor,
  judgeCode,
  newSecret,
  passkeyCount,
  removals,
  setupOf,
  stepOfNew,
  storeFactor,
  storeRecoveryCodes,
} from './second-factor.ts'

/** Times in Unix seconds, 0 for never. */
export interface FactorState {
  /** Not of one who signs in by a provider or a passkey alone: such a user confirms a session by a new sign-in. */
  readonly password: boolean
  readonly totp: boolean
  readonly passkeys: number
  readonly since: number
  readonly last_used: number
  readonly recovery_codes: number
  /** After wrong codes. */
  readonly locked_until: number
}

export interface OpenedChallenge {
  readonly kind: ChallengeKind
  /** Undefined of a setup: a passkey alone can be set up. */
  readonly setup?: AppSetup
}

interface BegunApp extends Pick<SignInChallenge, 'challenge' | 'expiry'> {
  readonly setup: AppSetup
}

export interface Factors {
  /** Ends a challenge of `signIn`. INVALID_CREDENTIALS, TOO_MANY_LOGIN_ATTEMPTS. */
  finishSignIn(input: CodeInput): Promise<FinishedSignIn>
  /**
   * What a challenge of this browser or session is for; undefined if it cannot be used. Changes nothing. A setup has its secret, for
   * a page that shows it again.
   */
  openChallenge(
    text: string,
    from: { readonly agent?: string | undefined; readonly by?: Identity | undefined },
  ): Promise<OpenedChallenge | undefined>
  /** NOT_FOUND for an unknown user. */
  stateOf(userGuid: string): Promise<FactorState>
  /** A secret for the caller's app. Nothing changes until `add` is called with a code of it. */
  begin(by: Identity): Promise<BegunApp>
  /** INVALID_BODY for a wrong code or a challenge that cannot be used. */
  add(by: Identity, input: Pick<CodeInput, 'challenge' | 'code'>): Promise<readonly string[]>
  /** In place of those before. CONFLICT without a factor. */
  renewRecoveryCodes(by: Identity): Promise<readonly string[]>
  /**
   * Removes the caller's app, or all factors of another user, and ends all sessions of that user. CONFLICT where there is none,
   * NOT_FOUND, INSUFFICIENT_PERMISSIONS.
   */
  remove(userGuid: string, by: Identity): Promise<FactorState>
  /**
   * CONFIRMATION_REQUIRED unless the session was made or confirmed in the last `confirmSeconds`. API keys and the
   * command line have no session and are not asked.
   */
  requireConfirmed(by: Identity): void
  /**
   * Confirms the caller's session by the password, and by a code where the caller has a factor. Gives until when (Unix seconds).
   * INVALID_BODY, TOO_MANY_LOGIN_ATTEMPTS.
   */
  confirm(by: Identity, input: Sender & { readonly password: string; readonly code: string }): Promise<number>
}

/** `during`: keeps the room open while the work is under way. */
export function factors(context: AccessContext, during: <T>(work: () => Promise<T>) => Promise<T>): Factors {
  return {
    finishSignIn: (input) => during(() => finishSignIn(context, input)),
    openChallenge: (text, from) => during(() => openChallenge(context, text, from)),
    stateOf: (guid) => during(async () => stateIn(await userOf(context, guid))),
    begin: (by) => during(() => begin(context, by)),
    add: (by, input) => during(() => add(context, by, input)),
    renewRecoveryCodes: (by) =>
      during(() =>
        changeSelf(context, by, async (session, user) => {
          if (!hasSecondFactor(user.document)) throw noFactor(true)
          return storeRecoveryCodes(context, session, user.guid)
        }),
      ),
    remove: (guid, by) => during(() => remove(context, guid, by)),
    requireConfirmed: (by) => requireConfirmed(context, by),
    confirm: (by, input) => during(() => confirm(context, by, input)),
  }
}

async function userOf({ database }: AccessContext, guid: string): Promise<JsonObject> {
  const stored = await database.session().get(systemStorages.users, guid)
  if (!stored) throw new QuoinError('NOT_FOUND', `There is no user ${guid}.`)
  return documentOf(stored)
}

/** Seconds by which the clock of the node that confirmed a session may be ahead. Beyond them this one was set back, and the session's age is unknown. */
const CLOCKS_DIFFER = 5

function requireConfirmed({ settings, clock }: AccessContext, { confirmed }: Identity): void {
  const { confirmSeconds = CONFIRMED_SECONDS } = settings
  // API keys and the command line have no session.
  if (confirmed === undefined) return
  const age = unixSeconds(clock) - confirmed
  if (confirmSeconds === 0 || (age >= -CLOCKS_DIFFER && age <= confirmSeconds)) return
  throw new QuoinError(
    'CONFIRMATION_REQUIRED',
    'The last sign-in of this session is too old for this. Confirm it with POST /api/v1/auth/confirm and send the request again. Programs use an API key.',
  )
}

async function openChallenge(
  context: AccessContext,
  text: string,
  { agent, by }: { readonly agent?: string | undefined; readonly by?: Identity | undefined },
): Promise<OpenedChallenge | undefined> {
  const session = context.database.session()
  const now = unixSeconds(context.clock)
  const found =
    (await findChallenge(session, text, { kinds: ['code', 'setup'], boundTo: browserOf({ agent }), now })) ??
    (by && (await findChallenge(session, text, { kinds: ['add'], boundTo: by.tokenGuid, now })))
  const stored = found && (await session.get(systemStorages.users, found.userGuid))
  if (!found || !stored) return undefined
  if (found.kind === 'code' || found.secret === '') return { kind: found.kind }
  const { guid, username } = userRecord(documentOf(stored))
  return { kind: found.kind, setup: setupOf(context, await loadTotp(), { guid, username }, found.secret) }
}

async function begin(context: AccessContext, by: Identity): Promise<BegunApp> {
  const totp = await loadTotp()
  return changeSelf(context, by, async (session, user, now) => {
    const { secret, uri, sealed } = newSecret(context, totp, user)
    const password = passwordMark(user.document)
    const about = {
      kind: 'add',
      userGuid: user.guid,
      password,
      boundTo: by.tokenGuid,
      secret: sealed,
    } as const
    return { ...(await createChallenge(session, context.random, about, now)), setup: { secret, uri } }
  })
}

async function add(
  context: AccessContext,
  by: Identity,
  { challenge: text, code }: Pick<CodeInput, 'challenge' | 'code'>,
): Promise<readonly string[]> {
  const totp = await loadTotp()
  return changeSelf(context, by, async (session, user, now) => {
    const challenge = await findChallenge(session, text, { kinds: ['add'], boundTo: by.tokenGuid, now })
    if (challenge?.userGuid !== user.guid || challenge.password !== passwordMark(user.document))
      throw invalidField('challenge', 'challenge has expired or belongs to another session. Begin again.')
    const step = stepOfNew(context, totp, user.guid, challenge.secret, code, now)
    if (step === undefined)
      throw invalidField('code', 'code is wrong. Check the time of the device that shows it.')
    if (!(await useChallenge(session, challenge)))
      throw invalidField('challenge', 'challenge was used by another request. Begin again.')
    if (!hasSecondFactor(user.document)) await endSessions(session, user, by.tokenGuid)
    return storeFactor(context, session, user.guid, { sealed: challenge.secret, step, now })
  })
}

async function remove(context: AccessContext, guid: string, by: Identity): Promise<FactorState> {
  const isOwn = by.guid === guid
  let state = stateIn({})
  await changeUser(context, guid, by, async (session, user) => {
    if (isOwn ? !hasApp(user.document) : !hasSecondFactor(user.document)) throw noFactor(isOwn)
    const change = isOwn ? appRemovals(user.document) : removals()
    const written = await session.update(systemStorages.users, guid, change)
    if (written.outcome !== 'written') throw new QuoinError('NOT_FOUND', `There is no user ${guid}.`)
    if (!isOwn) {
      await deletePasskeysOf(session, guid)
      await deleteTokensOf(session, guid)
      await mailFactorChange(context, session, user, { kind: 'factor', by, title: 'second factor removed' })
    }
    state = stateIn(documentOf(written.document))
    return documentOf(written.document)
  })
  return state
}

async function confirm(
  context: AccessContext,
  by: Identity,
  { password, code, ip, agent }: Sender & { readonly password: string; readonly code: string },
): Promise<number> {
  requirePerson(by)
  try {
    await checkPasswordOf(context, { username: by.username, password, ip, agent })
  } catch (error) {
    // The caller is known and signed in: a 401 would send them to sign in again.
    if (!(error instanceof QuoinError) || error.code !== 'INVALID_CREDENTIALS') throw error
    throw invalidField('password', 'password is wrong.')
  }
  const totp = await loadTotp()
  const until = await changeSelf(context, by, async (session, user, now) => {
    if (hasSecondFactor(user.document)) {
      if (code === '') throw invalidField('code', 'code is required, because you have a second factor.')
      if ((await judgeCode(context, totp, session, user.document, code, now)) === 'wrong') {
        await noteUserEvent(session, 'sign_in_failed', user, { ip, agent })
        return undefined
      }
    }
    return confirmSession(context, session, by, now)
  })
  if (until === undefined) throw invalidField('code', 'code is wrong, or it was used already.')
  return until
}

function stateIn(user: JsonObject): FactorState {
  return {
    password: textIn(user.password_hash) !== '',
    totp: hasApp(user),
    passkeys: passkeyCount(user),
    since: numberIn(user.totp_since),
    last_used: numberIn(user.totp_used),
    recovery_codes: textsIn(user.recovery_codes).length,
    locked_until: numberIn(user.factor_locked_until),
  }
}

function noFactor(isOwn: boolean): QuoinError {
  return new QuoinError(
    'CONFLICT',
    isOwn ? 'You have no second factor of this kind.' : 'This user has no second factor.',
  )
}
