import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../../../access/access.ts'
import { passkeyProblems } from '../../../identity/passkey-challenge.ts'
import { signedInSchema } from '../../../shared/api/people/auth.ts'
import {
  addedPasskeySchema,
  addPasskeySchema,
  creationOptionsSchema,
  passkeyConfirmSchema,
  passkeyOptionsSchema,
  passkeyParams,
  passkeySchema,
  passkeySignInSchema,
  passkeysSchema,
  renamePasskeySchema,
  requestOptionsSchema,
} from '../../../shared/api/people/passkeys.ts'
import { confirmedSchema } from '../../../shared/api/people/second-factors.ts'
import { removedSchema } from '../../../shared/api/people/users.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { callerOf } from '../../server/authenticate.ts'
import { markPasskeyBrowser, passkeyBrowser } from '../../server/passkey-cookie.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { PASSKEY_BODY_LIMIT, registerPasskeySetUp } from './passkey-setup.ts'

const tags = ['Passkeys']
const OWN = '/users/me/passkeys'

/** Sign-in and confirmation by passkey, and the passkeys of the calling user. */
export function passkeyRoutes(access: Access, newGuid: () => string): RouteFamily {
  return (app) => {
    signInRoutes(app, access, newGuid)
    registerPasskeySetUp(app, access)
    confirmRoutes(app, access)
    ownRoutes(app, access)
    addRoutes(app, access)
  }
}

function senderOf(request: FastifyRequest) {
  return { ip: request.ip, agent: request.headers['user-agent'] }
}

function unstored(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store')
}

function signInRoutes(app: App, { passkeys }: Access, newGuid: () => string): void {
  app.post(
    '/auth/passkey/options',
    {
      bodyLimit: PASSKEY_BODY_LIMIT,
      config: { permission: 'public', bodyOptional: true, errors: ['CONFLICT', 'INVALID_CREDENTIALS'] },
      schema: {
        operationId: 'beginPasskeySignIn',
        summary: 'Begin to sign in with a passkey',
        tags: ['Sign-in'],
        description:
          'Gives options for `navigator.credentials.get`, and sets a cookie that ties the answer to this browser. They work for 15 minutes. CONFLICT where QUOIN_PUBLIC_URL has no host name to which passkeys can be bound.',
        body: passkeyOptionsSchema,
        response: { 200: requestOptionsSchema },
      },
    },
    async (request, reply) => {
      const { challenge } = request.body
      unstored(reply)
      if (challenge === undefined) return passkeys.toSignIn(markPasskeyBrowser(request, reply, newGuid))
      const options = await passkeys.toFinish(challenge, senderOf(request))
      if (options) return options
      throw new QuoinError('INVALID_CREDENTIALS', 'This sign-in has expired, or its user has no passkey.')
    },
  )
  app.post(
    '/auth/passkey',
    {
      bodyLimit: PASSKEY_BODY_LIMIT,
      config: {
        permission: 'public',
        errors: ['CONFLICT', 'INVALID_CREDENTIALS', 'TOO_MANY_LOGIN_ATTEMPTS'],
      },
      schema: {
        operationId: 'signInWithPasskey',
        summary: 'Sign in with a passkey',
        tags: ['Sign-in'],
        description:
          'Alone, or as the second factor behind a password. The device has asked for a fingerprint or a PIN, so no code is asked for.',
        body: passkeySignInSchema,
        response: { 200: signedInSchema },
      },
    },
    async (request, reply) => {
      const { passkey, challenge } = request.body
      const sender = senderOf(request)
      unstored(reply)
      if (challenge !== undefined) return passkeys.finish({ passkey, challenge, ...sender })
      return passkeys.signIn({ passkey, browser: passkeyBrowser(request), ...sender })
    },
  )
}

