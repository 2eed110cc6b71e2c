/**
 * Users as blocks see them. A block acts with the scopes of the groups that its builder named, which its deployer held: it
 * can give no other scope, and change no user who holds another one.
 */
import type { Person, RunPeople } from '../blocks/block-services.ts'
import { QuoinError } from '../shared/errors.ts'
import { search } from '../shared/query.ts'
import { guidOf, textIn, textsIn } from '../storage/document-fields.ts'
import type { Access } from './access.ts'
import type { Identity } from './identity-cache.ts'

type People = Pick<Access, 'createUser' | 'setGroups' | 'searchGroups' | 'links'>

export function runPeople(access: People): RunPeople {
  return {
    create: (user, by) => access.createUser({ ...user }, actingFor(by, [])),
    async invite(user, groups, by) {
      const input = await groupsNamed(access, groups)
      return access.links.invite({ ...user, groups: input.map(({ guid }) => guid) }, actingFor(by, input))
    },
    async setGroups(user, among, groups, by) {
      const input = await groupsNamed(access, among)
      const requested = input.filter(({ name }) => groups.includes(name))
      const choice = { among: input.map(({ guid }) => guid), groups: requested.map(({ guid }) => guid) }
      return access.setGroups(user, choice, actingFor(by, input))
    },
  }
}

interface GroupInput {
  readonly guid: string
  readonly name: string
  readonly scopes: readonly string[]
}

/** CONFLICT for a group that was renamed or removed since the deploy. */
async function groupsNamed(access: People, names: readonly string[]): Promise<readonly GroupInput[]> {
  if (names.length === 0) return []
  const query = { kind: 'terms', field: 'name', values: [...names] } as const
  const { records } = await access.searchGroups(search({ query, limit: names.length }))
  return names.map((name) => {
    const group = records.find((one) => textIn(one.name) === name)
    if (!group)
      throw new QuoinError(
        'CONFLICT',
        `There is no authentication group ${name}. Choose another in the block.`,
      )
    return { guid: guidOf(group), name, scopes: textsIn(group.scopes) }
  })
}

function actingFor(by: Person, groups: readonly GroupInput[]): Identity {
  return { ...by, scopes: new Set(groups.flatMap(({ scopes }) => scopes)), user: {}, tokenGuid: '' }
}
