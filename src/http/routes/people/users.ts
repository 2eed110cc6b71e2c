import { Type } from 'typebox'
import type { Access } from '../../../access/access.ts'
import { guidParams } from '../../../shared/api/meta.ts'
import { searchSchema } from '../../../shared/api/search.ts'
import { createUserSchema, removedSchema, updateUserSchema, userSchema } from '../../../shared/api/users.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { searchReply } from '../search-reply.ts'
import type { SearchField } from '../search-request.ts'
import { metaFields, searchRequest } from '../search-request.ts'
import { changeKnowingPassword } from './change-password.ts'

const tags = ['Users']

const searchFields: readonly SearchField[] = [
  { name: 'username', type: 'string', text: true },
  { name: 'email', type: 'string', text: true },
  { name: 'firstname', type: 'string', text: true },
  { name: 'lastname', type: 'string', text: true },
  { name: 'timezone', type: 'string' },
  { name: 'language', type: 'string' },
  { name: 'custom_scopes', type: 'string' },
  { name: 'groups', type: 'string' },
  { name: 'is_active', type: 'boolean' },
  { name: 'login_attempts', type: 'number' },
  { name: 'locked_until', type: 'number' },
  { name: 'last_activity', type: 'number' },
  ...metaFields,
]

/** Users, for those who manage them. What everybody may do with themselves is in `me.ts`. */
export function userRoutes(access: Access): RouteFamily {
  return (app) => {
    app.post(
      '/users/search',
      {
        config: { permission: 'users_view', bodyOptional: true },
        schema: {
          operationId: 'searchUsers',
          summary: 'List or search users',
          tags,
          body: searchSchema,
          response: { 200: Type.Array(userSchema) },
        },
      },
      async (request, reply) => {
        const page = await access.searchUsers(searchRequest(request.body, searchFields))
        return searchReply(reply, request.body, page)
      },
    )

    app.post(
      '/users',
      {
        config: { permission: 'users_create', errors: ['CONFLICT'] },
        schema: {
          operationId: 'createUser',
          summary: 'Create a user',
          tags,
          body: createUserSchema,
          response: { 200: userSchema },
        },
      },
      (request) => access.createUser(request.body, callerOf(request)),
    )

    app.get(
      '/users/:guid',
      {
        config: { permission: 'users_view' },
        schema: {
          operationId: 'getUser',
          summary: 'One user',
          tags,
          params: guidParams,
          response: { 200: userSchema },
        },
      },
      async (request) => {
        const { guid } = request.params
        const user = await access.getUser(guid)
        if (user === undefined) throw new QuoinError('NOT_FOUND', `There is no user ${guid}.`)
        return user
      },
    )

    app.put(
      '/users/:guid',
      {
        config: { permission: 'users_update', errors: ['CONFLICT', 'TOO_MANY_LOGIN_ATTEMPTS'] },
        schema: {
          operationId: 'updateUser',
          summary: 'Change a user',
          description:
            'Changes what is given. A new password, or `is_active: false`, signs the user out everywhere. Your own password needs the current one, as with `PUT /users/me`.',
          tags,
          params: guidParams,
          body: updateUserSchema,
          response: { 200: userSchema },
        },
      },
      async (request) => {
        const { current_password, ...changes } = request.body
        const caller = callerOf(request)
        const { guid } = request.params
        if (changes.password === undefined || guid !== caller.guid)
          return access.updateUser(guid, changes, caller)
        return changeKnowingPassword(access, caller, changes, current_password, request.ip)
      },
    )

    app.delete(
      '/users/:guid',
      {
        config: { permission: 'users_remove', errors: ['CONFLICT'] },
        schema: {
          operationId: 'removeUser',
          summary: 'Remove a user',
          description: 'Signs the user out everywhere. The last administrator cannot be removed.',
          tags,
          params: guidParams,
          response: { 200: removedSchema },
        },
      },
      async (request) => {
        const { guid } = request.params
        await access.removeUser(guid, callerOf(request))
        return { guid, removed: true } as const
      },
    )

    app.post(
      '/users/:guid/reset-login-attempts',
      {
        config: { permission: 'users_update' },
        schema: {
          operationId: 'resetLoginAttempts',
          summary: 'Unlock a locked-out user',
          tags,
          params: guidParams,
          response: { 200: userSchema },
        },
      },
      (request) => access.resetLoginAttempts(request.params.guid, callerOf(request)),
    )
  }
}
