/**
 * Access tokens: `q1_` and 256 random bits in base64url. The prefix lets secret scanners find a leaked one. Only the
 * SHA-256 is stored; with 256 random bits a slow hash would add nothing.
 */
import { hash } from 'node:crypto'
import type { Random } from '../shared/guid.ts'

const TOKEN = /^q1_[A-Za-z0-9_-]{43}$/

export function newAccessToken(random: Random): string {
  const bytes = Buffer.alloc(32)
  random(bytes)
  return `q1_${bytes.toString('base64url')}`
}

/** What a token is stored and found under; undefined for a text that cannot be a token, which is then not looked up. */
export function accessTokenHash(token: string): string | undefined {
  return TOKEN.test(token) ? hash('sha256', token, 'hex') : undefined
}
