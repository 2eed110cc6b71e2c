import { documentOf } from '../../storage/database.ts'
import { guidOf, textIn, textsIn } from '../../storage/document-fields.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import type { AccessContext } from '../access-context.ts'
import { unixSeconds } from '../access-context.ts'
import { scopesOf } from '../groups.ts'
import type { Identity } from '../identity.ts'
import { publicUser, userRecord } from '../user-record.ts'
import { allowedEndpoints } from './allowed-endpoints.ts'
import { findKey, heldByKey } from './key-record.ts'
import { USE_SECONDS } from './key-uses.ts'

/**
 * Who an API key stands for: its owner, with the scopes that both hold. Undefined if the key is unknown or expired, or its
 * owner is inactive or removed. One indexed read each for key, user and groups, then nothing for up to a minute while none of
 * them is written.
 */
export async function identifyKey(context: AccessContext, keyHash: string): Promise<Identity | undefined> {
  const now = unixSeconds(context.clock)
  const keep = context.identities.looking(keyHash)
  const session = context.database.session()
  const found = await findKey(session, keyHash, now)
  if (!found) return undefined
  const { record, until } = found
  const stored = await session.get(ownStorages.users, textIn(record.user_guid))
  const owner = stored && userRecord(documentOf(stored))
  if (!owner?.isActive) return undefined
  const held = heldByKey(record, await scopesOf(session, owner))
  const guid = guidOf(record)
  const identity: Identity = {
    guid: owner.guid,
    username: owner.username,
    scopes: held,
    user: publicUser(owner.document),
    tokenGuid: guid,
    key: { name: textIn(record.name), mayCall: allowedEndpoints(textsIn(record.endpoints)) },
  }
  keep(identity, Math.min(now + USE_SECONDS, until))
  await context.keyUses.note(guid, now)
  return identity
}
