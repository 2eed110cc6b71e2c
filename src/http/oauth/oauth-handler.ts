/**
 * Quoin as the authorization server of its own `/mcp` (OAuth 2.1): documents by which clients find it, tokens and their end. The page on
 * which a user agrees is `consent-page.ts`. Without QUOIN_PUBLIC_URL there is none of it: what issues tokens must know its own name.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { draftScopes } from '../../shared/management-scopes.ts'
import type { PageServices } from '../pages/open-page-services.ts'
import type { App, RouteFamily, RouteTools } from '../server/route-family.ts'
import { consentRoute } from './consent-page.ts'
import { isResource, OAUTH_PATH, siteOf } from './oauth-site.ts'

/** A code, a verifier and addresses. */
const TOKEN_BYTES = 8 * 1024

export function oauthHandler(services: PageServices): RouteFamily {
  return (app, tools) => {
    documents(app, services, tools)
    tokenRoutes(app, services, tools)
    app.register(async (scope: App) => consentRoute(scope, services, tools))
  }
}

function documents(app: App, services: PageServices, tools: RouteTools): void {
  const options = {
    config: { permission: 'by-trigger', entityTag: false },
    schema: { hide: true },
    onRequest: async (request: FastifyRequest) => tools.limitRate(request, 'oauth'),
  } as const
  const resource = () => {
    const site = siteOf(services)
    return {
      resource: `${site}/mcp`,
      authorization_servers: [site],
      scopes_supported: [...draftScopes],
      bearer_methods_supported: ['header'],
    }
  }
  const server = () => {
    const site = siteOf(services)
    return {
      issuer: site,
      authorization_endpoint: `${site}/${OAUTH_PATH}/authorize`,
      token_endpoint: `${site}/${OAUTH_PATH}/token`,
      revocation_endpoint: `${site}/${OAUTH_PATH}/revoke`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      scopes_supported: [...draftScopes],
    }
  }
  app.get('/.well-known/oauth-protected-resource', options, resource)
  app.get('/.well-known/oauth-protected-resource/mcp', options, resource)
  app.get('/.well-known/oauth-authorization-server', options, server)
}

function tokenRoutes(app: App, services: PageServices, tools: RouteTools): void {
  const options = {
    config: { permission: 'by-trigger', entityTag: false, bodyBytes: TOKEN_BYTES },
    schema: { hide: true },
    onRequest: async (request: FastifyRequest) => tools.limitRate(request, 'oauth'),
  } as const
  app.post(`/${OAUTH_PATH}/token`, options, async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
    const site = siteOf(services)
    try {
      const { accessToken, refreshToken, expiresIn, scopes } = await issued(services, site, request)
      return {
        access_token: accessToken,
        token_type: 'Bearer',
        expires_in: expiresIn,
        refresh_token: refreshToken,
        scope: scopes.join(' '),
      }
    } catch (error) {
      return refusedTokens(reply, error)
    }
  })
  app.post(`/${OAUTH_PATH}/revoke`, options, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    siteOf(services)
    const sent = fieldsOf(request.body)
    await services.access.agents.revoke(sent('token') ?? '', sent('client_id') ?? '')
    return reply.status(200).send()
  })
}

class TokenRefusal extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

function issued({ access }: PageServices, site: string, { body, headers }: FastifyRequest) {
  const sent = fieldsOf(body)
  // Clients are public. One that sends a secret takes this for another server.
  if (headers.authorization !== undefined || sent('client_secret') !== undefined)
    throw new TokenRefusal('invalid_client', 'Clients have no secret here.')
  const required = (name: string) => {
    const value = sent(name)
    if (value === undefined || value === '') throw new TokenRefusal('invalid_request', `${name} is missing.`)
    return value
  }
  const resource = sent('resource')
  if (resource !== undefined && !isResource(site, resource))
    throw new TokenRefusal('invalid_target', `Tokens are for ${site}/mcp only.`)
  const clientId = required('client_id')
  switch (required('grant_type')) {
    case 'authorization_code': {
      const redeemed = { code: required('code'), redirectUri: required('redirect_uri') }
      return access.agents.redeem({ ...redeemed, clientId, verifier: required('code_verifier') })
    }
    case 'refresh_token':
      return access.agents.refresh(required('refresh_token'), clientId)
    default:
      throw new TokenRefusal('unsupported_grant_type', 'Use authorization_code or refresh_token.')
  }
}

/** In the form of RFC 6749, which clients of OAuth read. */
function refusedTokens(reply: FastifyReply, error: unknown) {
  if (error instanceof TokenRefusal)
    return reply.status(400).send({ error: error.code, error_description: error.message })
  if (error instanceof QuoinError && error.code === 'INVALID_CREDENTIALS')
    return reply.status(400).send({ error: 'invalid_grant', error_description: error.message })
  throw error
}

/** A form; a name that comes twice counts as missing. */
function fieldsOf(body: unknown): (name: string) => string | undefined {
  const fields: JsonObject = isJsonObject(body) ? body : {}
  return (name) => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    return typeof value === 'string' ? value : undefined
  }
}
