import { QuoinError } from '../shared/errors.ts'
import { transact } from '../storage/transact.ts'
import type { AccessContext } from './access-context.ts'
import { unixSeconds } from './access-context.ts'
import { accessTokenHash } from './access-token.ts'
import { findOne } from './find-documents.ts'
import { guidOf, numberIn } from './stored-fields.ts'
import { TOKENS } from './tokens.ts'

/** The token is dead when this resolves, on every node: it is no longer in the database. */
export async function signOut(context: AccessContext, token: string): Promise<void> {
  const tokenHash = accessTokenHash(token)
  const found = await transact(context.storage, async (session) => {
    const record = tokenHash && (await findOne(session, TOKENS, 'token_hash', tokenHash))
    if (!record || numberIn(record.expiry) <= unixSeconds(context.clock)) return false
    return (await session.delete(TOKENS, guidOf(record))).outcome === 'written'
  })
  if (!found) throw new QuoinError('INVALID_ACCESS_TOKEN', 'The access token is unknown or expired. Sign in.')
}
