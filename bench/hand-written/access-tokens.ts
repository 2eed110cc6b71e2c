import { hash, randomBytes, randomUUIDv7 } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'

export interface AccessTokens {
  /** Stores a new token of a new user and gives its text. */
  create(): string
  /** Whether the header carries a token that is known, not expired, and whose user is active. */
  accepts(authorization: string | undefined): boolean
}

const schema = `
  CREATE TABLE IF NOT EXISTS user (guid TEXT PRIMARY KEY, username TEXT NOT NULL UNIQUE, active INTEGER NOT NULL)
    STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS token (hash TEXT PRIMARY KEY, user TEXT NOT NULL REFERENCES user, expiry INTEGER NOT NULL)
    STRICT, WITHOUT ROWID;`

const TWO_WEEKS = 14 * 86_400
const BEARER = /^bearer\s+([A-Za-z0-9_-]{43})$/i

/** Opaque tokens of 256 random bits. Only their SHA-256 is stored, and each request looks it up. */
export function accessTokens(writing: DatabaseSync, openReader: () => DatabaseSync): AccessTokens {
  writing.exec(schema)
  const insertUser = writing.prepare('INSERT INTO user (guid, username, active) VALUES (?, ?, 1)')
  const insertToken = writing.prepare('INSERT INTO token (hash, user, expiry) VALUES (?, ?, ?)')
  const find = openReader().prepare(
    'SELECT expiry, active FROM token JOIN user ON user.guid = token.user WHERE hash = ?',
  )
  return {
    create() {
      const token = randomBytes(32).toString('base64url')
      const user = randomUUIDv7()
      insertUser.run(user, `user-${user}`)
      insertToken.run(hash('sha256', token), user, now() + TWO_WEEKS)
      return token
    },
    accepts(authorization) {
      const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
      const found = token === undefined ? undefined : find.get(hash('sha256', token))
      return found?.active === 1 && Number(found.expiry) > now()
    },
  }
}

function now(): number {
  return Math.floor(Date.now() / 1000)
}
