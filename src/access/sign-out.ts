import { QuoinError } from '../shared/errors.ts'
import { documentOf } from '../storage/database.ts'
import { guidOf, numberIn, textIn } from '../storage/document-fields.ts'
import { findOne } from '../storage/find-documents.ts'
import { ownStorages } from '../storage/own-storages.ts'
import { transact } from '../storage/transact.ts'
import type { AccessContext } from './access-context.ts'
import { unixSeconds } from './access-context.ts'
import { accessTokenHash } from './access-token.ts'
import { noteUserEvent, type Sender } from './user-log.ts'
import { userRecord } from './user-record.ts'

/**
 * The token is dead when this resolves, on every node: it is no longer in the database. Without `sender` the user log has
 * the address that signed in.
 */
export async function signOut(context: AccessContext, token: string, sender?: Sender): Promise<void> {
  const tokenHash = accessTokenHash(token)
  const now = unixSeconds(context.clock)
  const found = await transact(context.database, async (session) => {
    const record = tokenHash && (await findOne(session, ownStorages.tokens, 'token_hash', tokenHash))
    if (!record || numberIn(record.expiry) <= now) return false
    if ((await session.delete(ownStorages.tokens, guidOf(record))).outcome !== 'written') return false
    const stored = await session.get(ownStorages.users, textIn(record.user_guid))
    const user = stored && userRecord(documentOf(stored))
    await noteUserEvent(session, 'sign_out', user, sender ?? { ip: textIn(record.ip) })
    return true
  })
  if (!found) throw new QuoinError('INVALID_ACCESS_TOKEN', 'The access token is unknown or expired. Sign in.')
}
