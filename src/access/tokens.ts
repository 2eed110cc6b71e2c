/** Tokens as `_tokens` keeps them: `{ user_guid, token_hash, ip, created, expiry }`, times in Unix seconds. */
import type { Random } from '../shared/guid.ts'
import { guidOf } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import type { Session } from '../storage/storage.ts'
import { accessTokenHash, newAccessToken } from './access-token.ts'

export const TOKENS = '_tokens'

/** Stores a new token and gives its text, which is nowhere else. */
export async function createToken(
  session: Session,
  random: Random,
  token: {
    readonly userGuid: string
    readonly ip: string
    readonly created: number
    readonly expiry: number
  },
): Promise<string> {
  const text = newAccessToken(random)
  await session.create(TOKENS, [
    { op: 'set', field: 'user_guid', value: token.userGuid },
    { op: 'set', field: 'token_hash', value: accessTokenHash(text) ?? null },
    { op: 'set', field: 'ip', value: token.ip },
    { op: 'set', field: 'created', value: token.created },
    { op: 'set', field: 'expiry', value: token.expiry },
  ])
  return text
}

/** Deletes all tokens of a user. Write the user first: no sign-in can then add one unseen. */
export async function deleteTokensOf(session: Session, userGuid: string): Promise<void> {
  const page = 500
  for (;;) {
    const tokens = await findAll(
      session,
      TOKENS,
      { kind: 'term', field: 'user_guid', value: userGuid },
      page,
      [{ field: 'expiry', order: 'asc', missing: 'first' }],
    )
    for (const token of tokens) await session.delete(TOKENS, guidOf(token))
    if (tokens.length < page) return
  }
}
