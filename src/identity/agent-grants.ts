/**
 * What users have allowed agents by OAuth: `_agent_grants` holds one record for each consent, with what is valid now. States of a grant:
 *
 * - `code`: the user has agreed. The code works once, for a minute, for the client, redirect address and verifier that it was made for.
 * - `live`: the code was redeemed. There is one access token, of a quarter of an hour, and one refresh token, which each use replaces.
 * - gone: the user or the client has ended it, its time is over, or a code or refresh token came a second time: one of two who had it is a
 *   thief, and nobody can tell which.
 *
 * Codes and refresh tokens begin with the name of their grant, so that one that was used is known again. Only hashes are stored. The
 * tokens open `/mcp` and nothing else, and hold what both the consent and the user hold. A new password ends all grants of its user.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { type AccessContext, unixSeconds } from '../access/access-context.ts'
import type { Identity } from '../access/identity-cache.ts'
import { allowedEndpoints, requirePerson } from '../access/keys/allowed-endpoints.ts'
import { holds, scopesOf } from '../access/scopes.ts'
import { publicUser, userRecord } from '../access/user-record.ts'
import type { AgentGrant } from '../shared/api/people/agents.ts'
import { QuoinError } from '../shared/errors.ts'
import type { Random } from '../shared/guid.ts'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { documentOf, type Session } from '../storage/database.ts'
import { guidOf, numberIn, textIn, textsIn, updateHashOf } from '../storage/document-fields.ts'
import { findAll, findOne } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transactAgain } from '../storage/transact.ts'

const CODE_SECONDS = 60
const ACCESS_SECONDS = 900
const MOST_OF_USER = 50
const ACCESS = /^qa_[A-Za-z0-9_-]{43}$/
/** The name of the grant, and a secret. */
const NAMED = /^q[cr]_([A-Za-z0-9_-]{22})[A-Za-z0-9_-]{43}$/

export interface Consent {
  readonly clientId: string
  readonly clientName: string
  readonly redirectUri: string
  /** SHA-256 of the verifier, in base64url. */
  readonly challenge: string
  readonly scopes: readonly string[]
  /** Seconds until the grant ends, however often it is refreshed. */
  readonly seconds: number
  /** Of the form: a form that is sent twice agrees once. */
  readonly once: string
}

export interface IssuedTokens {
  readonly accessToken: string
  readonly refreshToken: string
  /** Seconds. */
  readonly expiresIn: number
  readonly scopes: readonly string[]
}

export interface Redeemed {
  readonly code: string
  readonly clientId: string
  readonly redirectUri: string
  readonly verifier: string
}

export interface AgentGrants {
  /** Gives a code. CONFLICT for a form that was sent before, and for too many grants; INSUFFICIENT_PERMISSIONS for an API key. */
  consent(by: Identity, consent: Consent): Promise<string>
  /** INVALID_CREDENTIALS. */
  redeem(redeemed: Redeemed): Promise<IssuedTokens>
  /** INVALID_CREDENTIALS. */
  refresh(token: string, clientId: string): Promise<IssuedTokens>
  /** Ends the grant of a token of this client. Nothing happens for other texts. */
  revoke(token: string, clientId: string): Promise<void>
  /** The newest first. NOT_FOUND for an unknown user. */
  list(userGuid: string): Promise<readonly AgentGrant[]>
  /** NOT_FOUND, INSUFFICIENT_PERMISSIONS for an API key. The tokens are refused on every node when this resolves. */
  end(guid: string, by: Identity): Promise<void>
}

/** `during`: keeps the room open while the work is under way. */
export function agentGrants(
  context: AccessContext,
  during: <T>(work: () => Promise<T>) => Promise<T>,
): AgentGrants {
  return {
    consent: (by, consent) => during(() => agree(context, by, consent)),
    redeem: (redeemed) => during(() => redeem(context, redeemed)),
    refresh: (token, clientId) => during(() => refresh(context, token, clientId)),
    revoke: (token, clientId) => during(() => revoke(context, token, clientId)),
    list: (userGuid) => during(() => list(context, userGuid)),
    end: (guid, by) => during(() => end(context, guid, by)),
  }
}

/** What an access token of an agent is found under; undefined for a text that cannot be one. */
export function agentTokenHash(token: string): string | undefined {
  return ACCESS.test(token) ? sha256(token) : undefined
}

const opensMcp = allowedEndpoints(['/mcp'])

