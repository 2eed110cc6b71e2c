/**
 * API keys: named secrets for programs that call in, each owned by a user. What a key holds is decided at every request
 * from the owner's scopes of that moment, so a key never holds what its owner has lost. Users manage their own keys;
 * administrators those of users whom they may change (`permitted-change.ts`). Every change takes the turn first.
 */
import { invalidField, QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { guidOf, numberIn, textIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { type AccessContext, takeTurn, unixSeconds } from '../access-context.ts'
import type { Identity } from '../identity-cache.ts'
import { checkMayChange } from '../permitted-change.ts'
import { scopeNameProblem, scopesOf } from '../scopes.ts'
import { userRecord } from '../user-record.ts'
import { folded, hasInvisible } from '../visible-text.ts'
import { endpointProblem, MAX_ENDPOINTS, requirePerson } from './allowed-endpoints.ts'
import { apiKeyHash, apiKeyHint, newApiKey } from './api-key-text.ts'
import { deleteKey, keyOf, keysOf, MAX_KEYS, missingForOwner, publicKey } from './key-record.ts'

/** What a client may say about an API key. */
export interface KeyInput {
  readonly name?: string
  /** `*`: everything that the owner holds. */
  readonly scopes?: readonly string[]
  /** Empty: all. */
  readonly endpoints?: readonly string[]
  /** Unix seconds; 0 = never. */
  readonly expiry?: number
}

const MAX_NAME = 100
const MAX_SCOPES = 100
/** The longest time for which a rotated secret stays valid. */
const MAX_OVERLAP = 90 * 86_400

/** INVALID_BODY, naming the field. */
function checkKeyInput({ name, scopes = [], endpoints = [], expiry = 0 }: KeyInput, now: number): void {
  if (name !== undefined) checkName(name)
  if (scopes.length > MAX_SCOPES)
    throw invalidField('scopes', `scopes must have at most ${MAX_SCOPES} entries.`)
  for (const scope of scopes) {
    const problem = scopeNameProblem(scope)
    if (problem) throw invalidField('scopes', `The scope ${JSON.stringify(scope)} ${problem}.`)
  }
  if (endpoints.length > MAX_ENDPOINTS)
    throw invalidField('endpoints', `endpoints must have at most ${MAX_ENDPOINTS} entries.`)
  for (const endpoint of endpoints) {
    const problem = endpointProblem(endpoint)
    if (problem) throw invalidField('endpoints', `The endpoint ${JSON.stringify(endpoint)} ${problem}.`)
  }
  if (expiry !== 0 && expiry <= now)
    throw invalidField(
      'expiry',
      'expiry must be in the future, in Unix seconds, or 0 for a key that does not expire.',
    )
}

function checkName(name: string): void {
  const problem =
    name === '' || [...name].length > MAX_NAME
      ? `must have 1 to ${MAX_NAME} characters`
      : name !== name.trim()
        ? 'must not start or end with a space'
        : hasInvisible(name)
          ? 'must not contain invisible or control characters'
          : undefined
  if (problem) throw invalidField('name', `name ${problem}.`)
}

/** INVALID_BODY for more than {@link MAX_OVERLAP}. */
function checkOverlap(overlap: number): void {
  if (overlap > MAX_OVERLAP)
    throw invalidField('overlap', `overlap must be at most ${MAX_OVERLAP} seconds (90 days); got ${overlap}.`)
}

/** A key with its secret, which is nowhere else and cannot be read again. */
export interface ShownKey {
  readonly record: JsonObject
  readonly secret: string
}

export interface Rotation {
  /** Seconds for which the secret of before stays valid. */
  readonly overlap: number
  /** A new expiry of the key, in Unix seconds; the one of before if not given. */
  readonly expiry?: number
}

export interface ApiKeys {
  /** The oldest first. NOT_FOUND for an unknown user. */
  list(userGuid: string): Promise<readonly JsonObject[]>
  /** INVALID_BODY, CONFLICT (name taken, too many), NOT_FOUND, INSUFFICIENT_PERMISSIONS (scope not held, or by a key). */
  create(userGuid: string, input: KeyInput & { readonly name: string }, by: Identity): Promise<ShownKey>
  /** Changes what is given. As `create`. */
  update(userGuid: string, guid: string, changes: KeyInput, by: Identity): Promise<JsonObject>
  /** Gives the key another secret. The secret before the last one ends at once. */
  rotate(userGuid: string, guid: string, rotation: Rotation, by: Identity): Promise<ShownKey>
  /** The key is refused when this resolves, on every node. */
  remove(userGuid: string, guid: string, by: Identity): Promise<void>
}

/** `during`: keeps the room open while the work is under way. */
export function apiKeys(context: AccessContext, during: <T>(work: () => Promise<T>) => Promise<T>): ApiKeys {
  return {
    list: (userGuid) => during(() => list(context, userGuid)),
    create: (userGuid, input, by) => during(() => create(context, userGuid, input, by)),
    update: (userGuid, guid, changes, by) => during(() => update(context, userGuid, guid, changes, by)),
    rotate: (userGuid, guid, rotation, by) => during(() => rotate(context, userGuid, guid, rotation, by)),
    remove: (userGuid, guid, by) =>
      during(() =>
        change(context, userGuid, by, async (session) => {
          if (!(await keyOf(session, userGuid, guid))) throw noSuchKey(guid)
          await deleteKey(session, guid)
        }),
      ),
  }
}

async function list({ database, keyUses }: AccessContext, userGuid: string): Promise<readonly JsonObject[]> {
  const session = database.session()
  if (!(await session.get(systemStorages.users, userGuid))) throw noSuchUser(userGuid)
  const records = await keysOf(session, userGuid)
  const uses = await keyUses.of(session, records.map(guidOf))
  return records.map((record) => publicKey(record, uses.get(guidOf(record)) ?? 0))
}

async function create(
  context: AccessContext,
  userGuid: string,
  input: KeyInput & { readonly name: string },
  by: Identity,
): Promise<ShownKey> {
  checkKeyInput(input, unixSeconds(context.clock))
  const secret = newApiKey(context.random)
  const { name, scopes = [], endpoints = [], expiry = 0 } = input
  const fields = setFields({
    name,
    user_guid: userGuid,
    hint: apiKeyHint(secret),
    scopes,
    endpoints,
    expiry,
    previous_until: 0,
    key_hash: apiKeyHash(secret) ?? null,
    created_by: { guid: by.guid, username: by.username },
  })
  return change(context, userGuid, by, async (session, owned) => {
    const keys = await keysOf(session, userGuid)
    if (keys.length >= MAX_KEYS)
      throw new QuoinError('CONFLICT', `A user has at most ${MAX_KEYS} API keys. Remove some first.`)
    checkNameFree(keys, name, undefined)
    checkHeld(scopes, owned)
    const record = documentOf(await session.create(systemStorages.apiKeys, fields))
    return { record: publicKey(record, 0), secret }
  })
}

async function update(
  context: AccessContext,
  userGuid: string,
  guid: string,
  changes: KeyInput,
  by: Identity,
): Promise<JsonObject> {
  checkKeyInput(changes, unixSeconds(context.clock))
  return change(context, userGuid, by, async (session, owned) => {
    const { name, scopes, endpoints, expiry } = changes
    if (name !== undefined) checkNameFree(await keysOf(session, userGuid), name, guid)
    if (scopes) checkHeld(scopes, owned)
    const fields = { name, scopes, endpoints, expiry }
    const written = await write(session, userGuid, guid, () => fields)
    return publicKey(written, await lastUse(context, session, guid))
  })
}

async function rotate(
  context: AccessContext,
  userGuid: string,
  guid: string,
  { overlap, expiry }: Rotation,
  by: Identity,
): Promise<ShownKey> {
  const now = unixSeconds(context.clock)
  checkOverlap(overlap)
  checkKeyInput({ ...(expiry !== undefined && { expiry }) }, now)
  const secret = newApiKey(context.random)
  return change(context, userGuid, by, async (session) => {
    const written = await write(session, userGuid, guid, (before) => ({
      hint: apiKeyHint(secret),
      key_hash: apiKeyHash(secret) ?? null,
      previous_hash: overlap > 0 ? textIn(before.key_hash) : null,
      previous_until: overlap > 0 ? now + overlap : 0,
      expiry: expiry ?? numberIn(before.expiry),
    }))
    return { record: publicKey(written, await lastUse(context, session, guid)), secret }
  })
}

async function lastUse({ keyUses }: AccessContext, session: Session, guid: string): Promise<number> {
  return (await keyUses.of(session, [guid])).get(guid) ?? 0
}

async function write(
  session: Session,
  userGuid: string,
  guid: string,
  fieldsOf: (before: JsonObject) => Parameters<typeof setFields>[0],
): Promise<JsonObject> {
  const before = await keyOf(session, userGuid, guid)
  if (!before) throw noSuchKey(guid)
  const written = await session.update(systemStorages.apiKeys, guid, setFields(fieldsOf(before)))
  if (written.outcome !== 'written') throw noSuchKey(guid)
  return documentOf(written.document)
}

/** One transaction, in the turn of changes to users. `owned`: the scopes that the owner of the keys holds. */
async function change<T>(
  { database, turnGuid }: AccessContext,
  userGuid: string,
  by: Identity,
  work: (session: Session, owned: ReadonlySet<string>) => Promise<T>,
): Promise<T> {
  requirePerson(by)
  return transact(
    database,
    async (session) => {
      await takeTurn(session, turnGuid)
      const stored = await session.get(systemStorages.users, userGuid)
      if (!stored) throw noSuchUser(userGuid)
      const owner = userRecord(documentOf(stored))
      await checkMayChange(session, by, owner)
      return work(session, await scopesOf(session, owner))
    },
    { user: { guid: by.guid, username: by.username } },
  )
}

function checkNameFree(keys: readonly JsonObject[], name: string, self: string | undefined): void {
  const requested = folded(name)
  if (keys.some((key) => guidOf(key) !== self && folded(textIn(key.name)) === requested))
    throw new QuoinError('CONFLICT', `This user has an API key named ${name}. Choose another name.`)
}

function checkHeld(scopes: readonly string[], owned: ReadonlySet<string>): void {
  const missing = missingForOwner(scopes, owned)
  if (missing !== undefined)
    throw new QuoinError(
      'INSUFFICIENT_PERMISSIONS',
      `The key cannot have the scope ${missing}, because its owner does not hold it.`,
    )
}

function noSuchKey(guid: string): QuoinError {
  return new QuoinError('NOT_FOUND', `This user has no API key ${guid}.`)
}

function noSuchUser(guid: string): QuoinError {
  return new QuoinError('NOT_FOUND', `There is no user ${guid}.`)
}
