/**
 * A text that only the holder of a key reads: AES-256-GCM, written `v1.<key>.<base64url of nonce, tag and cipher text>`.
 * The name of the record is part of what the tag covers, so that the sealed text of one record opens in no other.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Random } from '../../shared/guid.ts'
import type { SecretKey } from './secret-keys.ts'

const NONCE = 12
const TAG = 16
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/

export function seal(key: SecretKey, name: string, text: string, random: Random): string {
  // With random nonces GCM is safe for 2^32 texts of one key; a cluster holds 1,000.
  const nonce = new Uint8Array(NONCE)
  random(nonce)
  const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: TAG })
  cipher.setAAD(boundTo(name))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return `v1.${key.id}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`
}

/** The id of the key that sealed it. Undefined for what is no sealed text. */
export function sealedBy(sealed: string): string | undefined {
  return SEALED.exec(sealed)?.[1]
}

/** Undefined with another key, under another name, and for a text that was changed. */
export function unseal(key: SecretKey, name: string, sealed: string): string | undefined {
  const [, id, written = ''] = SEALED.exec(sealed) ?? []
  const bytes = Buffer.from(written, 'base64url')
  if (id !== key.id || bytes.byteLength < NONCE + TAG) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, NONCE), {
    authTagLength: TAG,
  })
  decipher.setAAD(boundTo(name))
  decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

function boundTo(name: string): Buffer {
  return Buffer.from(`quoin secret ${name}`)
}
