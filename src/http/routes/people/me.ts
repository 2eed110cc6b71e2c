import { Type } from 'typebox'
import type { Access } from '../../../access/access.ts'
import type { Identity } from '../../../access/identity-cache.ts'
import { requirePerson } from '../../../access/keys/allowed-endpoints.ts'
import { myTasks, type OtherTasks, type Waits } from '../../../flows/background/waits.ts'
import type { LiveTable } from '../../../flows/live/live-blueprints.ts'
import { taskQuery, taskSchema } from '../../../shared/api/operate/waits.ts'
import {
  inviteUserSchema,
  updateMeSchema,
  userLogSchema,
  userSchema,
} from '../../../shared/api/people/users.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { searchQuerySchema } from '../../../shared/api/search.ts'
import { invalidField, QuoinError } from '../../../shared/errors.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'
import { searchReply } from '../search-reply.ts'
import { metaFields, type SearchField, searchBodyFromQuery, searchRequest } from '../search-request.ts'

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
export function myTaskRoutes(
  waits: Pick<Waits, 'tasks'>,
  table: () => LiveTable,
  others: OtherTasks,
): RouteFamily {
  return (app) => {
    app.get(
      '/users/me/tasks',
      {
        config: { permission: 'signed-in', errors: ['INVALID_QUERY'] },
        schema: {
          operationId: 'listMyTasks',
          summary: 'Approvals that wait for the calling user',
          description:
            'Newest first: pushes that wait for a second user, then approvals of flows of which the user holds a scope. Each is decided on its page. Approvals that only a link admits to are not listed.',
          tags: ['Users'],
          querystring: taskQuery,
          response: { 200: Type.Array(taskSchema) },
        },
      },
      async (request, reply) => {
        const { limit = 50, offset = 0, after } = request.query
        const requested = { limit, offset, ...(after !== undefined && { after }) }
        const caller = callerOf(request)
        const ahead = await others.tasks(caller)
        return searchReply(reply, {}, await myTasks(waits, table(), caller, requested, ahead))
      },
    )
  }
}

const searchFields: readonly SearchField[] = [
  { name: 'event', type: 'string' },
  { name: 'user.guid', type: 'string' },
  { name: 'user.username', type: 'string', text: true },
  { name: 'ip', type: 'string', text: true },
  { name: 'agent', type: 'string', text: true },
  { name: 'method', type: 'string' },
  { name: 'path', type: 'string', text: true },
  { name: 'status', type: 'number' },
  { name: 'milliseconds', type: 'number' },
  { name: 'studio', type: 'boolean' },
  ...metaFields,
]

/** Who signed in, failed to, signed out, and what signed-in users asked for. */
export function userLogRoutes(access: Access): RouteFamily {
  return (app) => {
    app.get(
      '/_system/userlogs/search',
      {
        config: { permission: 'userlogs_view' },
        schema: {
          operationId: 'searchUserLogs',
          summary: 'Read user activity logs',
          description:
            'The last `QUOIN_KEEP_LOGS` days, newest first. Accepts the fields of other searches as query parameters.',
          tags: ['Logs'],
          querystring: searchQuerySchema,
          response: { 200: Type.Array(userLogSchema) },
        },
      },
      async (request, reply) => {
        const body = searchBodyFromQuery(request.query)
        return searchReply(reply, body, await access.searchUserLogs(searchRequest(body, searchFields)))
      },
    )
  }
}

const invitationTags = ['Users']
const response = { 200: userSchema }

/** Users who set their password by a link in a mail. */
export function invitationRoutes({ links }: Access): RouteFamily {
  return (app) => {
    app.post(
      '/users/invite',
      {
        config: { permission: 'users_create', confirmed: true, errors: ['CONFLICT'] },
        schema: {
          operationId: 'inviteUser',
          summary: 'Invite a user',
          description:
            'Creates a user without a password and sends a mail with a link. The user sets the password there within seven days. Needs QUOIN_MAIL_URL and QUOIN_PUBLIC_URL.',
          tags: invitationTags,
          body: inviteUserSchema,
          response,
        },
      },
      (request) => links.invite(request.body, callerOf(request)),
    )
    app.post(
      '/users/:guid/invitation',
      {
        config: { permission: 'users_update', errors: ['CONFLICT'] },
        schema: {
          operationId: 'inviteUserAgain',
          summary: 'Invite a user again',
          description: 'Sends another link, valid for seven days. Links of before stop working.',
          tags: invitationTags,
          params: guidParams,
          response,
        },
      },
      (request) => links.inviteAgain(request.params.guid, callerOf(request)),
    )
    app.delete(
      '/users/:guid/invitation',
      {
        config: { permission: 'users_update', errors: ['CONFLICT'] },
        schema: {
          operationId: 'withdrawInvitation',
          summary: 'Withdraw an invitation',
          description: 'Its links stop working. The user stays, without a password.',
          tags: invitationTags,
          params: guidParams,
          response,
        },
      },
      (request) => links.withdraw(request.params.guid, callerOf(request)),
    )
  }
}

/**
 * A person at an unlocked screen must not take over the account, so the current password is asked for. Wrong ones count
 * towards the lock like those of sign-ins.
 */
export async function changeKnowingPassword(
  access: Access,
  caller: Identity,
  changes: JsonObject,
  currentPassword: string | undefined,
  ip: string,
): Promise<JsonObject> {
  requirePerson(caller)
  if (currentPassword === undefined)
    throw invalidField('current_password', 'current_password is required to change your own password.')
  try {
    await access.checkPassword({ username: caller.username, password: currentPassword, ip })
  } catch (error) {
    // The caller is known and signed in: a 401 would send them to sign in again.
    if (error instanceof QuoinError && error.code === 'INVALID_CREDENTIALS')
      throw invalidField('current_password', 'current_password is wrong.')
    throw error
  }
  return access.updateUser(caller.guid, changes, caller, { currentPassword: true })
}
