import { Type } from 'typebox'
import type { Access } from '../../../access/access.ts'
import {
  createGroupSchema,
  groupSchema,
  updateGroupSchema,
} from '../../../shared/api/authentication-groups.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import { searchSchema } from '../../../shared/api/search.ts'
import { removedSchema } from '../../../shared/api/users.ts'
import { invalidField, QuoinError } from '../../../shared/errors.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { searchReply } from '../search-reply.ts'
import { metaFields, type SearchField, searchRequest } from '../search-request.ts'

const tags = ['Authentication groups']
const root = '/_system/authentication-groups'

const searchFields: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
  { name: 'scopes', type: 'string' },
  { name: 'is_active', type: 'boolean' },
  ...metaFields,
]

/** Named sets of scopes that users are put into. */
export function authenticationGroupRoutes(access: Access): RouteFamily {
  return (app) => {
    app.post(
      `${root}/search`,
      {
        config: { permission: 'authentication_groups_view', bodyOptional: true },
        schema: {
          operationId: 'searchGroups',
          summary: 'List authentication groups',
          tags,
          body: searchSchema,
          response: { 200: Type.Array(groupSchema) },
        },
      },
      async (request, reply) => {
        const page = await access.searchGroups(searchRequest(request.body, searchFields))
        return searchReply(reply, request.body, page)
      },
    )

    app.post(
      root,
      {
        config: { permission: 'authentication_groups_create', errors: ['CONFLICT'] },
        schema: {
          operationId: 'createGroup',
          summary: 'Create an authentication group',
          description: 'Users are put into it with PUT /users/{guid} and `groups`.',
          tags,
          body: createGroupSchema,
          response: { 200: groupSchema },
        },
      },
      (request) => {
        const { name } = request.body
        return access.createGroup({ ...groupInput(request.body), name }, callerOf(request))
      },
    )

    app.get(
      `${root}/:guid`,
      {
        config: { permission: 'authentication_groups_view' },
        schema: {
          operationId: 'getGroup',
          summary: 'One authentication group',
          tags,
          params: guidParams,
          response: { 200: groupSchema },
        },
      },
      async (request) => {
        const { guid } = request.params
        const group = await access.getGroup(guid)
        if (group === undefined)
          throw new QuoinError('NOT_FOUND', `There is no authentication group ${guid}.`)
        return group
      },
    )

    app.put(
      `${root}/:guid`,
      {
        config: { permission: 'authentication_groups_update', errors: ['CONFLICT'] },
        schema: {
          operationId: 'updateGroup',
          summary: 'Change an authentication group',
          description: 'Changes what is given. Counts at once for everybody in the group.',
          tags,
          params: guidParams,
          body: updateGroupSchema,
          response: { 200: groupSchema },
        },
      },
      (request) => access.updateGroup(request.params.guid, groupInput(request.body), callerOf(request)),
    )

    app.delete(
      `${root}/:guid`,
      {
        config: { permission: 'authentication_groups_remove', errors: ['CONFLICT'] },
        schema: {
          operationId: 'removeGroup',
          summary: 'Remove an authentication group',
          description: 'Its users lose its scopes at once.',
          tags,
          params: guidParams,
          response: { 200: removedSchema },
        },
      },
      async (request) => {
        const { guid } = request.params
        await access.removeGroup(guid, callerOf(request))
        return { guid, removed: true } as const
      },
    )
  }
}

interface GroupBody {
  readonly name?: string
  readonly description?: string
  readonly scopes?: readonly string[]
  readonly permissions?: readonly string[]
  readonly is_active?: boolean
}

/** Without `_meta`, and with `permissions` under the name that records have for it. */
function groupInput({ name, description, scopes, permissions, is_active }: GroupBody) {
  if (scopes !== undefined && permissions !== undefined)
    throw invalidField('permissions', 'permissions says the same as scopes; send one.')
  const given = scopes ?? permissions
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(given !== undefined && { scopes: given }),
    ...(is_active !== undefined && { is_active }),
  }
}
