import { createHmac } from 'node:crypto'

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
