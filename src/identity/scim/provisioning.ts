/** Users and groups by SCIM 2.0, for the program of a company that knows who works there. Loaded with its first request. */
import type { AccessContext } from '../../access/access-context.ts'
import { type ScimGroups, scimGroups } from './scim-groups.ts'
import { type ScimUsers, scimUsers } from './scim-users.ts'

export type { ScimList } from './scim-list.ts'

export interface Provisioning {
  readonly users: ScimUsers
  readonly groups: ScimGroups
}

export function provisioning(context: AccessContext): Provisioning {
  const base = () => `${context.settings.publicUrl ?? ''}/scim/v2`
  return { users: scimUsers(context, base), groups: scimGroups(context, base) }
}