/** The user of the grant, with the scopes that both hold; undefined if it is unknown or over, or its user is inactive or removed. */
export async function identifyAgent(
  context: AccessContext,
  tokenHash: string,
): Promise<Identity | undefined> {
  const now = unixSeconds(context.clock)
  const keep = context.identities.looking(tokenHash)
  const session = context.database.session()
  const record = await findOne(session, systemStorages.agentGrants, 'access_hash', tokenHash)
  const until = Math.min(numberIn(record?.access_expiry), numberIn(record?.expiry))
  if (!record || until <= now) return undefined
  const stored = await session.get(systemStorages.users, textIn(record.user_guid))
  const owner = stored && userRecord(documentOf(stored))
  if (!owner?.isActive) return undefined
  const held = await scopesOf(session, owner)
  const identity: Identity = {
    guid: owner.guid,
    username: owner.username,
    scopes: new Set(textsIn(record.scopes).filter((scope) => holds(held, scope))),
    user: publicUser(owner.document),
    tokenGuid: guidOf(record),
    key: { name: textIn(record.client_name), mayCall: opensMcp, byConsent: true },
  }
  keep(identity, until)
  return identity
}

/** With the sessions of a user whose password is new, or who is gone. */
export async function deleteGrantsOf(session: Session, userGuid: string): Promise<void> {
  for (const record of await grantsOf(session, userGuid))
    await session.delete(systemStorages.agentGrants, guidOf(record))
}

async function agree(context: AccessContext, by: Identity, consent: Consent): Promise<string> {
  requirePerson(by)
  const now = unixSeconds(context.clock)
  const code = newText('qc_', context.random, 65)
  const user = { guid: by.guid, username: by.username }
  return transactAgain(
    context.database,
    async (session) => {
      // The user first, so that a password that changes meanwhile ends this grant too.
      const written = await session.update(systemStorages.users, by.guid, setFields({ last_activity: now }))
      if (written.outcome !== 'written') throw refused('The user is gone.')
      const former = await grantsOf(session, by.guid)
      const over = former.filter(({ expiry }) => numberIn(expiry) <= now)
      for (const record of over) await session.delete(systemStorages.agentGrants, guidOf(record))
      if (former.length - over.length >= MOST_OF_USER)
        throw new QuoinError('CONFLICT', `A user has at most ${MOST_OF_USER} agents. End some first.`)
      const fields = {
        user_guid: by.guid,
        client_id: consent.clientId,
        client_name: consent.clientName,
        redirect_uri: consent.redirectUri,
        challenge: consent.challenge,
        scopes: [...consent.scopes],
        once_hash: sha256(consent.once),
        name_hash: sha256(nameIn(code) ?? ''),
        code_hash: sha256(code),
        redeemed: 0,
        last_used: 0,
        granted_until: now + consent.seconds,
        expiry: now + CODE_SECONDS,
      }
      await session.create(systemStorages.agentGrants, setFields(fields))
      return code
    },
    { user },
  )
}

async function redeem(context: AccessContext, { code, clientId, redirectUri, verifier }: Redeemed) {
  const challenge = hash('sha256', verifier, 'base64url')
  return issue(context, code, (record, now) => {
    if (!isHashOf(code, record.code_hash)) return 'refused'
    if (numberIn(record.redeemed) > 0) return 'used'
    const fits =
      textIn(record.client_id) === clientId &&
      textIn(record.redirect_uri) === redirectUri &&
      isEqual(textIn(record.challenge), challenge)
    return fits && numberIn(record.expiry) > now ? 'good' : 'refused'
  })
}

function refresh(context: AccessContext, token: string, clientId: string): Promise<IssuedTokens> {
  return issue(context, token, (record, now) => {
    if (textIn(record.client_id) !== clientId || numberIn(record.redeemed) === 0) return 'refused'
    if (!isHashOf(token, record.refresh_hash)) return 'used'
    return numberIn(record.expiry) > now ? 'good' : 'refused'
  })
}

type Judgement = 'good' | 'refused' | 'used'

