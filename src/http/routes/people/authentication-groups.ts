import type { Access } from '../../../access/access.ts'
import { createGroupSchema, groupSchema, updateGroupSchema } from '../../../shared/api/people/users.ts'
import { invalidField, QuoinError } from '../../../shared/errors.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { resource } from '../resource.ts'
import type { SearchField } from '../search-request.ts'

const tags = ['Authentication groups']

const searchable: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
  { name: 'scopes', type: 'string' },
  { name: 'is_active', type: 'boolean' },
]

/** Named sets of scopes that users are put into. */
export function authenticationGroupRoutes(access: Access): RouteFamily {
  return (app) => {
    const groups = resource(app, {
      path: '/_system/authentication-groups',
      scopes: 'authentication_groups',
      tags,
      record: groupSchema,
      searchable,
    })
    groups.list(
      {
        operationId: 'searchGroups',
        summary: 'List authentication groups',
      },
      (requested) => access.searchGroups(requested),
    )

    groups.create(
      {
        operationId: 'createGroup',
        confirmed: true,
        summary: 'Create an authentication group',
        description: 'Users are put into it with PUT /users/{guid} and `groups`.',
        errors: ['CONFLICT'],
        body: createGroupSchema,
      },
      (body, request) => access.createGroup({ ...groupInput(body), name: body.name }, callerOf(request)),
    )

    groups.get(
      { operationId: 'getGroup', summary: 'One authentication group' },
      async (guid) => (await access.getGroup(guid)) ?? notThere(guid),
    )

    groups.update(
      {
        operationId: 'updateGroup',
        confirmed: true,
        summary: 'Change an authentication group',
        description: 'Changes the given fields. Applies immediately to every user of the group.',
        errors: ['CONFLICT'],
        body: updateGroupSchema,
      },
      (guid, body, request) => access.updateGroup(guid, groupInput(body), callerOf(request)),
    )

    groups.remove(
      {
        operationId: 'removeGroup',
        confirmed: true,
        summary: 'Remove an authentication group',
        description: 'Its users lose its scopes immediately.',
        errors: ['CONFLICT'],
      },
      (guid, request) => access.removeGroup(guid, callerOf(request)),
    )
  }
}

interface GroupBody {
  readonly name?: string
  readonly description?: string
  readonly scopes?: readonly string[]
  readonly permissions?: readonly string[]
  readonly is_active?: boolean
  readonly second_factor_days?: number | null
}

/** Without `_meta`, and with `permissions` under the name that records have for it. */
function groupInput({ name, description, scopes, permissions, is_active, second_factor_days }: GroupBody) {
  if (scopes !== undefined && permissions !== undefined)
    throw invalidField('permissions', 'permissions is an alias of scopes; send one.')
  const input = scopes ?? permissions
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(input !== undefined && { scopes: input }),
    ...(is_active !== undefined && { is_active }),
    ...(second_factor_days !== undefined && { second_factor_days }),
  }
}

function notThere(guid: string): never {
  throw new QuoinError('NOT_FOUND', `There is no authentication group ${guid}.`)
}
