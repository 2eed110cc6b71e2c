/** Authentication groups: named sets of scopes. A user has the scopes of its active groups, beside its own. */

import type { JsonObject } from '../shared/json.ts'
import type { Session } from '../storage/database.ts'
import { textsIn } from '../storage/document-fields.ts'
import { findAll } from '../storage/find-documents.ts'
import { ownStorages } from '../storage/own-storages.ts'

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
    ownStorages.groups,
    { kind: 'terms', field: '_meta.guid', values: guids },
    guids.length,
  )
}

/** What the user holds now. */
export async function scopesOf(session: Session, user: Grants): Promise<ReadonlySet<string>> {
  const active = (await groupsOf(session, user.groups)).filter((group) => group.is_active === true)
  return new Set([...user.customScopes, ...scopesIn(active)])
}

/** What the user would hold if all its groups were active: a user who may change it could gain these. */
export async function possibleScopesOf(session: Session, user: Grants): Promise<ReadonlySet<string>> {
  return new Set([...user.customScopes, ...scopesIn(await groupsOf(session, user.groups))])
}

export function scopesIn(groups: readonly JsonObject[]): readonly string[] {
  return groups.flatMap((group) => textsIn(group.scopes))
}
