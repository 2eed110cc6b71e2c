/**
 * What a provisioning key may change. Its owner's scopes are the limit, as for the owner's own session, and three things are refused whatever the
 * owner holds: a leaked key must not make an administrator, take one over, or take over its owner.
 */
import { type AccessContext, takeTurn } from '../../access/access-context.ts'
import type { Identity } from '../../access/identity-cache.ts'
import { checkMayChange } from '../../access/permitted-change.ts'
import { groupsOf, possibleScopesOf, scopesIn, scopesOf } from '../../access/scopes.ts'
import { type UserRecord, userRecord } from '../../access/user-record.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isGuid } from '../../shared/guid.ts'
import type { JsonObject } from '../../shared/json.ts'
import { equalsAdministrator } from '../../shared/management-scopes.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transactAgain } from '../../storage/transact.ts'

/** One transaction in the turn of changes to users, in the name of the key's owner. */
export function provision<T>(
  { database, turnGuid }: AccessContext,
  { key: _, ...owner }: Identity,
  work: (session: Session, by: Identity) => Promise<T>,
): Promise<T> {
  return transactAgain(
    database,
    async (session) => {
      await takeTurn(session, turnGuid)
      const stored = await session.get(systemStorages.users, owner.guid)
      const user = stored && userRecord(documentOf(stored))
      if (!user?.isActive) throw refused('The owner of the API key is not active.')
      return work(session, { ...owner, scopes: await scopesOf(session, user) })
    },
    { user: { guid: owner.guid, username: owner.username } },
  )
}

/** NOT_FOUND. */
export async function storedRecord(session: Session, storage: string, guid: string): Promise<JsonObject> {
  const stored = isGuid(guid) ? await session.get(storage, guid) : undefined
  if (!stored)
    throw new QuoinError(
      'NOT_FOUND',
      `There is no ${storage === systemStorages.users ? 'user' : 'group'} ${guid.slice(0, 100)}.`,
    )
  return documentOf(stored)
}

/** INSUFFICIENT_PERMISSIONS. An administrator is only deactivated; `onlyEnds`: nothing but that is changed. */
export async function checkMayProvision(
  session: Session,
  by: Identity,
  user: UserRecord,
  onlyEnds: boolean,
): Promise<void> {
  if (by.guid === user.guid) throw refused('SCIM does not change the owner of its own API key.')
  if (user.isService) throw refused('Service accounts are of this cluster: SCIM does not change them.')
  await checkMayChange(session, by, user)
  if (!onlyEnds && (await isAdministrative(session, user)))
    throw refused('Of users with administrator rights SCIM changes nothing but active, to false.')
}

async function isAdministrative(session: Session, user: UserRecord): Promise<boolean> {
  return [...(await possibleScopesOf(session, user))].some(equalsAdministrator)
}

/** INSUFFICIENT_PERMISSIONS for a group with a scope that the owner lacks, or that makes administrators. */
export async function checkMayFill(session: Session, by: Identity, guid: string): Promise<void> {
  const scopes = scopesIn(await groupsOf(session, [guid]))
  const missing = scopes.find((scope) => !by.scopes.has('*') && !by.scopes.has(scope))
  if (missing !== undefined)
    throw refused(`The group has the scope ${missing}, which the owner of the API key does not hold.`)
  if (scopes.some(equalsAdministrator))
    throw refused('The group gives administrator rights. SCIM does not change such groups and their members.')
}

function refused(message: string): QuoinError {
  return new QuoinError('INSUFFICIENT_PERMISSIONS', message)
}
