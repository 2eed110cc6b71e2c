import type { Access } from '../../../access/access.ts'
import {
  addFactorSchema,
  begunFactorSchema,
  confirmedSchema,
  confirmSchema,
  finishedSignInSchema,
  finishSignInSchema,
  recoveryCodesSchema,
  secondFactorSchema,
} from '../../../shared/api/people/second-factors.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { callerOf } from '../../server/authenticate.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'

const tags = ['Second factor']
const OWN = '/users/me/second-factor'
const OF_USER = '/users/:guid/second-factor'
/** A name, a challenge and a code; nothing longer is read from an anonymous caller. */
const BODY_LIMIT = 16 * 1024

/** The second step of a sign-in, confirmation of a session, and the factors of users. */
export function secondFactorRoutes(access: Access): RouteFamily {
  return (app) => {
    signInRoutes(app, access)
    ownRoutes(app, access)
    ownAppRoutes(app, access)
    otherRoutes(app, access)
  }
}

function signInRoutes(app: App, { factors }: Access): void {
  app.post(
    '/auth/second-factor',
    {
      bodyLimit: BODY_LIMIT,
      config: { permission: 'public', errors: ['INVALID_CREDENTIALS', 'TOO_MANY_LOGIN_ATTEMPTS'] },
      schema: {
        operationId: 'finishSignIn',
        summary: 'Sign in with a code',
        tags: ['Sign-in'],
        description:
          'The second step of a sign-in that replied SECOND_FACTOR_REQUIRED: from the same browser, within five minutes. A code works once. Ten wrong codes lock the factor for 15 minutes, each further ten for twice as long.',
        body: finishSignInSchema,
        response: { 200: finishedSignInSchema },
      },
    },
    async (request, reply) => {
      const { challenge, code } = request.body
      reply.header('cache-control', 'no-store')
      const { recovery_codes, ...signedIn } = await factors.finishSignIn({
        ...{ challenge, code, ip: request.ip, agent: request.headers['user-agent'] },
      })
      return { ...signedIn, ...(recovery_codes && { recovery_codes: [...recovery_codes] }) }
    },
  )
  app.post(
    '/auth/confirm',
    {
      bodyLimit: BODY_LIMIT,
      config: { permission: 'signed-in', errors: ['TOO_MANY_LOGIN_ATTEMPTS'] },
      schema: {
        operationId: 'confirmSession',
        summary: 'Confirm the session',
        tags: ['Sign-in'],
        description:
          'Asks for the password again, and for a code where the caller has a second factor. The session may then do, for `QUOIN_CONFIRM_SECONDS`, what replies CONFIRMATION_REQUIRED otherwise. A sign-in counts too.',
        body: confirmSchema,
        response: { 200: confirmedSchema },
      },
    },
    async (request) => {
      const { password, code = '' } = request.body
      const sender = { ip: request.ip, agent: request.headers['user-agent'] }
      return { confirmed_until: await factors.confirm(callerOf(request), { password, code, ...sender }) }
    },
  )
}

function ownRoutes(app: App, { factors }: Access): void {
  const permission = 'signed-in'
  app.get(
    OWN,
    {
      config: { permission },
      schema: {
        operationId: 'getMySecondFactor',
        summary: 'Second factor of the calling user',
        tags,
        response: { 200: secondFactorSchema },
      },
    },
    (request) => factors.stateOf(callerOf(request).guid),
  )
  app.post(
    `${OWN}/recovery-codes`,
    {
      config: { permission, confirmed: true, errors: ['CONFLICT'] },
      schema: {
        operationId: 'renewRecoveryCodes',
        summary: 'New recovery codes',
        description: 'The codes before them stop working.',
        tags,
        response: { 200: recoveryCodesSchema },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      return { recovery_codes: [...(await factors.renewRecoveryCodes(callerOf(request)))] }
    },
  )
  app.delete(
    OWN,
    {
      config: { permission, confirmed: true, errors: ['CONFLICT'] },
      schema: {
        operationId: 'removeMySecondFactor',
        summary: 'Remove the own second factor',
        tags,
        response: { 200: secondFactorSchema },
      },
    },
    (request) => factors.remove(callerOf(request).guid, callerOf(request)),
  )
}

function ownAppRoutes(app: App, { factors }: Access): void {
  const permission = 'signed-in'
  app.post(
    OWN,
    {
      config: { permission, confirmed: true, errors: ['CONFLICT'] },
      schema: {
        operationId: 'beginSecondFactor',
        summary: 'Begin to add an authenticator app',
        description:
          'Gives a new secret. A factor that the caller has works until a code of the new one arrives.',
        tags,
        response: { 200: begunFactorSchema },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const { challenge, expiry, setup } = await factors.begin(callerOf(request))
      return { challenge, expiry, ...setup }
    },
  )
  app.put(
    OWN,
    {
      config: { permission, confirmed: true },
      schema: {
        operationId: 'addSecondFactor',
        summary: 'Add an authenticator app',
        description: 'Takes a code of the app. From then on a sign-in needs one.',
        tags,
        body: addFactorSchema,
        response: { 200: recoveryCodesSchema },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      return { recovery_codes: [...(await factors.add(callerOf(request), request.body))] }
    },
  )
}

function otherRoutes(app: App, { factors }: Access): void {
  app.get(
    OF_USER,
    {
      config: { permission: 'users_view' },
      schema: {
        operationId: 'getSecondFactor',
        summary: 'Second factor of a user',
        tags,
        params: guidParams,
        response: { 200: secondFactorSchema },
      },
    },
    (request) => factors.stateOf(request.params.guid),
  )
  app.delete(
    OF_USER,
    {
      config: { permission: 'users_update', confirmed: true, errors: ['CONFLICT'] },
      schema: {
        operationId: 'resetSecondFactor',
        summary: 'Reset the second factor of a user',
        description:
          'For a user who has lost the app and the recovery codes. Signs the user out everywhere. The audit log has it.',
        tags,
        params: guidParams,
        response: { 200: secondFactorSchema },
      },
    },
    (request) => factors.remove(request.params.guid, callerOf(request)),
  )
}
