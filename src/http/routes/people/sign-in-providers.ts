import type { Access } from '../../../access/access.ts'
import { PROVIDER_PATH } from '../../../shared/account-paths.ts'
import { exchangedSchema, exchangeSchema } from '../../../shared/api/people/auth.ts'
import {
  accountOfUserParams,
  accountParams,
  createProviderSchema,
  linkedAccountsSchema,
  providerButtonsSchema,
  providerSchema,
  updateProviderSchema,
} from '../../../shared/api/people/sign-in-providers.ts'
import { removedSchema } from '../../../shared/api/people/users.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { Database } from '../../../storage/database.ts'
import { findPage } from '../../../storage/find-documents.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import { callerOf } from '../../server/authenticate.ts'
import { cookieOf, isSameOrigin, SESSION_COOKIE } from '../../server/origin.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { resource } from '../resource.ts'
import type { SearchField } from '../search-request.ts'

const tags = ['Sign-in providers']
const OWN_ACCOUNTS = '/users/me/accounts'
const USER_ACCOUNTS = '/users/:guid/accounts'
/** A code and a verifier; nothing longer is read from an anonymous caller. */
const BODY_LIMIT = 16 * 1024

const searchable: readonly SearchField[] = [
  { name: 'name', type: 'string', text: true },
  { name: 'title', type: 'string', text: true },
  { name: 'issuer', type: 'string', text: true },
  { name: 'is_active', type: 'boolean' },
]

/** Providers that users sign in with, and what browsers and programs need for it. */
export function signInProviderRoutes(
  access: Access,
  { database, publicUrl }: { readonly database: Database; readonly publicUrl: string },
): RouteFamily {
  return (app) => {
    buttonRoute(app, access, publicUrl)
    exchangeRoute(app, access)
    accountRoutes(app, access)
    const providers = resource(app, {
      ...{ path: '/_system/signin-providers', scopes: 'signin_providers', tags },
      ...{ record: providerSchema, searchable },
    })
    providers.list(
      {
        operationId: 'searchSignInProviders',
        summary: 'List sign-in providers',
        description: 'Providers that users sign in with: OpenID Connect, and OAuth 2 of GitHub.',
      },
      (requested) => findPage(database.session(), systemStorages.signInProviders, requested),
    )
    providers.create(
      {
        operationId: 'createSignInProvider',
        summary: 'Add a sign-in provider',
        confirmed: true,
        description:
          'Register `<QUOIN_PUBLIC_URL>/_signin/<name>/callback` at the provider. A cluster has at most 50.',
        errors: ['CONFLICT'],
        body: createProviderSchema,
      },
      (body, request) => access.providers.create(body, callerOf(request)),
    )
    providers.get({ operationId: 'getSignInProvider', summary: 'One sign-in provider' }, (guid) =>
      access.providers.get(guid),
    )
    providers.update(
      {
        operationId: 'updateSignInProvider',
        summary: 'Change a sign-in provider',
        confirmed: true,
        description:
          'Every sign-in that begins after the reply uses it. Sessions stay; accounts of another issuer are other accounts. One that QUOIN_SIGNIN_PROVIDERS has is changed there.',
        errors: ['CONFLICT'],
        body: updateProviderSchema,
      },
      (guid, body, request) => access.providers.update(guid, body, callerOf(request)),
    )
    providers.remove(
      {
        operationId: 'removeSignInProvider',
        summary: 'Remove a sign-in provider',
        confirmed: true,
        description:
          'Its users can no longer sign in with it. Sessions stay. One that QUOIN_SIGNIN_PROVIDERS has is removed there.',
        errors: ['CONFLICT'],
      },
      (guid, request) => access.providers.remove(guid, callerOf(request)),
    )
  }
}

function buttonRoute(app: App, { providers }: Access, publicUrl: string): void {
  app.get(
    '/auth/providers',
    {
      config: { permission: 'public' },
      schema: {
        operationId: 'listSignInProviders',
        summary: 'Providers to sign in with',
        tags: ['Sign-in'],
        description:
          'For the buttons of a sign-in page: a browser opens `start`. Empty while QUOIN_PUBLIC_URL is not set.',
        response: { 200: providerButtonsSchema },
      },
    },
    () =>
      publicUrl === ''
        ? []
        : providers.active().map(({ name, title }) => ({ name, title, start: `/${PROVIDER_PATH}/${name}` })),
  )
}

