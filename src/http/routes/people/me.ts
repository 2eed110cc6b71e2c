import { Type } from 'typebox'
import type { Access } from '../../../access/access.ts'
import { myTasks } from '../../../flows/background/my-tasks.ts'
import type { Waits } from '../../../flows/background/waits.ts'
import type { LiveTable } from '../../../flows/live/live-blueprints.ts'
import { taskQuery, taskSchema } from '../../../shared/api/operate/waits.ts'
import { updateMeSchema, userSchema } from '../../../shared/api/people/users.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { searchReply } from '../search-reply.ts'
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

/** What waits for the calling user, who need not see the waits of others. */
export function myTaskRoutes(waits: Pick<Waits, 'tasks'>, table: () => LiveTable): RouteFamily {
  return (app) => {
    app.get(
      '/users/me/tasks',
      {
        config: { permission: 'signed-in', errors: ['INVALID_QUERY'] },
        schema: {
          operationId: 'listMyTasks',
          summary: 'Approvals that wait for the calling user',
          description:
            'Newest first: approvals of which the user holds a scope. Each is decided on its page. Approvals that only a link admits to are not listed.',
          tags: ['Users'],
          querystring: taskQuery,
          response: { 200: Type.Array(taskSchema) },
        },
      },
      async (request, reply) => {
        const { limit = 50, offset = 0, after } = request.query
        const requested = { limit, offset, ...(after !== undefined && { after }) }
        return searchReply(reply, {}, await myTasks(waits, table(), callerOf(request), requested))
      },
    )
  }
}
