/**
 * Sign-in with a passkey, alone or behind a password. Its device has asked for a fingerprint or a PIN, so no code is asked for. What a thief of
 * passwords has locked stays open for it: a signature cannot be guessed. Failures count for the address only.
 */
import { type AccessContext, noteUserEvent, type Sender, unixSeconds } from '../access/access-context.ts'
import { deleteExpired } from '../access/identify.ts'
import { retryContested } from '../access/retry-on-conflict.ts'
import { refuseForProvider, type SignedIn, startSession } from '../access/sign-in.ts'
import { userRecord } from '../access/user-record.ts'
import type { Assertion } from '../shared/api/people/passkeys.ts'
import { QuoinError } from '../shared/errors.ts'
import { setFields } from '../shared/mutation.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { browserOf, type Challenge, findChallenge, passwordMark, useChallenge } from './challenge.ts'
import {
  challengeIn,
  type PasskeySite,
  type PasskeyUse,
  passkeyProblems,
  passkeySite,
} from './passkey-challenge.ts'
import { type PasskeyProof, proveAssertion, usePasskey } from './passkey-proof.ts'

interface Input extends Sender {
  readonly passkey: Assertion
}

/** Undefined for a passkey that is wrong in any way. TOO_MANY_LOGIN_ATTEMPTS for an address that has no failures left. */
export async function provenPasskey(
  { database, addresses, secret }: AccessContext,
  site: PasskeySite,
  use: PasskeyUse,
  { passkey, ip }: Input,
  now: number,
): Promise<PasskeyProof | undefined> {
  const session = database.session()
  const decided = await addresses.enter(session, ip, now)
  try {
    const challenge = challengeIn(secret, use, passkey.response.clientDataJSON, now)
    return challenge && (await proveAssertion(session, site, passkey, challenge))
  } finally {
    decided()
  }
}

/** A failure counts for the address, and stands in the user's log where the user is known. */
export async function countRefused(
  { database, addresses }: AccessContext,
  userGuid: string | undefined,
  { ip, agent }: Sender,
  now: number,
): Promise<void> {
  await retryContested(database, async (session) => {
    const stored = userGuid === undefined ? undefined : await session.get(systemStorages.users, userGuid)
    await addresses.countFailure(session, ip, now)
    await noteUserEvent(session, 'sign_in_failed', stored && userRecord(documentOf(stored)), { ip, agent })
  })
}

/** `browser`: of the cookie for which the challenge was made. */
export async function signInWithPasskey(
  context: AccessContext,
  input: Input & { readonly browser: string },
): Promise<SignedIn> {
  const now = unixSeconds(context.clock)
  return signedIn(context, { purpose: 'sign-in', owner: input.browser }, input, async () => undefined, now)
}

/** `challenge`: of the password. It ends with the sign-in. */
export async function finishWithPasskey(
  context: AccessContext,
  input: Input & { readonly challenge: string },
): Promise<SignedIn> {
  const now = unixSeconds(context.clock)
  const requested = { kinds: ['code'], boundTo: browserOf(input), now } as const
  const find = async (session: Session) => {
    const found = await findChallenge(session, input.challenge, requested)
    return found ?? null
  }
  return signedIn(context, { purpose: 'factor', owner: input.challenge }, input, find, now)
}

/** `find`: the challenge of a password that was right before; null for one that cannot be used. */
async function signedIn(
  context: AccessContext,
  use: PasskeyUse,
  input: Input,
  find: (session: Session) => Promise<Challenge | null | undefined>,
  now: number,
): Promise<SignedIn> {
  const site = passkeySite(context.settings.publicUrl ?? '')
  if (typeof site === 'string') throw new QuoinError('CONFLICT', passkeyProblems[site])
  await deleteExpired(context.database, systemStorages.signInChallenges, 'expiry', now)
  await deleteExpired(context.database, systemStorages.tokens, 'expiry', now)
  const proof = await provenPasskey(context, site, use, input, now)
  const admitted =
    proof &&
    (await retryContested(context.database, (session) => admit(context, session, proof, input, find, now)))
  if (admitted) return admitted
  await countRefused(context, proof?.passkey.userGuid, input, now)
  throw new QuoinError(
    'INVALID_CREDENTIALS',
    'This passkey signs in nobody here, or it was used already. Try again.',
  )
}

async function admit(
  context: AccessContext,
  session: Session,
  proof: PasskeyProof,
  input: Input,
  find: (session: Session) => Promise<Challenge | null | undefined>,
  now: number,
): Promise<SignedIn | undefined> {
  const { userGuid } = proof.passkey
  const written = await session.update(systemStorages.users, userGuid, setFields({ last_activity: now }))
  const user = written.outcome === 'written' ? userRecord(documentOf(written.document)) : undefined
  if (!user?.isActive) return undefined
  await context.addresses.check(session, input.ip, now)
  const before = await find(session)
  if (before === null) return undefined
  const isOfUser = before?.userGuid === userGuid && before.password === passwordMark(user.document)
  if (before && !isOfUser) return undefined
  if (!before) await refuseForProvider(context, session, user)
  if (!(await usePasskey(session, proof, userGuid, now))) return undefined
  if (before && !(await useChallenge(session, before))) return undefined
  return startSession(context, session, user, input, now, { from: before?.from })
}
