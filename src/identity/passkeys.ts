/**
 * Passkeys (WebAuthn): the entry of what users do with them. A passkey is held by a device that asks for a fingerprint or a PIN, so that it
 * counts as both factors: it signs in alone. After a password it is the second factor, and it confirms a session. The public address decides
 * where passkeys work (`passkey-challenge.ts`); without a host name there are none.
 */
import { type AccessContext, type Sender, unixSeconds } from '../access/access-context.ts'
import type { Identity } from '../access/identity-cache.ts'
import { requirePerson } from '../access/keys/allowed-endpoints.ts'
import type { SignedIn } from '../access/sign-in.ts'
import type { Assertion, CreationOptions, RequestOptions } from '../shared/api/people/passkeys.ts'
import { invalidField, QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { textIn } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { browserOf, findChallenge } from './challenge.ts'
import { changeSelf, confirmSession, mailFactorChange } from './change-self.ts'
import type { FinishedSignIn } from './finish-sign-in.ts'
import {
  type AddedPasskey,
  checkedName,
  checkNewPasskey,
  type NewPasskeyInput,
  setUpPasskey,
  storePasskey,
  toSetUpPasskey,
} from './new-passkey.ts'
import type { PasskeyUse } from './passkey-challenge.ts'
import { type PasskeyProblem, type PasskeySite, passkeySite } from './passkey-challenge.ts'
import { creationOptions, requestOptions, siteOf } from './passkey-options.ts'
import { usePasskey } from './passkey-proof.ts'
import { passkeyRecord, passkeysOf, publicPasskey } from './passkey-record.ts'
import { countRefused, finishWithPasskey, provenPasskey, signInWithPasskey } from './passkey-sign-in.ts'
import { hasApp, ownRemovals } from './second-factor.ts'

export interface Passkeys {
  /** Where they work, or why they do not. */
  site(): PasskeySite | PasskeyProblem
  /** A host for which a user has a passkey, other than that of this cluster: the passkey can no longer sign in. */
  formerHost(): Promise<string | undefined>
  /** For the sign-in page. `browser`: what its cookie holds. CONFLICT where there are no passkeys. */
  toSignIn(browser: string): RequestOptions
  /** INVALID_CREDENTIALS, TOO_MANY_LOGIN_ATTEMPTS. */
  signIn(input: PasskeyInput & { readonly browser: string }): Promise<SignedIn>
  /** For the second step of a sign-in, whose password was right. Undefined for a challenge that cannot be used. */
  toFinish(challenge: string, sender: Pick<Sender, 'agent'>): Promise<RequestOptions | undefined>
  /** As `signIn`. */
  finish(input: PasskeyInput & { readonly challenge: string }): Promise<SignedIn>
  /** For a sign-in that has to set up a factor. Undefined for a challenge that cannot be used. CONFLICT where there are no passkeys. */
  toSetUp(challenge: string, sender: Pick<Sender, 'agent'>): Promise<CreationOptions | undefined>
  /**
   * Ends such a sign-in, with recovery codes. INVALID_BODY for a passkey that was not made for it, INVALID_CREDENTIALS for a challenge that
   * cannot be used, CONFLICT, TOO_MANY_LOGIN_ATTEMPTS.
   */
  setUp(input: NewPasskeyInput & Sender & { readonly challenge: string }): Promise<FinishedSignIn>
  list(userGuid: string): Promise<readonly JsonObject[]>
  /** CONFLICT where there are no passkeys, or the caller has ten. */
  toAdd(by: Identity): Promise<CreationOptions>
  /** Gives recovery codes with the first factor. INVALID_BODY, CONFLICT. */
  add(by: Identity, input: NewPasskeyInput): Promise<AddedPasskey>
  /** NOT_FOUND. */
  rename(by: Identity, guid: string, name: string): Promise<JsonObject>
  remove(by: Identity, guid: string): Promise<void>
  toConfirm(by: Identity): Promise<RequestOptions>
  /** Confirms the caller's session. Gives until when (Unix seconds). INVALID_BODY, TOO_MANY_LOGIN_ATTEMPTS. */
  confirm(by: Identity, input: PasskeyInput): Promise<number>
}

export interface PasskeyInput extends Sender {
  readonly passkey: Assertion
}

/** `during`: keeps the room open while the work is under way. */
export function passkeys(
  context: AccessContext,
  during: <T>(work: () => Promise<T>) => Promise<T>,
): Passkeys {
  return {
    site: () => passkeySite(context.settings.publicUrl ?? ''),
    formerHost: () => during(() => formerHost(context)),
    toSignIn: (browser) => requestOptions(context, { purpose: 'sign-in', owner: browser }, []),
    signIn: (input) => during(() => signInWithPasskey(context, input)),
    toFinish: (challenge, sender) => during(() => toFinish(context, challenge, sender)),
    finish: (input) => during(() => finishWithPasskey(context, input)),
    toSetUp: (challenge, sender) => during(() => toSetUpPasskey(context, challenge, sender)),
    setUp: (input) => during(() => setUpPasskey(context, input)),
    list: (guid) =>
      during(async () => (await passkeysOf(context.database.session(), guid)).map(publicPasskey)),
    toAdd: (by) => during(() => toAdd(context, by)),
    add: (by, input) => during(() => add(context, by, input)),
    rename: (by, guid, name) => during(() => rename(context, by, guid, name)),
    remove: (by, guid) => during(() => remove(context, by, guid)),
    toConfirm: (by) =>
      during(async () => {
        requirePerson(by)
        const own = await passkeysOf(context.database.session(), by.guid)
        return requestOptions(context, { purpose: 'confirm', owner: by.tokenGuid }, own)
      }),
    confirm: (by, input) => during(() => confirm(context, by, input)),
  }
}

async function formerHost({ database, settings }: AccessContext): Promise<string | undefined> {
  const site = passkeySite(settings.publicUrl ?? '')
  const present = typeof site === 'string' ? '' : site.host
  // Two looks into the index of hosts, however many passkeys there are.
  for (const bounds of [{ lt: present }, { gt: present }]) {
    const query = { kind: 'range', field: 'host', bounds } as const
    const [found] = await findAll(database.session(), systemStorages.passkeys, query, 1)
    if (found) return textIn(found.host)
  }
  return undefined
}

async function toFinish(
  context: AccessContext,
  challenge: string,
  { agent }: Pick<Sender, 'agent'>,
): Promise<RequestOptions | undefined> {
  const session = context.database.session()
  const requested = {
    kinds: ['code'],
    boundTo: browserOf({ agent }),
    now: unixSeconds(context.clock),
  } as const
  const found = await findChallenge(session, challenge, requested)
  const own = found ? await passkeysOf(session, found.userGuid) : []
  if (own.length === 0) return undefined
  return requestOptions(context, { purpose: 'factor', owner: challenge }, own)
}

async function toAdd(context: AccessContext, by: Identity): Promise<CreationOptions> {
  requirePerson(by)
  siteOf(context)
  return creationOptions(context, useToAdd(by), by, await passkeysOf(context.database.session(), by.guid))
}

function useToAdd({ tokenGuid }: Identity): PasskeyUse {
  return { purpose: 'add', owner: tokenGuid }
}

async function add(context: AccessContext, by: Identity, input: NewPasskeyInput): Promise<AddedPasskey> {
  requirePerson(by)
  const checked = await checkNewPasskey(context, useToAdd(by), input)
  return changeSelf(context, by, (session, user) =>
    storePasskey(context, session, user, checked, by.tokenGuid),
  )
}

async function rename(context: AccessContext, by: Identity, guid: string, written: string) {
  const name = checkedName(written)
  return changeSelf(context, by, async (session, user) => {
    await ownPasskey(session, user.guid, guid)
    const renamed = await session.update(systemStorages.passkeys, guid, setFields({ name }))
    if (renamed.outcome !== 'written') throw unknownPasskey(guid)
    return publicPasskey(passkeyRecord(documentOf(renamed.document)))
  })
}

async function remove(context: AccessContext, by: Identity, guid: string): Promise<void> {
  await changeSelf(context, by, async (session, user) => {
    await ownPasskey(session, user.guid, guid)
    await session.delete(systemStorages.passkeys, guid)
    const left = await passkeysOf(session, user.guid)
    const isLast = left.length === 0 && !hasApp(user.document)
    // Recovery codes stand in for a factor: without one they would sign in nobody.
    const change = isLast ? ownRemovals() : setFields({ passkeys: left.length })
    await session.update(systemStorages.users, user.guid, change)
    await mailFactorChange(context, session, user, { kind: 'passkey-removed', by, title: 'passkey removed' })
  })
}

async function ownPasskey(session: Session, userGuid: string, guid: string): Promise<void> {
  const stored = await session.get(systemStorages.passkeys, guid)
  if (!stored || passkeyRecord(documentOf(stored)).userGuid !== userGuid) throw unknownPasskey(guid)
}

function unknownPasskey(guid: string): QuoinError {
  return new QuoinError('NOT_FOUND', `You have no passkey ${guid}.`)
}

async function confirm(context: AccessContext, by: Identity, input: PasskeyInput): Promise<number> {
  requirePerson(by)
  const now = unixSeconds(context.clock)
  const use = { purpose: 'confirm', owner: by.tokenGuid } as const
  const proof = await provenPasskey(context, siteOf(context), use, input, now)
  const until =
    proof &&
    (await changeSelf(context, by, async (session, user) =>
      (await usePasskey(session, proof, user.guid, now))
        ? confirmSession(context, session, by, now)
        : undefined,
    ))
  if (until !== undefined) return until
  await countRefused(context, by.guid, input, now)
  throw invalidField('passkey', 'passkey is not one of yours, or it was used already. Try again.')
}
