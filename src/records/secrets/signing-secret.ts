/** A secret that all nodes share, for what this cluster signs for itself: tokens of forms and addresses of files. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Random } from '../../shared/guid.ts'
import { setFields } from '../../shared/mutation.ts'
import type { Database } from '../../storage/database.ts'
import { textIn } from '../../storage/document-fields.ts'
import { findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'

const key = 'pages'
const BYTES = 32

export interface SigningSecret {
  /** 43 characters, `A–Z a–z 0–9 - _`. `purpose` keeps signatures for one thing from counting for another. */
  sign(purpose: string, text: string): string
  verify(purpose: string, text: string, signature: string): boolean
}

/** Reads the secret, or makes it: one node at a time. */
export async function openSigningSecret(database: Database, random: Random): Promise<SigningSecret> {
  await database.ensure(systemStorages.pageSecrets, { indexes: [{ fields: ['key'], unique: true }] })
  const secret = await database.capabilities.withClusterLock('page secret', async () => {
    const known = await findOne(database.session(), systemStorages.pageSecrets, 'key', key)
    if (known) return Buffer.from(textIn(known.secret), 'base64url')
    const bytes = Buffer.alloc(BYTES)
    random(bytes)
    const fields = { key, secret: bytes.toString('base64url') }
    await transact(database, async (session) => session.create(systemStorages.pageSecrets, setFields(fields)))
    return bytes
  })
  if (secret.length < BYTES)
    throw new Error(`The storage ${systemStorages.pageSecrets} holds a secret that is too short.`)
  return signingSecret(secret)
}

export function signingSecret(secret: Uint8Array): SigningSecret {
  const sign = (purpose: string, text: string) =>
    createHmac('sha256', secret)
      .update(JSON.stringify([purpose, text]))
      .digest('base64url')
  return {
    sign,
    verify(purpose, text, signature) {
      const [requested, input] = [Buffer.from(sign(purpose, text)), Buffer.from(signature)]
      return requested.length === input.length && timingSafeEqual(requested, input)
    },
  }
}

/** A key of 256 bits, and the name under which sealed texts say that it sealed them. */
export interface SecretKey {
  readonly id: string
  readonly bytes: Buffer
}

/** The key that seals, if there is one, and all that open. */
export interface SecretKeys {
  readonly current: SecretKey | undefined
  readonly all: ReadonlyMap<string, SecretKey>
  readonly source: KeySource
  /** What an operator has to do to have a key that seals. */
  readonly missing: string
}

export type KeySource = 'environment' | 'file' | 'none'

const HEX = /^[0-9a-f]{64}$/i
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/

/** Base64 or 64 hexadecimal digits of 32 bytes. Undefined for anything else, such as a password. */
export function readSecretKey(text: string): SecretKey | undefined {
  const bytes = HEX.test(text)
    ? Buffer.from(text, 'hex')
    : BASE64.test(text)
      ? Buffer.from(text, 'base64')
      : undefined
  if (bytes?.byteLength !== 32) return undefined
  // Says nothing of the key: a hash of it under a fixed name.
  return { id: createHmac('sha256', bytes).update('quoin secret key').digest('hex').slice(0, 8), bytes }
}

/** `current`: empty for none. Texts that are no keys are left out: the options have refused them. */
export function secretKeys(
  current: string,
  former: readonly string[],
  { source, missing }: { readonly source: KeySource; readonly missing?: string } = {
    source: current === '' ? 'none' : 'environment',
  },
): SecretKeys {
  const sealing = readSecretKey(current)
  const keys = [sealing, ...former.map(readSecretKey)].filter((key) => key !== undefined)
  const all = new Map(keys.map((key) => [key.id, key]))
  return { current: sealing, all, source, missing: missing ?? 'QUOIN_SECRETS_KEY is not set.' }
}
