/**
 * The text of an API key: `qk_`, 256 random bits in base64url, and a checksum of six characters. The prefix lets secret
 * scanners find a leaked key; the checksum lets them, and Quoin, tell a mistyped key without a look into the database.
 * Only the SHA-256 is stored. A slow hash such as argon2 protects short secrets that people choose: 256 random bits cannot
 * be guessed, and a slow hash would cost each request 29 ms.
 */
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Random } from '../../shared/guid.ts'

export const API_KEY_PREFIX = 'qk_'

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
