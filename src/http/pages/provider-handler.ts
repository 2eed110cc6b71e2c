/**
 * Where a browser signs in with a provider. `/_signin/{name}` sends it there; the provider sends it back to `callback`; `logout` takes the
 * messages by which a provider ends sessions (back-channel logout).
 *
 * The cookie of a sign-in that is under way holds a random name and where to go on. What the provider gets to see (`state`, `nonce`, the
 * challenge of PKCE) is signed from that cookie: another browser has another cookie, and nothing is stored for a visitor who never comes
 * back. The provider takes a code once.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ProviderRefusal, providerRefused } from '../../identity/provider-accounts.ts'
import type { SignInChecks } from '../../identity/provider-client.ts'
import type { SignInProvider } from '../../identity/sign-in-providers.ts'
import { messagesFor } from '../../pages/messages.ts'
import { accountPaths, PROVIDER_PATH } from '../../shared/account-paths.ts'
import { QuoinError } from '../../shared/errors.ts'
import { cookieOf, setCookie } from '../server/origin.ts'
import type { App, RouteFamily, RouteTools } from '../server/route-family.ts'
import { accountShown, enterPages, localPath, sentOn } from './account-form.ts'
import { showError } from './error-page.ts'
import { keepNotice } from './notice-cookie.ts'
import type { PageServices } from './open-page-services.ts'
import { askToSignIn, identify } from './page-handler.ts'
import { pageAddress } from './page-origin.ts'
import { isConfirmed, toCode } from './second-factor-pages.ts'
import { localeOf, showPage } from './show-page.ts'
import { keepHint } from './sign-out-hint.ts'

const COOKIE = 'quoin_signin'
/** For what a person does at the provider. */
const SECONDS = 900
/** A logout token has some 1 KB. */
const LOGOUT_BYTES = 16 * 1024
const reasons: ReadonlySet<string> = new Set<ProviderRefusal>([
  ...(['failed', 'denied', 'expired', 'unknown', 'domain', 'taken', 'linked', 'inactive'] as const),
])

interface ProviderParams {
  Params: { name: string }
}

export function providerHandler(services: PageServices): RouteFamily {
  return (app, tools) => {
    app.setErrorHandler((error, request, reply) => showError(services, request, reply, error))
    const shared = { permission: 'by-trigger', entityTag: false } as const
    app.get<ProviderParams>(`/${PROVIDER_PATH}/:name`, {
      config: shared,
      schema: { hide: true },
      onRequest: async (request) => tools.limitRate(request, 'signin'),
      handler: (request, reply) =>
        begin(services, request, reply, providerNamed(services, request.params.name)),
    })
    app.get<ProviderParams>(`/${PROVIDER_PATH}/:name/callback`, {
      config: shared,
      schema: { hide: true },
      async onRequest(request) {
        tools.limitRate(request, 'signin')
        await identify(request, tools)
      },
      handler: (request, reply) =>
        goOn(services, request, reply, providerNamed(services, request.params.name)),
    })
    programRoute(app, services, tools)
    logoutRoute(app, services, (request) => tools.limitRate(request, 'signin'))
  }
}

function providerNamed({ access }: PageServices, name: string): SignInProvider {
  const provider = access.providers.find(name)
  if (provider?.is_active) return provider
  throw new QuoinError('NOT_FOUND', `There is no sign-in provider ${name}.`)
}

async function begin(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  provider: SignInProvider,
): Promise<undefined> {
  const site = publicUrl(services)
  // The cookie has to be of the host to which the provider sends the browser back.
  if (new URL(site).host !== request.host) return sentOn(reply, `${site}${pageAddress(request.url).href}`)
  const next = localPath(pageAddress(request.url).get('next')) ?? '/'
  const until = Math.floor(services.clock() / 1000) + SECONDS
  const started = `${services.flows.newGuid()}.${until}.${Buffer.from(next).toString('base64url')}`
  try {
    const checks = checksOf(services, provider, started)
    const again = pageAddress(request.url).get('again') === '1'
    const to = { redirectUri: callbackOf(site, provider), again }
    const url = await services.provider.authorizationUrl(provider, { ...checks, ...to })
    setCookie(request, reply, COOKIE, started, { maxAge: SECONDS })
    return sentOn(reply, url.href)
  } catch (error) {
    return refused(services, request, reply, provider, { error, next })
  }
}

function callbackOf(site: string, { name }: SignInProvider): string {
  return `${site}/${PROVIDER_PATH}/${name}/callback`
}

function publicUrl({ flows }: PageServices): string {
  const { publicUrl: site } = flows.environment
  if (site !== '') return site
  throw new QuoinError('UNAVAILABLE', 'QUOIN_PUBLIC_URL is not set: a provider could not send users back.')
}

function checksOf({ secret }: PageServices, { guid }: SignInProvider, started: string): SignInChecks {
  const signed = (purpose: string) => secret.sign(`sign-in ${purpose} ${guid}`, started)
  return { state: signed('state'), nonce: signed('nonce'), verifier: signed('verifier') }
}

