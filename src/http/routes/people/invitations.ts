import type { Access } from '../../../access/access.ts'
import { inviteUserSchema, userSchema } from '../../../shared/api/people/users.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { RouteFamily } from '../../server/route-family.ts'

const tags = ['Users']
const response = { 200: userSchema }

/** Users who set their password by a link in a mail. */
export function invitationRoutes({ links }: Access): RouteFamily {
  return (app) => {
    app.post(
      '/users/invite',
      {
        config: { permission: 'users_create', errors: ['CONFLICT'] },
        schema: {
          operationId: 'inviteUser',
          summary: 'Invite a user',
          description:
            'Creates a user without a password and sends a mail with a link. The user sets the password there within seven days. Needs QUOIN_MAIL_URL and QUOIN_PUBLIC_URL.',
          tags,
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
          tags,
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
          tags,
          params: guidParams,
          response,
        },
      },
      (request) => links.withdraw(request.params.guid, callerOf(request)),
    )
  }
}
