/**
 * The text of an API key: `qk_`, 256 random bits in base64url, and a checksum of six characters. The prefix lets secret
 * scanners find a leaked key; the checksum lets them, and Quoin, tell a mistyped key without a look into the database.
 * Only the SHA-256 is stored. A slow hash such as argon2 protects short secrets that people choose: 256 random bits cannot
 * be guessed, and a slow hash would cost each request 29 ms.
 */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Random } from '../../shared/guid.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf, textIn, textsIn } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { type AccessContext, unixSeconds } from '../access-context.ts'
import type { Identity } from '../identity-cache.ts'
import { scopesOf } from '../scopes.ts'
import { publicUser, userRecord } from '../user-record.ts'
import { allowedEndpoints } from './allowed-endpoints.ts'
import { findKey, scopesOfKey } from './key-record.ts'
import { USE_SECONDS } from './key-uses.ts'

const API_KEY_PREFIX = 'qk_'

/** Whether a text is meant as an API key, or as a token that an agent has from a consent: both are for programs. */
export function isApiKey(text: string): boolean {
  return text.startsWith(API_KEY_PREFIX) || text.startsWith('qa_')
}

const API_KEY = /^(qk_[A-Za-z0-9_-]{43})([A-Za-z0-9_-]{6})$/
/** Enough to find a key in a list, and too little to guess the rest. */
const HINT_LENGTH = 7

export function newApiKey(random: Random): string {
  const bytes = Buffer.alloc(32)
  random(bytes)
  const text = `${API_KEY_PREFIX}${bytes.toString('base64url')}`
  return text + checksum(text)
}

/** What a key is stored and found under; undefined for a text that cannot be a key, which is then not looked up. */
export function apiKeyHash(text: string): string | undefined {
  const [, key, sum] = API_KEY.exec(text) ?? []
  return key !== undefined && checksum(key) === sum ? hash('sha256', text, 'hex') : undefined
}

/** The beginning of a key, for lists. */
export function apiKeyHint(text: string): string {
  return `${text.slice(0, HINT_LENGTH)}…`
}

function checksum(text: string): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(text))
  return bytes.toString('base64url')
}

/**
 * Who an API key stands for: its owner, with the scopes that both hold. Undefined if the key is unknown or expired, or its
 * owner is inactive or removed. One indexed read each for key, user and groups, then nothing for up to a minute while none of
 * them is written.
 */
export async function identifyKey(context: AccessContext, keyHash: string): Promise<Identity | undefined> {
  const now = unixSeconds(context.clock)
  const keep = context.identities.looking(keyHash)
  const session = context.database.session()
  const found = await findKey(session, keyHash, now)
  if (!found) return undefined
  const { record, until } = found
  const stored = await session.get(systemStorages.users, textIn(record.user_guid))
  const owner = stored && userRecord(documentOf(stored))
  if (!owner?.isActive) return undefined
  const held = scopesOfKey(record, await scopesOf(session, owner))
  const guid = guidOf(record)
  const identity: Identity = {
    guid: owner.guid,
    username: owner.username,
    scopes: held,
    user: publicUser(owner.document),
    tokenGuid: guid,
    key: { name: textIn(record.name), mayCall: allowedEndpoints(textsIn(record.endpoints)) },
  }
  keep(identity, Math.min(now + USE_SECONDS, until))
  await context.keyUses.note(guid, now)
  return identity
}
