/**
 * Second factors and confirmations of users: the entry of this folder. A user sees and changes the own factor; an administrator
 * removes that of another user whom they may change. Whatever changes a factor, except a sign-in, needs a confirmed session.
 */
import { type AccessContext, noteUserEvent, type Sender, unixSeconds } from '../access/access-context.ts'
import type { Identity } from '../access/identity-cache.ts'
import { requirePerson } from '../access/keys/allowed-endpoints.ts'
import type { AccountMail } from '../access/links/account-mail.ts'
import { checkPasswordOf } from '../access/sign-in.ts'
import { deleteTokensOf } from '../access/tokens.ts'
import { type UserRecord, userRecord } from '../access/user-record.ts'
import { changeUser } from '../access/users.ts'
import { accountMailJob } from '../records/mail/mail-job.ts'
import { invalidField, QuoinError } from '../shared/errors.ts'
import { setFields } from '../shared/mutation.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { numberIn, textIn, textsIn } from '../storage/document-fields.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import {
  browserOf,
  type ChallengeKind,
  createChallenge,
  findChallenge,
  passwordMark,
  type SignInChallenge,
  useChallenge,
} from './challenge.ts'
import { type CodeInput, type FinishedSignIn, finishSignIn } from './finish-sign-in.ts'
import { loadTotp } from './one-time-code.ts'
import {
  hasSecondFactor,
  judgeCode,
  newSecret,
  removals,
  setupOf,
  stepOfNew,
  storeFactor,
  storeRecoveryCodes,
} from './second-factor.ts'

/** Whose sessions a route asks to confirm: a password alone protects little against who has the session already. */
export type Confirmed = 'users with a factor' | 'all'

/** Seconds for which a session counts as confirmed. */
const CONFIRMED_SECONDS = 300

/** Times in Unix seconds, 0 for never. */
export interface FactorState {
  readonly totp: boolean
  readonly since: number
  readonly last_used: number
  readonly recovery_codes: number
  /** After wrong codes. */
  readonly locked_until: number
}

export interface OpenedChallenge {
  readonly kind: ChallengeKind
  readonly setup?: { readonly secret: string; readonly uri: string }
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
  begin(by: Identity): Promise<Required<SignInChallenge>>
  /** INVALID_BODY for a wrong code or a challenge that cannot be used. */
  add(by: Identity, input: Pick<CodeInput, 'challenge' | 'code'>): Promise<readonly string[]>
  /** In place of those before. CONFLICT without a factor. */
  renewRecoveryCodes(by: Identity): Promise<readonly string[]>
  /**
   * Removes the factor of a user. Of another user: ends all their sessions. CONFLICT without a factor, NOT_FOUND,
   * INSUFFICIENT_PERMISSIONS.
   */
  remove(userGuid: string, by: Identity): Promise<FactorState>
  /**
   * CONFIRMATION_REQUIRED unless the session was made or confirmed in the last five minutes (`confirmSeconds`). API keys and the
   * command line have no session and are not asked.
   */
  requireConfirmed(by: Identity, of: Confirmed): void
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
    stateOf: (guid) =>
      during(async () => {
        const stored = await context.database.session().get(systemStorages.users, guid)
        if (!stored) throw new QuoinError('NOT_FOUND', `There is no user ${guid}.`)
        return stateIn(userRecord(documentOf(stored)))
      }),
    begin: (by) => during(() => begin(context, by)),
    add: (by, input) => during(() => add(context, by, input)),
    renewRecoveryCodes: (by) =>
      during(() =>
        ofSelf(context, by, async (session, user) => {
          if (!hasSecondFactor(user.document)) throw noFactor()
          return storeRecoveryCodes(context, session, user.guid)
        }),
      ),
    remove: (guid, by) => during(() => remove(context, guid, by)),
    requireConfirmed: (by, of) => requireConfirmed(context, by, of),
    confirm: (by, input) => during(() => confirm(context, by, input)),
  }
}

function requireConfirmed(
  { settings, clock }: AccessContext,
  { confirmed, hasSecondFactor = false }: Identity,
  of: Confirmed,
): void {
  if (of === 'users with a factor' && !hasSecondFactor) return
  const { confirmSeconds = CONFIRMED_SECONDS } = settings
  const age = Math.floor(clock() / 1000) - (confirmed ?? Infinity)
  if (confirmSeconds === 0 || age <= confirmSeconds) return
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
  if (found.kind === 'code') return { kind: found.kind }
  const { guid, username } = userRecord(documentOf(stored))
  return { kind: found.kind, setup: setupOf(context, await loadTotp(), { guid, username }, found.secret) }
}