/** New tokens in place of the text. `used`: the grant ends. */
async function issue(
  context: AccessContext,
  text: string,
  judge: (record: JsonObject, now: number) => Judgement,
): Promise<IssuedTokens> {
  const now = unixSeconds(context.clock)
  const name = nameIn(text)
  if (name === undefined) throw refused('It is no code or refresh token.')
  const accessToken = newText('qa_', context.random, 43)
  const refreshToken = `qr_${name}${newText('', context.random, 43)}`
  const issued = await transactAgain(context.database, async (session) => {
    const record = await findOne(session, systemStorages.agentGrants, 'name_hash', sha256(name))
    if (!record) return undefined
    const judgement = judge(record, now)
    const stored = await session.get(systemStorages.users, textIn(record.user_guid))
    const isActive = stored !== undefined && userRecord(documentOf(stored)).isActive
    if (judgement === 'used' || !isActive) await session.delete(systemStorages.agentGrants, guidOf(record))
    if (judgement !== 'good' || !isActive) return undefined
    const fields = {
      redeemed: numberIn(record.redeemed) || now,
      last_used: now,
      access_hash: sha256(accessToken),
      access_expiry: Math.min(now + ACCESS_SECONDS, numberIn(record.granted_until)),
      refresh_hash: sha256(refreshToken),
      expiry: numberIn(record.granted_until),
    }
    const written = await session.update(systemStorages.agentGrants, guidOf(record), setFields(fields), {
      updateHash: updateHashOf(record),
    })
    if (written.outcome !== 'written') return undefined
    return { expiresIn: fields.access_expiry - now, scopes: textsIn(record.scopes) }
  })
  if (!issued) throw refused('It is unknown, over, was used, or is of another client.')
  return { accessToken, refreshToken, ...issued }
}

async function revoke({ database }: AccessContext, token: string, clientId: string): Promise<void> {
  const name = nameIn(token)
  const accessHash = agentTokenHash(token)
  await transactAgain(database, async (session) => {
    const record =
      name !== undefined
        ? await findOne(session, systemStorages.agentGrants, 'name_hash', sha256(name))
        : accessHash && (await findOne(session, systemStorages.agentGrants, 'access_hash', accessHash))
    if (!record || textIn(record.client_id) !== clientId) return
    if (name !== undefined && !isHashOf(token, record.refresh_hash)) return
    await session.delete(systemStorages.agentGrants, guidOf(record))
  })
}

async function list({ database, clock }: AccessContext, userGuid: string): Promise<readonly AgentGrant[]> {
  const now = unixSeconds(clock)
  const session = database.session()
  if (!(await session.get(systemStorages.users, userGuid)))
    throw new QuoinError('NOT_FOUND', `There is no user ${userGuid}.`)
  const live = (await grantsOf(session, userGuid)).filter(
    ({ expiry, redeemed }) => numberIn(expiry) > now && numberIn(redeemed) > 0,
  )
  return live.map((record) => ({
    guid: guidOf(record),
    client: textIn(record.client_name),
    client_id: textIn(record.client_id),
    scopes: [...textsIn(record.scopes)],
    created: numberIn(record.redeemed),
    last_used: numberIn(record.last_used),
    expiry: numberIn(record.expiry),
  }))
}

async function end({ database }: AccessContext, guid: string, by: Identity): Promise<void> {
  requirePerson(by)
  await transactAgain(database, (session) => deleteGrantOf(session, by.guid, guid), {
    user: { guid: by.guid, username: by.username },
  })
}

/** NOT_FOUND for one that is unknown or of another user. */
export async function deleteGrantOf(session: Session, userGuid: string, guid: string): Promise<void> {
  const stored = await session.get(systemStorages.agentGrants, guid)
  if (!stored || textIn(documentOf(stored).user_guid) !== userGuid)
    throw new QuoinError('NOT_FOUND', `This user has no agent ${guid}.`)
  await session.delete(systemStorages.agentGrants, guid)
}

function grantsOf(session: Session, userGuid: string): Promise<JsonObject[]> {
  const ofUser = { kind: 'term', field: 'user_guid', value: userGuid } as const
  const newestFirst = [{ field: '_meta.cms', order: 'desc', missing: 'last' }] as const
  return findAll(session, systemStorages.agentGrants, ofUser, 2 * MOST_OF_USER, newestFirst)
}

function nameIn(text: string): string | undefined {
  return NAMED.exec(text)?.[1]
}

function newText(prefix: string, random: Random, length: number): string {
  const bytes = Buffer.alloc(Math.ceil((length * 3) / 4))
  random(bytes)
  return prefix + bytes.toString('base64url').slice(0, length)
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}

function isHashOf(text: string, stored: JsonObject[string] | undefined): boolean {
  return typeof stored === 'string' && isEqual(stored, sha256(text))
}

function isEqual(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

function refused(message: string): QuoinError {
  return new QuoinError('INVALID_CREDENTIALS', message)
}