function confirmRoutes(app: App, { passkeys }: Access): void {
  app.post(
    '/auth/confirm/passkey/options',
    {
      config: { permission: 'signed-in', errors: ['CONFLICT'] },
      schema: {
        operationId: 'beginPasskeyConfirmation',
        summary: 'Begin to confirm the session by passkey',
        tags: ['Sign-in'],
        response: { 200: requestOptionsSchema },
      },
    },
    async (request, reply) => {
      unstored(reply)
      return passkeys.toConfirm(callerOf(request))
    },
  )
  app.post(
    '/auth/confirm/passkey',
    {
      bodyLimit: PASSKEY_BODY_LIMIT,
      config: { permission: 'signed-in', errors: ['CONFLICT', 'TOO_MANY_LOGIN_ATTEMPTS'] },
      schema: {
        operationId: 'confirmSessionWithPasskey',
        summary: 'Confirm the session by passkey',
        tags: ['Sign-in'],
        description: 'As `POST /auth/confirm`, without a password and a code.',
        body: passkeyConfirmSchema,
        response: { 200: confirmedSchema },
      },
    },
    async (request) => {
      const { passkey } = request.body
      return { confirmed_until: await passkeys.confirm(callerOf(request), { passkey, ...senderOf(request) }) }
    },
  )
}

function ownRoutes(app: App, { passkeys }: Access): void {
  const permission = 'signed-in'
  app.get(
    OWN,
    {
      config: { permission },
      schema: {
        operationId: 'listMyPasskeys',
        summary: 'Passkeys of the calling user',
        tags,
        response: { 200: passkeysSchema },
      },
    },
    async (request) => {
      const site = passkeys.site()
      const place =
        typeof site === 'string'
          ? { host: '', unavailable: passkeyProblems[site] }
          : { host: site.host, unavailable: '' }
      return { passkeys: [...(await passkeys.list(callerOf(request).guid))], ...place }
    },
  )
  app.put(
    `${OWN}/:passkey`,
    {
      config: { permission },
      schema: {
        operationId: 'renameMyPasskey',
        summary: 'Rename a passkey',
        tags,
        params: passkeyParams,
        body: renamePasskeySchema,
        response: { 200: passkeySchema },
      },
    },
    (request) => passkeys.rename(callerOf(request), request.params.passkey, request.body.name),
  )
  app.delete(
    `${OWN}/:passkey`,
    {
      config: { permission, confirmed: true },
      schema: {
        operationId: 'removeMyPasskey',
        summary: 'Remove a passkey',
        tags,
        params: passkeyParams,
        response: { 200: removedSchema },
      },
    },
    async (request) => {
      const guid = request.params.passkey
      await passkeys.remove(callerOf(request), guid)
      return { guid, removed: true } as const
    },
  )
}

function addRoutes(app: App, { passkeys }: Access): void {
  const config = { permission: 'signed-in', confirmed: true, errors: ['CONFLICT'] } as const
  app.post(
    `${OWN}/options`,
    {
      config,
      schema: {
        operationId: 'beginPasskey',
        summary: 'Begin to add a passkey',
        description: 'Gives options for `navigator.credentials.create`. They work for 15 minutes.',
        tags,
        response: { 200: creationOptionsSchema },
      },
    },
    async (request, reply) => {
      unstored(reply)
      return passkeys.toAdd(callerOf(request))
    },
  )
  app.post(
    OWN,
    {
      bodyLimit: PASSKEY_BODY_LIMIT,
      config,
      schema: {
        operationId: 'addPasskey',
        summary: 'Add a passkey',
        description:
          'A user has at most ten. With the first factor the reply has recovery codes, and from then on a password alone is not enough to sign in.',
        tags,
        body: addPasskeySchema,
        response: { 200: addedPasskeySchema },
      },
    },
    async (request, reply) => {
      unstored(reply)
      const { passkey, recoveryCodes } = await passkeys.add(callerOf(request), request.body)
      return { passkey, ...(recoveryCodes && { recovery_codes: [...recoveryCodes] }) }
    },
  )
}
