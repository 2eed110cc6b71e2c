/** A passkey that is added: by a signed-in user, or inside a sign-in that a group forces to set up a factor. */
import { type AccessContext, type Sender, unixSeconds } from '../access/access-context.ts'
import { retryContested } from '../access/retry-on-conflict.ts'
import { endSessions } from '../access/sessions.ts'
import { startSession } from '../access/sign-in.ts'
import { type UserRecord, userRecord } from '../access/user-record.ts'
import { hasInvisible } from '../access/visible-text.ts'
import type { CreationOptions, Registration } from '../shared/api/people/passkeys.ts'
import { invalidField, QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { browserOf, findChallenge, useChallenge } from './challenge.ts'
import { mailFactorChange } from './change-self.ts'
import { type FinishedSignIn, signInAgain, userOfChallenge } from './finish-sign-in.ts'
import { challengeIn, type PasskeyUse } from './passkey-challenge.ts'
import { creationOptions, refuseTooMany, siteOf } from './passkey-options.ts'
import { type NewCredential, proveRegistration } from './passkey-proof.ts'
import { createPasskey, findPasskey, passkeyRecord, passkeysOf, publicPasskey } from './passkey-record.ts'
import { hasSecondFactor, storeRecoveryCodes } from './second-factor.ts'

export interface NewPasskeyInput {
  readonly name: string
  readonly passkey: Registration
}

export interface AddedPasskey {
  readonly passkey: JsonObject
  readonly recoveryCodes: readonly string[] | undefined
}

/** A registration that was checked, and what the record of it has. */
export interface CheckedPasskey {
  readonly name: string
  readonly host: string
  readonly transports: readonly string[]
  readonly credential: NewCredential
}

/** INVALID_BODY unless the passkey was made for this site and this use. */
export async function checkNewPasskey(
  context: AccessContext,
  use: PasskeyUse,
  { name: written, passkey }: NewPasskeyInput,
): Promise<CheckedPasskey> {
  const site = siteOf(context)
  const name = checkedName(written)
  const now = unixSeconds(context.clock)
  const challenge = challengeIn(context.secret, use, passkey.response.clientDataJSON, now)
  if (!challenge)
    throw invalidField(
      'passkey',
      'passkey answers a challenge that has expired or is of another session. Try again.',
    )
  const credential = await proveRegistration(site, passkey, challenge)
  if (!credential)
    throw invalidField(
      'passkey',
      `passkey was not made for ${site.origin}, or its device did not ask who you are.`,
    )
  return { name, host: site.host, transports: passkey.response.transports ?? [], credential }
}

export function checkedName(written: string): string {
  const name = written.trim()
  if (name === '' || hasInvisible(name)) throw invalidField('name', 'name must be a text that can be seen.')
  return name
}

/**
 * In a transaction that has written the user first. The first factor of a user gives recovery codes and ends all sessions but that of `by`
 * (guid of its token). CONFLICT.
 */
export async function storePasskey(
  context: AccessContext,
  session: Session,
  user: UserRecord,
  { name, host, transports, credential }: CheckedPasskey,
  by?: string,
): Promise<AddedPasskey> {
  const own = await passkeysOf(session, user.guid)
  refuseTooMany(own)
  if (await findPasskey(session, credential.credentialId))
    throw new QuoinError('CONFLICT', 'This passkey was added before.')
  const stored = await createPasskey(
    session,
    { ...credential, transports, userGuid: user.guid, name, host },
    { backedUp: credential.backedUp, now: unixSeconds(context.clock) },
  )
  const isFirst = !hasSecondFactor(user.document)
  await session.update(systemStorages.users, user.guid, setFields({ passkeys: own.length + 1 }))
  if (isFirst) await endSessions(session, user, by)
  const recoveryCodes = isFirst ? await storeRecoveryCodes(context, session, user.guid) : undefined
  await mailFactorChange(context, session, user, { kind: 'passkey-added', by: user, title: 'passkey added' })
  return { passkey: publicPasskey(passkeyRecord(stored)), recoveryCodes }
}

/** The passkey belongs to the challenge of the password: that of another sign-in sets nothing up. */
function useToSetUp(challenge: string): PasskeyUse {
  return { purpose: 'setup', owner: challenge }
}

/** Options for a sign-in that has to set up a factor. Undefined for a challenge that cannot be used. */
export async function toSetUpPasskey(
  context: AccessContext,
  challenge: string,
  { agent }: Pick<Sender, 'agent'>,
): Promise<CreationOptions | undefined> {
  const session = context.database.session()
  const boundTo = browserOf({ agent })
  const now = unixSeconds(context.clock)
  const found = await findChallenge(session, challenge, { kinds: ['setup'], boundTo, now })
  const stored = found && (await session.get(systemStorages.users, found.userGuid))
  if (!stored) return undefined
  return creationOptions(context, useToSetUp(challenge), userRecord(documentOf(stored)), [])
}

/** Ends a sign-in that has to set up a factor. */
export async function setUpPasskey(
  context: AccessContext,
  input: NewPasskeyInput & Sender & { readonly challenge: string },
): Promise<FinishedSignIn> {
  const { database, addresses, clock } = context
  const decided = await addresses.enter(database.session(), input.ip, unixSeconds(clock))
  try {
    const checked = await checkNewPasskey(context, useToSetUp(input.challenge), input)
    return await retryContested(database, async (session) => {
      const now = unixSeconds(clock)
      const { challenge, user } = await userOfChallenge(context, session, input, ['setup'], now)
      // Another sign-in has set one up meanwhile, and its user would have to show that factor.
      if (hasSecondFactor(user.document)) throw signInAgain()
      if (!(await useChallenge(session, challenge))) throw signInAgain()
      const { recoveryCodes } = await storePasskey(context, session, user, checked)
      const signedIn = await startSession(context, session, user, input, now, { from: challenge.from })
      return { ...signedIn, ...(recoveryCodes && { recovery_codes: recoveryCodes }) }
    })
  } finally {
    decided()
  }
}