async function begin(context: AccessContext, by: Identity): Promise<Required<SignInChallenge>> {
  const totp = await loadTotp()
  return ofSelf(context, by, async (session, user, now) => {
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
  return ofSelf(context, by, async (session, user, now) => {
    const challenge = await findChallenge(session, text, { kinds: ['add'], boundTo: by.tokenGuid, now })
    if (challenge?.userGuid !== user.guid || challenge.password !== passwordMark(user.document))
      throw invalidField('challenge', 'challenge has expired or belongs to another session. Begin again.')
    const step = stepOfNew(context, totp, user.guid, challenge.secret, code, now)
    if (step === undefined)
      throw invalidField('code', 'code is wrong. Check the time of the device that shows it.')
    if (!(await useChallenge(session, challenge)))
      throw invalidField('challenge', 'challenge was used by another request. Begin again.')
    return storeFactor(context, session, user.guid, { sealed: challenge.secret, step, now })
  })
}

async function remove(context: AccessContext, guid: string, by: Identity): Promise<FactorState> {
  await changeUser(context, guid, by, async (session, user) => {
    if (!hasSecondFactor(user.document)) throw noFactor()
    const written = await session.update(systemStorages.users, guid, removals())
    if (written.outcome !== 'written') throw new QuoinError('NOT_FOUND', `There is no user ${guid}.`)
    if (by.guid !== guid) {
      await deleteTokensOf(session, guid)
      await mailReset(context, session, user, by)
    }
    return documentOf(written.document)
  })
  return stateIn(undefined)
}

/** Days for which the mail is tried. */
const MAIL_SECONDS = 7 * 86_400

/** Tells the user: a reset that the user did not ask for is an attack. */
async function mailReset(
  { settings, clock }: AccessContext,
  session: Session,
  { guid, username, document }: UserRecord,
  by: Identity,
): Promise<void> {
  const email = textIn(document.email)
  if (!settings.links || email === '') return
  const mail: AccountMail = {
    ...{ kind: 'factor', email, user: guid, inviter: by.username, language: '', invitation: '' },
    ...{ until: Math.floor(clock() / 1000) + MAIL_SECONDS, ip: '', agent: '' },
  }
  await session.enqueue(accountMailJob(mail, `${username}: second factor removed`))
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
  const until = await ofSelf(context, by, async (session, user, now) => {
    if (hasSecondFactor(user.document)) {
      if (code === '') throw invalidField('code', 'code is required, because you have a second factor.')
      if ((await judgeCode(context, totp, session, user.document, code, now)) === 'wrong') {
        await noteUserEvent(session, 'sign_in_failed', user, { ip, agent })
        return undefined
      }
    }
    await session.update(systemStorages.tokens, by.tokenGuid, setFields({ confirmed: now }))
    return now + (context.settings.confirmSeconds || CONFIRMED_SECONDS)
  })
  if (until === undefined) throw invalidField('code', 'code is wrong, or it was used already.')
  return until
}

/** A change of the caller's own record, in a transaction that writes the record first. */
function ofSelf<T>(
  context: AccessContext,
  by: Identity,
  work: (session: Session, user: UserRecord, now: number) => Promise<T>,
): Promise<T> {
  requirePerson(by)
  const now = unixSeconds(context.clock)
  return transact(
    context.database,
    async (session) => {
      const written = await session.update(systemStorages.users, by.guid, setFields({ last_activity: now }))
      if (written.outcome !== 'written') throw new QuoinError('NOT_FOUND', 'Your account was removed.')
      return work(session, userRecord(documentOf(written.document)), now)
    },
    { user: { guid: by.guid, username: by.username } },
  )
}

function stateIn(user: UserRecord | undefined): FactorState {
  const document = user?.document ?? {}
  return {
    totp: hasSecondFactor(document),
    since: numberIn(document.totp_since),
    last_used: numberIn(document.totp_used),
    recovery_codes: textsIn(document.recovery_codes).length,
    locked_until: numberIn(document.factor_locked_until),
  }
}

function noFactor(): QuoinError {
  return new QuoinError('CONFLICT', 'This user has no second factor.')
}
