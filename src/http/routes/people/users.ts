import type { Access } from '../../../access/access.ts'
import { createUserSchema, updateUserSchema, userSchema } from '../../../shared/api/people/users.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { resource } from '../resource.ts'
import type { SearchField } from '../search-request.ts'
import { changeKnowingPassword } from './me.ts'

const tags = ['Users']

const searchable: readonly SearchField[] = [
  { name: 'username', type: 'string', text: true },
  { name: 'email', type: 'string', text: true },
  { name: 'firstname', type: 'string', text: true },
  { name: 'lastname', type: 'string', text: true },
  { name: 'timezone', type: 'string' },
  { name: 'language', type: 'string' },
  { name: 'custom_scopes', type: 'string' },
  { name: 'groups', type: 'string' },
  { name: 'is_active', type: 'boolean' },
  { name: 'is_service', type: 'boolean' },
  { name: 'login_attempts', type: 'number' },
  { name: 'locked_until', type: 'number' },
  { name: 'last_activity', type: 'number' },
]

/** Users, for those who manage them. The account of the caller is in `me.ts`. */
export function userRoutes(access: Access): RouteFamily {
  return (app) => {
    const users = resource(app, { path: '/users', scopes: 'users', tags, record: userSchema, searchable })
    users.list({ operationId: 'searchUsers', summary: 'List or search users' }, (requested) =>
      access.searchUsers(requested),
    )

    users.create(
      {
        operationId: 'createUser',
        summary: 'Create a user',
        errors: ['CONFLICT'],
        confirmed: true,
        body: createUserSchema,
      },
      (body, request) => access.createUser(body, callerOf(request)),
    )

    users.get(
      { operationId: 'getUser', summary: 'One user' },
      async (guid) => (await access.getUser(guid)) ?? notThere(guid),
    )

    users.update(
      {
        operationId: 'updateUser',
        summary: 'Change a user',
        description:
          'Changes the given fields. A new password, or `is_active: false`, signs the user out everywhere. Changing your own password or e-mail address requires the current password.',
        errors: ['CONFLICT', 'TOO_MANY_LOGIN_ATTEMPTS'],
        confirmed: true,
        body: updateUserSchema,
      },
      (guid, { current_password, ...changes }, request) => {
        const caller = callerOf(request)
        if (guid !== caller.guid || (changes.password === undefined && current_password === undefined))
          return access.updateUser(guid, changes, caller)
        return changeKnowingPassword(access, caller, changes, current_password, request.ip)
      },
    )

    users.remove(
      {
        operationId: 'removeUser',
        summary: 'Remove a user',
        description: 'Signs the user out everywhere. The last administrator cannot be removed.',
        errors: ['CONFLICT'],
        confirmed: true,
      },
      (guid, request) => access.removeUser(guid, callerOf(request)),
    )

    unlockRoute(app, access)
  }
}

function unlockRoute(app: App, access: Access): void {
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

function notThere(guid: string): never {
  throw new QuoinError('NOT_FOUND', `There is no user ${guid}.`)
}
