/**
 * The secret of a link in a mail: `ql_` and 256 random bits in base64url. Only its SHA-256 is stored; with 256 random
 * bits a slow hash would add nothing.
 */
import { hash } from 'node:crypto'
import type { Random } from '../../shared/guid.ts'

const LINK = /^ql_[A-Za-z0-9_-]{43}$/

export function newLinkText(random: Random): string {
  const bytes = Buffer.alloc(32)
  random(bytes)
  return `ql_${bytes.toString('base64url')}`
}

/** What a link is stored and found under; undefined for a text that cannot be one, which is then not looked up. */
export function linkHash(text: string): string | undefined {
  return LINK.test(text) ? hash('sha256', text, 'hex') : undefined
}
