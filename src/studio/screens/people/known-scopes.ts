import type { BlockRecord } from '../../../shared/api/blueprints/blueprint-actions.ts'
import type { Group, User } from '../../../shared/api/people/users.ts'
import { managementScopes, meaningOfScope } from '../../../shared/management-scopes.ts'
import { scopeLabels } from '../../controls/scope-labels.ts'
import { peopleTexts } from '../../texts/people.ts'

/** One scope: who holds it, and what it opens. */
export interface ScopeUse {
  readonly scope: string
  readonly groups: readonly string[]
  readonly users: readonly string[]
  /** Guids of blueprints whose triggers ask for it. */
  readonly blueprints: readonly string[]
}

/** Every scope that a trigger requires or a user or group holds, by name. Scopes of management endpoints only where they are held. */
export function scopeUses(
  groups: readonly Group[],
  users: readonly User[],
  triggers: readonly Pick<BlockRecord, 'scopes' | 'blueprint_guid'>[],
): ScopeUse[] {
  const all = new Map<string, { groups: Set<string>; users: Set<string>; blueprints: Set<string> }>()
  const use = (scope: string) => {
    const found = all.get(scope) ?? { groups: new Set(), users: new Set(), blueprints: new Set() }
    all.set(scope, found)
    return found
  }
  for (const group of groups) for (const scope of group.scopes) use(scope).groups.add(group.name)
  for (const user of users) for (const scope of user.custom_scopes ?? []) use(scope).users.add(user.username)
  for (const block of triggers)
    for (const scope of block.scopes) use(scope).blueprints.add(block.blueprint_guid)
  return [...all]
    .map(([scope, { groups: inGroups, users: held, blueprints }]) => ({
      scope,
      groups: [...inGroups].toSorted(),
      users: [...held].toSorted(),
      blueprints: [...blueprints],
    }))
    .toSorted((a, b) => a.scope.localeCompare(b.scope))
}

/** What a scope means, where the cluster gives it a meaning; empty for names that builders made up. */
export function meaningOf(scope: string): string {
  if (scope === '*') return peopleTexts.everyScope
  if (scope === '*public') return peopleTexts.publicScope
  if (scope === '*loggedin') return peopleTexts.signedInScope
  const special = meaningOfScope(scope)
  if (special !== undefined) return special
  return managementScopes.includes(scope) ? peopleTexts.permissionScope(scopeLabels(scope)) : ''
}

/** What a user holds directly and through groups, by their guids. */
export interface Rights {
  readonly scopes: readonly string[]
  readonly groups: readonly string[]
}

/** Of a provider, what decides whom it puts into which groups. */
interface GivesGroups {
  readonly is_active: boolean
  readonly create_users: boolean
  readonly groups: readonly string[]
  readonly groups_expression: string
}

/** Scopes that a change of a provider gives, and to whom: `named` by the claims at each sign-in, or `new` users. */
export function changedByProvider(
  before: GivesGroups | undefined,
  after: GivesGroups,
  groups: readonly Group[],
) {
  const asksClaims = (provider: GivesGroups) => provider.groups_expression.trim() !== ''
  const rightsOf = (provider: GivesGroups | undefined): Rights => ({
    scopes: [],
    groups: provider?.is_active && (asksClaims(provider) || provider.create_users) ? provider.groups : [],
  })
  // Others get them from then on: for those all of it is new.
  const isAsked = before !== undefined && asksClaims(before) === asksClaims(after)
  return {
    who: asksClaims(after) ? ('named' as const) : ('new' as const),
    ...changedRights(rightsOf(isAsked ? before : undefined), rightsOf(after), groups),
  }
}

/** Scopes that a change of a user gives and takes away, by name. Beside `*` no other scope adds anything. */
export function changedRights(
  before: Rights,
  after: Rights,
  groups: readonly Group[],
): { readonly added: readonly string[]; readonly removed: readonly string[] } {
  const heldBy = (rights: Rights) => {
    const through = groups.filter(({ _meta, is_active }) => is_active && rights.groups.includes(_meta.guid))
    return new Set([...rights.scopes, ...through.flatMap(({ scopes }) => scopes)])
  }
  const [then, now] = [heldBy(before), heldBy(after)]
  const without = (some: ReadonlySet<string>, others: ReadonlySet<string>) =>
    others.has('*') ? [] : [...some].filter((scope) => !others.has(scope)).toSorted()
  return { added: without(now, then), removed: without(then, now) }
}
