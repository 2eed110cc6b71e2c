import type { Access } from '../../../access/access.ts'
import {
  creationOptionsSchema,
  passkeySetupOptionsSchema,
  passkeySetupSchema,
} from '../../../shared/api/people/passkeys.ts'
import { finishedSignInSchema } from '../../../shared/api/people/second-factors.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { App } from '../../server/route-family.ts'

/** What an authenticator sends has some 2 KB. */
export const PASSKEY_BODY_LIMIT = 24 * 1024

const tags = ['Sign-in']

/** A passkey as the factor that a group requires, inside the sign-in that it forces to set one up. */
export function registerPasskeySetUp(app: App, { passkeys }: Access): void {
  app.post(
    '/auth/passkey/setup/options',
    {
      bodyLimit: PASSKEY_BODY_LIMIT,
      config: { permission: 'public', errors: ['CONFLICT', 'INVALID_CREDENTIALS'] },
      schema: {
        operationId: 'beginPasskeySetup',
        summary: 'Begin to set up a passkey in a sign-in',
        tags,
        description:
          'For a sign-in that replied SECOND_FACTOR_REQUIRED with `setup` in its details. Gives options for `navigator.credentials.create`.',
        body: passkeySetupOptionsSchema,
        response: { 200: creationOptionsSchema },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const options = await passkeys.toSetUp(request.body.challenge, { agent: request.headers['user-agent'] })
      if (options) return options
      throw new QuoinError('INVALID_CREDENTIALS', 'This sign-in has expired, or it sets up no factor.')
    },
  )
  app.post(
    '/auth/passkey/setup',
    {
      bodyLimit: PASSKEY_BODY_LIMIT,
      config: {
        permission: 'public',
        errors: ['CONFLICT', 'INVALID_CREDENTIALS', 'TOO_MANY_LOGIN_ATTEMPTS'],
      },
      schema: {
        operationId: 'setUpPasskey',
        summary: 'Set up a passkey in a sign-in',
        tags,
        description:
          'Ends the sign-in, from the same browser and within five minutes. The reply has recovery codes, and from then on a password alone is not enough to sign in.',
        body: passkeySetupSchema,
        response: { 200: finishedSignInSchema },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const sender = { ip: request.ip, agent: request.headers['user-agent'] }
      const { recovery_codes, ...signedIn } = await passkeys.setUp({ ...request.body, ...sender })
      return { ...signedIn, ...(recovery_codes && { recovery_codes: [...recovery_codes] }) }
    },
  )
}
