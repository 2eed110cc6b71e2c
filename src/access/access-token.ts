/**
 * Access tokens: `q1_` and 256 random bits in base64url. The prefix lets secret scanners find a leaked one. Only the
 * SHA-256 is stored; with 256 random bits a slow hash would add nothing.
 */
import { hash } from 'node:crypto'
import type { Random } from '../shared/guid.ts'
import { type Database, documentOf } from '../storage/database.ts'
import { guidOf, numberIn } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import { transact } from '../storage/transact.ts'

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

/**
 * Deletes up to 50 records whose time (`field`, Unix seconds) is over. Called by each sign-in for the storages that
 * sign-ins fill: these then shrink faster than they grow, without a timer. In order of their time, so that two nodes
 * that delete at once do not wait for each other crosswise.
 */
export async function deleteExpired(
  database: Database,
  name: string,
  field: string,
  now: number,
): Promise<void> {
  const isOver = { kind: 'range', field, bounds: { lte: now } } as const
  const oldestFirst = { field, order: 'asc', missing: 'last' } as const
  const over = await findAll(database.session(), name, isOver, 50, [oldestFirst])
  if (over.length === 0) return
  await transact(database, async (session) => {
    for (const record of over) {
      const deleted = await session.delete(name, guidOf(record))
      // It was restarted since it was found: leave it to the next sign-in.
      if (deleted.outcome === 'written' && numberIn(documentOf(deleted.document)[field]) > now)
        return session.transaction.rollback()
    }
    return undefined
  })
}