async function goOn(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  provider: SignInProvider,
): Promise<undefined> {
  const started = cookieOf(request, COOKIE) ?? ''
  const [, until = '', encoded = ''] = started.split('.')
  const next = localPath(Buffer.from(encoded, 'base64url').toString('utf8')) ?? '/'
  setCookie(request, reply, COOKIE, '', { maxAge: 0 })
  const sender = { ip: request.ip, agent: request.headers['user-agent'] }
  try {
    const checks = checksOf(services, provider, started)
    const callback = new URL(`${publicUrl(services)}${request.url}`)
    const isOwn = callback.searchParams.getAll('state').join() === checks.state
    if (!isOwn || Number(until) <= services.clock() / 1000)
      throw providerRefused('expired', 'This sign-in was begun in another browser, or too long ago.')
    const { user, idToken } = await services.provider.redeem(provider, callback, checks)
    const result = await services.access.providerAccounts.signIn(user, sender)
    keepHint(services, request, reply, { guid: provider.guid, idToken: provider.sign_out ? idToken : '' })
    if ('challenge' in result) return toCode(request, reply, result.challenge, next)
    return await enterPages(services, request, reply, result, next)
  } catch (error) {
    return refused(services, request, reply, provider, { error, next })
  }
}

/** Back to the sign-in page, which says why. The log has what an operator needs. */
function refused(
  { flows }: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { name, title }: SignInProvider,
  { error, next }: { readonly error: unknown; readonly next: string },
): undefined {
  if (!(error instanceof QuoinError) || error.code === 'INTERNAL') throw error
  const input = String(error.details?.reason ?? '')
  const reason = error.code === 'INVALID_CREDENTIALS' && reasons.has(input) ? input : 'unavailable'
  const isRequired = error.code === 'INSUFFICIENT_PERMISSIONS'
  if (!isRequired && (reason === 'failed' || reason === 'unavailable'))
    flows.log.write({ level: 'warn', message: `Sign-in with ${name}: ${error.message}${causeOf(error)}` })
  const say = messagesFor(localeOf(request))
  const text = isRequired
    ? say('provider.required', { title: String(error.details?.title) })
    : say(textOf(reason), { title })
  keepNotice(request, reply, { tone: 'danger', text })
  return sentOn(reply, `/${accountPaths.signIn}?next=${encodeURIComponent(next)}`)
}

function textOf(reason: string) {
  switch (reason) {
    case 'denied':
      return 'provider.denied'
    case 'expired':
      return 'provider.expired'
    case 'unknown':
    case 'domain':
      return 'provider.unknown'
    case 'taken':
      return 'provider.taken'
    case 'linked':
      return 'provider.linked'
    case 'inactive':
      return 'provider.inactive'
    case 'failed':
      return 'provider.failed'
    default:
      return 'provider.unavailable'
  }
}

/** Names and codes of errors: what a provider sent may hold a token. */
function causeOf({ cause }: Error): string {
  if (!(cause instanceof Error)) return ''
  const code = 'code' in cause && typeof cause.code === 'string' ? ` ${cause.code}` : ''
  const why = cause.cause instanceof Error ? `: ${cause.cause.message}` : ''
  return ` (${cause.message}${code}${why})`
}

/**
 * Leads a signed-in user back to a program on the same machine (`quoin login`) with a code, which only that program can use. The user
 * clicks: another site can open this page, but not go on from it.
 */
function programRoute(app: App, services: PageServices, tools: RouteTools): void {
  app.get(`/${PROVIDER_PATH}`, {
    config: { permission: 'by-trigger', entityTag: false },
    schema: { hide: true },
    async onRequest(request) {
      tools.limitRate(request, 'signin')
      await identify(request, tools)
    },
    async handler(request, reply) {
      const address = pageAddress(request.url)
      const port = Number(address.get('port'))
      const challenge = address.get('challenge') ?? ''
      if (!Number.isInteger(port) || port < 1024 || port > 65_535 || !/^[A-Za-z0-9_-]{43}$/.test(challenge))
        throw new QuoinError('NOT_FOUND', 'This address was not made by quoin login.')
      const { identity } = request
      // Its session is as old as this one: it could do nothing that is asked to be confirmed.
      if (!identity || !isConfirmed(services, identity)) return askToSignIn(request, reply)
      const code = await services.access.handovers.toProgram(identity, challenge)
      const say = messagesFor(localeOf(request))
      const href = `http://127.0.0.1:${port}/?code=${code}`
      const shown = accountShown(say('program.title'), [
        { kind: 'text', text: say('program.text', { username: identity.username }) },
        { kind: 'button', action: 'link', label: say('program.go'), href, tone: 'primary' },
      ])
      return showPage(services, request, reply, { shown, title: '', builtIn: true })
    },
  })
}

function logoutRoute(app: App, services: PageServices, limitRate: (request: FastifyRequest) => void): void {
  app.post<ProviderParams>(`/${PROVIDER_PATH}/:name/logout`, {
    config: { permission: 'by-trigger', entityTag: false, bodyBytes: LOGOUT_BYTES },
    schema: { hide: true },
    onRequest: async (request) => limitRate(request),
    async handler(request, reply) {
      const provider = providerNamed(services, request.params.name)
      reply.header('cache-control', 'no-store')
      const { body } = request
      const token =
        typeof body === 'object' && body !== null && 'logout_token' in body ? body.logout_token : ''
      try {
        const ended = await services.provider.endedSession(provider, String(token))
        await services.access.providerAccounts.endSessions(provider, ended)
        return reply.code(200).send()
      } catch (error) {
        if (!(error instanceof QuoinError) || error.code !== 'INVALID_CREDENTIALS') throw error
        // As OpenID Connect Back-Channel Logout 1.0 has it, 2.8.
        return reply.code(400).send({ error: 'invalid_request', error_description: error.message })
      }
    },
  })
}