function exchangeRoute(app: App, access: Access): void {
  app.post(
    '/auth/exchange',
    {
      bodyLimit: BODY_LIMIT,
      config: { permission: 'public', errors: ['INVALID_CREDENTIALS'] },
      schema: {
        operationId: 'exchangeSignIn',
        summary: 'Take over a sign-in of a page',
        tags: ['Sign-in'],
        description:
          'Changes the code of a sign-in in a browser into an access token, once, within five minutes. The studio sends no verifier and gets the session of its cookie; a program sends the verifier whose hash it showed before.',
        body: exchangeSchema,
        response: { 200: exchangedSchema },
      },
    },
    async (request, reply) => {
      const { code, verifier } = request.body
      reply.header('cache-control', 'no-store')
      if (verifier !== undefined) {
        const sender = { ip: request.ip, agent: request.headers['user-agent'] }
        const { access_token, user } = await access.handovers.signInProgram(code, verifier, sender)
        return { access_token, username: String(user.username) }
      }
      if (!isSameOrigin(request))
        throw new QuoinError('INVALID_CREDENTIALS', 'Only a page of this site takes over a sign-in.')
      const access_token = cookieOf(request, SESSION_COOKIE) ?? ''
      const by = await access.identify(access_token)
      await access.handovers.useInStudio(code, by)
      return { access_token, username: by?.username ?? '' }
    },
  )
}

/** Accounts at providers that sign in a user. Each route exists twice: under `me` and under a guid. */
function accountRoutes(app: App, access: Access): void {
  accountListRoutes(app, access)
  accountEndRoutes(app, access)
}

function accountListRoutes(app: App, { providerAccounts }: Access): void {
  const response = { 200: linkedAccountsSchema }
  app.get(
    OWN_ACCOUNTS,
    {
      config: { permission: 'signed-in' },
      schema: {
        operationId: 'listMyAccounts',
        summary: 'Accounts that sign in the calling user',
        tags,
        response,
      },
    },
    async (request) => [...(await providerAccounts.list(callerOf(request).guid))],
  )
  app.get(
    USER_ACCOUNTS,
    {
      config: { permission: 'users_view' },
      schema: {
        ...{ operationId: 'listAccounts', summary: 'Accounts that sign in a user', tags, response },
        params: guidParams,
      },
    },
    async (request) => [...(await providerAccounts.list(request.params.guid))],
  )
}

function accountEndRoutes(app: App, { providerAccounts }: Access): void {
  const ends =
    'It no longer signs in the user, and sessions that came from its provider end. It is linked again where it signs in with a verified address that the user has confirmed.'
  app.delete(
    `${OWN_ACCOUNTS}/:account`,
    {
      config: { permission: 'signed-in', confirmed: true, errors: ['CONFLICT', 'INSUFFICIENT_PERMISSIONS'] },
      schema: {
        operationId: 'endMyAccount',
        summary: 'End the link with an account of the calling user',
        description: `${ends} The session of this request stays. CONFLICT where the caller signs in with nothing else.`,
        tags,
        params: accountParams,
        response: { 200: removedSchema },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      await providerAccounts.end(caller.guid, request.params.account, caller)
      return { guid: request.params.account, removed: true } as const
    },
  )
  app.delete(
    `${USER_ACCOUNTS}/:account`,
    {
      config: { permission: 'users_update', confirmed: true },
      schema: {
        operationId: 'endAccount',
        summary: 'End the link with an account of a user',
        description: `${ends} The user gets a mail.`,
        tags,
        params: accountOfUserParams,
        response: { 200: removedSchema },
      },
    },
    async (request) => {
      const { guid, account } = request.params
      await providerAccounts.end(guid, account, callerOf(request))
      return { guid: account, removed: true } as const
    },
  )
}
