import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { documentOf } from '../storage/database.ts'
import { ownStorages } from '../storage/own-storages.ts'
import type { AccessContext } from './access-context.ts'
import type { Identity } from './identity.ts'
import { checkGrants } from './permitted-change.ts'
import { changeUser } from './users.ts'

/** Which groups a user is to be in. Guids. */
export interface GroupChoice {
  /** The groups that are looked at: the user stays in all others. */
  readonly among: readonly string[]
  /** Of these. */
  readonly groups: readonly string[]
}

/** Reads and writes in one transaction. NOT_FOUND, INSUFFICIENT_PERMISSIONS, CONFLICT for the last administrator. */
export function setGroups(
  context: AccessContext,
  guid: string,
  { among, groups }: GroupChoice,
  by: Identity,
): Promise<JsonObject> {
  return changeUser(context, guid, by, async (session, user) => {
    const others = user.groups.filter((group) => !among.includes(group))
    const next = [...others, ...groups]
    await checkGrants(session, by, { customScopes: user.customScopes, groups: next }, user)
    const written = await session.update(ownStorages.users, guid, setFields({ groups: next }))
    return written.outcome === 'written' ? documentOf(written.document) : user.document
  })
}
