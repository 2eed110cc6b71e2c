/**
 * Who may change whom. Three rules, beside the scope that the endpoint asks for:
 *
 * - Users cannot grant a scope, or membership of a group with a scope, that they do not hold.
 * - Users cannot change another user who holds (or whose inactive groups have) a scope that they do not hold: a new password
 *   would be as good as the scope.
 * - The last active user who holds `*` stays so.
 */

import { invalidField, QuoinError } from '../shared/errors.ts'
import type { Query } from '../shared/query.ts'
import type { Session } from '../storage/database.ts'
import { guidOf } from '../storage/document-fields.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { Identity } from './identity-cache.ts'
import {
  administratorGroups,
  firstMissingScope,
  type Grants,
  groupsOf,
  possibleScopesOf,
  scopesIn,
  scopesOf,
} from './scopes.ts'
import type { UserRecord } from './user-record.ts'

/** INSUFFICIENT_PERMISSIONS if `by` may not give what `after` has beyond `before`; INVALID_BODY for an unknown group. */
export async function checkGrants(
  session: Session,
  by: Identity,
  after: Grants,
  before: Grants,
): Promise<void> {
  const newGroups = [...new Set(after.groups)].filter((guid) => !before.groups.includes(guid))
  const groups = await groupsOf(session, newGroups)
  const unknown = newGroups.find((guid) => !groups.some((group) => guidOf(group) === guid))
  if (unknown !== undefined) throw invalidField('groups', `There is no authentication group ${unknown}.`)
  const newScopes = after.customScopes.filter((name) => !before.customScopes.includes(name))
  const missing = firstMissingScope(by.scopes, [...newScopes, ...scopesIn(groups)])
  if (missing !== undefined)
    throw new QuoinError(
      'INSUFFICIENT_PERMISSIONS',
      `You cannot grant the scope ${missing}, because you do not hold it.`,
    )
}

/** INSUFFICIENT_PERMISSIONS if the user is not `by` and has a scope that `by` does not hold. */
export async function checkMayChange(session: Session, by: Identity, user: UserRecord): Promise<void> {
  if (by.guid === user.guid) return
  const missing = firstMissingScope(by.scopes, await possibleScopesOf(session, user))
  if (missing !== undefined)
    throw new QuoinError(
      'INSUFFICIENT_PERMISSIONS',
      `You cannot change this user, because you do not hold the scope ${missing}.`,
    )
}

/** Whether the user is one of those of whom one must stay. */
export async function isAdministrator(session: Session, user: UserRecord): Promise<boolean> {
  return user.isActive && (await scopesOf(session, user)).has('*')
}

/** CONFLICT, after a change that took an administrator away, if none is left. */
export async function checkAdministratorLeft(session: Session): Promise<void> {
  if ((await session.count(systemStorages.users, await activeAdministrators(session))) === 0)
    throw new QuoinError(
      'CONFLICT',
      'This is the last active user who holds the scope *. Give it to another active user first.',
    )
}

/** Administrators who sign in by a password alone: stolen, it is all that an attacker needs. */
export async function countUnprotected(session: Session): Promise<number> {
  return session.count(systemStorages.users, {
    kind: 'and',
    queries: [
      await activeAdministrators(session),
      { kind: 'exists', field: 'password_hash' },
      { kind: 'not', query: { kind: 'exists', field: 'totp_secret' } },
      { kind: 'not', query: { kind: 'range', field: 'passkeys', bounds: { gt: 0 } } },
    ],
  })
}

/** Those who can sign in: a service account mends nothing. */
async function activeAdministrators(session: Session): Promise<Query> {
  const groups = (await administratorGroups(session)).map(guidOf)
  return {
    kind: 'and',
    queries: [
      { kind: 'term', field: 'is_active', value: true },
      { kind: 'not', query: { kind: 'term', field: 'is_service', value: true } },
      {
        kind: 'or',
        queries: [
          { kind: 'term', field: 'custom_scopes', value: '*' },
          { kind: 'terms', field: 'groups', values: groups },
        ],
      },
    ],
  }
}
