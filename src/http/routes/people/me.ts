import type { Access } from '../../../access/access.ts'
import { updateMeSchema, userSchema } from '../../../shared/api/people/users.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { changeKnowingPassword } from './change-password.ts'

const tags = ['Users']

/** What every signed-in user may see and change about themselves. */
export function meRoutes(access: Access): RouteFamily {
  return (app) => {
    app.get(
      '/users/me',
      {
        config: { permission: 'signed-in' },
        schema: { operationId: 'getMe', summary: 'The calling user', tags, response: { 200: userSchema } },
      },
      (request) => callerOf(request).user,
    )

    app.put(
      '/users/me',
      {
        config: { permission: 'signed-in', errors: ['TOO_MANY_LOGIN_ATTEMPTS'] },
        schema: {
          operationId: 'updateMe',
          summary: 'Change the calling user',
          description:
            'A new password requires the current one. It signs the user out everywhere, this token included.',
          tags,
          body: updateMeSchema,
          response: { 200: userSchema },
        },
      },
      async (request) => {
        const { current_password, ...changes } = request.body
        const caller = callerOf(request)
        if (changes.password === undefined) return access.updateUser(caller.guid, changes, caller)
        return changeKnowingPassword(access, caller, changes, current_password, request.ip)
      },
    )
  }
}
