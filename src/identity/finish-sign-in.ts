/**
 * The second step of a sign-in. States of a challenge: made by a right password → used by a right code, which makes the session; or
 * expired after five minutes; or void because the user, the password or the browser is another one. A wrong code leaves it.
 */
import { type AccessContext, noteUserEvent, type Sender, unixSeconds } from '../access/access-context.ts'
import { retryContested } from '../access/retry-on-conflict.ts'
import { endSessions } from '../access/sessions.ts'
import { type SignedIn, startSession } from '../access/sign-in.ts'
import { type UserRecord, userRecord } from '../access/user-record.ts'
import { QuoinError } from '../shared/errors.ts'
import { setFields } from '../shared/mutation.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { systemStorages } from '../storage/system-storages.ts'
import {
  browserOf,
  type Challenge,
  type ChallengeKind,
  findChallenge,
  passwordMark,
  useChallenge,
} from './challenge.ts'
import { loadTotp, type Totp } from './one-time-code.ts'
import { hasSecondFactor, judgeCode, stepOfNew, storeFactor } from './second-factor.ts'

export interface CodeInput extends Sender {
  readonly challenge: string
  readonly code: string
}

/** What a sign-in with a code gives. */
export type FinishedSignIn = SignedIn & { readonly recovery_codes?: readonly string[] }

/** INVALID_CREDENTIALS for a wrong code and for a challenge that cannot be used; TOO_MANY_LOGIN_ATTEMPTS. */
export async function finishSignIn(context: AccessContext, input: CodeInput): Promise<FinishedSignIn> {
  const { database, addresses } = context
  const totp = await loadTotp()
  const decided = await addresses.enter(database.session(), input.ip, unixSeconds(context.clock))
  try {
    const result = await retryContested(database, (session) => judged(context, totp, session, input))
    if (result !== 'wrong') return result
  } finally {
    decided()
  }
  throw new QuoinError('INVALID_CREDENTIALS', 'The code is wrong, or it was used already.')
}

async function judged(
  context: AccessContext,
  totp: Totp,
  session: Session,
  input: CodeInput,
): Promise<FinishedSignIn | 'wrong'> {
  const now = unixSeconds(context.clock)
  const { challenge, user } = await userOfChallenge(context, session, input, ['code', 'setup'], now)
  const refused = async () => {
    await context.addresses.countFailure(session, input.ip, now)
    await noteUserEvent(session, 'sign_in_failed', user, input)
    return 'wrong' as const
  }
  if (challenge.kind === 'setup') {
    // Another sign-in has set one up meanwhile: this one would replace it.
    if (hasSecondFactor(user.document)) throw signInAgain()
    // A challenge without an app is for a passkey.
    if (challenge.secret === '') return refused()
    const step = stepOfNew(context, totp, user.guid, challenge.secret, input.code, now)
    if (step === undefined) return refused()
    if (!(await useChallenge(session, challenge))) throw signInAgain()
    await endSessions(session, user)
    const recovery_codes = await storeFactor(context, session, user.guid, {
      ...{ sealed: challenge.secret, step, now },
    })
    return {
      ...(await startSession(context, session, user, input, now, { from: challenge.from })),
      recovery_codes,
    }
  }
  if ((await judgeCode(context, totp, session, user.document, input.code, now)) === 'wrong') return refused()
  if (!(await useChallenge(session, challenge))) throw signInAgain()
  return startSession(context, session, user, input, now, { from: challenge.from })
}

/** Writes the user of a challenge first. INVALID_CREDENTIALS for a challenge that cannot be used; TOO_MANY_LOGIN_ATTEMPTS. */
export async function userOfChallenge(
  context: AccessContext,
  session: Session,
  input: Sender & { readonly challenge: string },
  kinds: readonly ChallengeKind[],
  now: number,
): Promise<{ readonly challenge: Challenge; readonly user: UserRecord }> {
  const requested = { kinds, boundTo: browserOf(input), now }
  const challenge = await findChallenge(session, input.challenge, requested)
  if (!challenge) throw signInAgain()
  const seen = setFields({ last_activity: now })
  const written = await session.update(systemStorages.users, challenge.userGuid, seen)
  if (written.outcome !== 'written') throw signInAgain()
  const user = userRecord(documentOf(written.document))
  if (!user.isActive || passwordMark(user.document) !== challenge.password) throw signInAgain()
  await context.addresses.check(session, input.ip, now)
  return { challenge, user }
}

export function signInAgain(): QuoinError {
  return new QuoinError('INVALID_CREDENTIALS', 'This sign-in has expired or was used. Sign in again.')
}
