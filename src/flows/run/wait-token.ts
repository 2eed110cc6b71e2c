/** Tokens of links and addresses that end a wait: 256 random bits. Only the SHA-256 is stored. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Random } from '../../shared/guid.ts'

const TOKEN = /^[A-Za-z0-9_-]{43}$/

export function newWaitToken(random: Random): string {
  const bytes = Buffer.alloc(32)
  random(bytes)
  return bytes.toString('base64url')
}

export function waitTokenHash(token: string): string {
  return hash('sha256', token, 'hex')
}

/** `stored`: empty where the wait has no token. */
export function isWaitToken(token: string | undefined, stored: string): boolean {
  if (token === undefined || stored === '' || !TOKEN.test(token)) return false
  const [input, requested] = [Buffer.from(waitTokenHash(token)), Buffer.from(stored)]
  return input.length === requested.length && timingSafeEqual(input, requested)
}
