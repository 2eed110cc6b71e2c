/**
 * Scopes are names that open endpoints. A user holds names, directly or through authentication groups; an endpoint asks
 * for some. Two names are never held, only asked for: `*public` (any caller) and `*loggedin` (any signed-in user). One is
 * held and stands for all: `*`.
 */

import type { JsonObject } from '../shared/json.ts'
import type { Query } from '../shared/query.ts'
import type { Session } from '../storage/database.ts'
import { textsIn } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { hasInvisible } from './visible-text.ts'

const MAX_LENGTH = 64

/** Whether the name is among the scopes. `*` holds everything. */
export function holds(scopes: ReadonlySet<string>, name: string): boolean {
  return scopes.has('*') || scopes.has(name)
}

/** Whether an endpoint that asks for `required` is open: no scope is `*public`, and any one of several is enough. */
export function mayEnter(
  required: readonly string[],
  identity: { readonly scopes: ReadonlySet<string> } | undefined,
): boolean {
  if (required.length === 0 || required.includes('*public')) return true
  if (identity === undefined) return false
  return required.some((name) => name === '*loggedin' || holds(identity.scopes, name))
}

/** The first of the names that is not held; undefined if all are. */
export function firstMissingScope(scopes: ReadonlySet<string>, names: Iterable<string>): string | undefined {
  for (const name of names) if (!holds(scopes, name)) return name
  return undefined
}

/** What keeps a user or group from holding a scope of this name, in words that finish "the scope …", or undefined. */
export function scopeNameProblem(name: string): string | undefined {
  if (name === '*') return undefined
  if (name === '') return 'is empty'
  if ([...name].length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`
  if (hasInvisible(name) || /\s/.test(name)) return 'contains spaces or invisible characters'
  if (name.startsWith('*')) return 'starts with *, which is reserved for *public, *loggedin and *'
  return undefined
}

// Authentication groups: named sets of scopes. A user has the scopes of its active groups, beside its own.

/** What gives a user its scopes. */
export interface Grants {
  readonly customScopes: readonly string[]
  /** Guids of groups. */
  readonly groups: readonly string[]
}

export const noGrants: Grants = { customScopes: [], groups: [] }

/** The groups with these guids that exist. One indexed read; none for no guids. */
export async function groupsOf(session: Session, guids: readonly string[]): Promise<readonly JsonObject[]> {
  if (guids.length === 0) return []
  return findAll(
    session,
    systemStorages.groups,
    { kind: 'terms', field: '_meta.guid', values: guids },
    guids.length,
  )
}

export async function activeGroupsOf(session: Session, { groups }: Grants): Promise<readonly JsonObject[]> {
  return (await groupsOf(session, groups)).filter((group) => group.is_active === true)
}

/** Active groups whose users are administrators. */
export function administratorGroups(session: Session): Promise<readonly JsonObject[]> {
  const withAll: Query = {
    kind: 'and',
    queries: [
      { kind: 'term', field: 'scopes', value: '*' },
      { kind: 'term', field: 'is_active', value: true },
    ],
  }
  return findAll(session, systemStorages.groups, withAll, 1000)
}

/** What the user holds now. */
export async function scopesOf(session: Session, user: Grants): Promise<ReadonlySet<string>> {
  return new Set([...user.customScopes, ...scopesIn(await activeGroupsOf(session, user))])
}

/** What the user would hold if all its groups were active: a user who may change it could gain these. */
export async function possibleScopesOf(session: Session, user: Grants): Promise<ReadonlySet<string>> {
  return new Set([...user.customScopes, ...scopesIn(await groupsOf(session, user.groups))])
}

export function scopesIn(groups: readonly JsonObject[]): readonly string[] {
  return groups.flatMap((group) => textsIn(group.scopes))
}
