import type { Session } from '../../storage/database.ts'
import { findOne } from '../../storage/find-documents.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { type UserRecord, userRecord } from '../user-record.ts'

/** The user who signs in with this address (folded): as e-mail address or, since no other user may then have it, as name. */
export async function ownerOf(session: Session, emailKey: string): Promise<UserRecord | undefined> {
  const found =
    (await findOne(session, ownStorages.users, 'email_key', emailKey)) ??
    (await findOne(session, ownStorages.users, 'username_key', emailKey))
  return found && userRecord(found)
}
