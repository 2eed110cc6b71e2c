/**
 * The door for browsers: pages of blueprints behind one wildcard route, and the pages that come with Quoin.
 *
 * A request is looked up before its body is read: its path in the table of the moment, then where it comes from, who
 * sends it, their scopes, and the rate. Unlike endpoints, a page without access is not hidden: a browser is
 * sent to sign in, or is told that the account may not.
 */
import multipart from '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Identity } from '../../access/identity-cache.ts'
import { mayEnter } from '../../access/scopes.ts'
import { messagesFor } from '../../pages/messages.ts'
import {
  type AccountPath,
  accountPaths,
  isAccountPath,
  looksLikeAccountPath,
} from '../../shared/account-paths.ts'
import { QuoinError } from '../../shared/errors.ts'
import { nothingHere } from '../server/authenticate.ts'
import { leavingProvider } from '../server/origin.ts'
import type { RouteFamily, RouteTools } from '../server/route-family.ts'
import { accountForm, accountPage, submitAccountForm } from './account-pages.ts'
import { showError } from './error-page.ts'
import { type HomeServices, visitHome } from './home-page.ts'
import type { PageServices } from './open-page-services.ts'
import { isFromElsewhere, isFromHere, pageAddress } from './page-origin.ts'
import { type FindPage, type FoundPage, pageRoutes } from './page-routes.ts'
import { FORM_BOUNDS, type Posted, postedFields, receivePosted } from './posted.ts'
import { privateFileRoute } from './private-files.ts'
import { localeOf, showPage, zoneOf } from './show-page.ts'
import { pageFiles } from './store-files.ts'
import { Visit } from './visit.ts'
import { type Sent, visitPage } from './visit-page.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The page that the request reached; undefined when there is none. */
    foundPage: FoundPage | undefined
    /** An anonymous caller sent something to a page that is not public: sign-in comes first. */
    sentTooLate: boolean
  }
}

/** Of an anonymous form with files little is kept, so little is read into memory. */
const LATE_FORM = { fields: 500, fieldSize: 256 * 1024, characters: 512 * 1024 }

/** Of the pages that come with Quoin: names, passwords and codes. */
const OWN_FORM = { fields: 50, fieldSize: 4 * 1024, characters: 16 * 1024 }

export function pageHandler(services: HomeServices): RouteFamily {
  return async (app, tools) => {
    let find: FindPage = () => undefined
    const unwatch = services.flows.live.watch((table) => {
      find = pageRoutes(table)
    })
    app.addHook('onClose', async () => unwatch())
    // Before the server waits for requests in flight: those of events would not end by themselves.
    app.addHook('preClose', async () => services.events.close())
    app.decorateRequest('foundPage', undefined)
    app.decorateRequest('sentTooLate', false)
    app.setErrorHandler((error, request, reply) => showError(services, request, reply, error))
    await app.register(multipart)
    pageFiles(app, services)
    privateFileRoute(app, services.assets, services.secret, services.clock)
    app.route({
      method: ['GET', 'HEAD', 'POST'],
      url: '/*',
      config: {
        permission: 'by-trigger',
        bodyBytes: ({ foundPage }) => (foundPage ? undefined : OWN_FORM.characters),
      },
      onRequest: (request, reply) => enter(request, reply, find, tools),
      handler: (request, reply) => answer(services, request, reply),
    })
  }
}

async function enter(
  request: FastifyRequest,
  reply: FastifyReply,
  find: FindPage,
  tools: RouteTools,
): Promise<FastifyReply | undefined> {
  const found = ownPage(find(pathOf(request)), pathOf(request))
  request.foundPage = found
  if (request.method === 'POST' && isFromElsewhere(request))
    throw new QuoinError('INSUFFICIENT_PERMISSIONS', 'The form was not sent from a page of this site.')
  const identity = await identify(request, tools)
  tools.limitRate(request, found?.page.block ?? 'pages', found?.page.listening.rateLimit)
  // Also where a blueprint has a page for signing out: this one is done with.
  if (isLeaving(request)) {
    request.foundPage = undefined
    return undefined
  }
  if (!found && isHome(request)) return undefined
  // Before its body is read.
  if (!found && !isAccountPath(pathOf(request).slice(1))) throw nothingHere(request.method)
  if (!found) return isOpen(request, identity) ? undefined : askToSignIn(request, reply)
  if (mayEnter(found.page.scopes, identity)) return undefined
  // Sign-in must always be possible: without a page of the blueprint there is the built-in one.
  if (found.page.listening.uri === accountPaths.signIn) request.foundPage = undefined
  else if (identity)
    throw new QuoinError(
      'INSUFFICIENT_PERMISSIONS',
      `This needs the scope ${found.page.scopes.join(' or ')}.`,
    )
  // Its body is read before: what was typed is kept.
  else if (request.method === 'POST') request.sentTooLate = true
  else return askToSignIn(request, reply)
  return undefined
}

/**
 * A page such as `{name}` is not meant to take over where passwords are typed, `/Login` and `/log%69n` included: only one that
 * says `login` does.
 */
function ownPage(found: FoundPage | undefined, path: string): FoundPage | undefined {
  if (!found) return undefined
  const uri = decoded(path.slice(1))
  return looksLikeAccountPath(uri) && found.page.listening.uri !== uri ? undefined : found
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function isHome(request: FastifyRequest): boolean {
  return pathOf(request) === '/' && request.method !== 'POST'
}

const forSignedIn: readonly string[] = [
  accountPaths.password,
  accountPaths.signOut,
  accountPaths.factor,
  accountPaths.passkeys,
]

/** A browser that the sign-out of the studio has sent here. */
function isLeaving(request: FastifyRequest): boolean {
  return pathOf(request) === `/${accountPaths.signOut}` && leavingProvider(request) !== undefined
}

function isOpen(request: FastifyRequest, identity: Identity | undefined): boolean {
  const uri = pathOf(request).slice(1)
  return identity !== undefined || !forSignedIn.includes(uri)
}

/** `kept`: typed values, for a user who comes back. A form is not sent again after signing in: its page is opened. */
export function askToSignIn(request: FastifyRequest, reply: FastifyReply, savedForm?: string): FastifyReply {
  const next = encodeURIComponent(
    pageAddress(request.url).with(savedForm === undefined ? {} : { _kept: savedForm }),
  )
  return reply
    .code(303)
    .header('location', `/${accountPaths.signIn}?next=${next}`)
    .header('cache-control', 'no-store')
    .send()
}

/** A caller with an expired token is anonymous. */
export async function identify(request: FastifyRequest, tools: RouteTools): Promise<Identity | undefined> {
  try {
    return await tools.identify(request)
  } catch (error) {
    if (error instanceof QuoinError && error.code === 'INVALID_ACCESS_TOKEN') return undefined
    throw error
  }
}

async function answer(
  services: HomeServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { foundPage: found } = request
  if (!found && isHome(request)) return visitHome(services, request, reply, () => askToSignIn(request, reply))
  if (request.sentTooLate) return askToSignIn(request, reply, await keepForm(services, request))
  const uri = pathOf(request).slice(1)
  if (!found && !isAccountPath(uri)) throw nothingHere(request.method)
  const sent = request.method === 'POST' ? await readSent(services, request) : undefined
  try {
    if (found) return await visitPage(services, request, reply, found, sent)
    if (isAccountPath(uri)) return await visitAccountPage(services, request, reply, uri, sent)
    throw nothingHere(request.method)
  } finally {
    for (const { file } of sent?.posted.files ?? []) await services.assets.files.discard(file)
  }
}

/** Keeps what was typed; what cannot be kept is lost, as it would be anyway. */
async function keepForm(services: PageServices, request: FastifyRequest): Promise<string | undefined> {
  const { assets, savedForms } = services
  try {
    const posted = request.isMultipart()
      ? await receivePosted(request, assets.files, assets.limit, () => false, LATE_FORM)
      : postedFields(request.body)
    return await savedForms.keep(posted, pageAddress(request.url).href)
  } catch (error) {
    if (error instanceof QuoinError && error.status < 500) return undefined
    throw error
  }
}

async function readSent(services: PageServices, request: FastifyRequest): Promise<Sent> {
  const isOwn = (posted: Posted) => services.tokens.verify(request, posted.first('_csrf'))
  const posted = request.isMultipart()
    ? await receivePosted(
        request,
        services.assets.files,
        services.assets.limit,
        isOwn,
        request.foundPage ? FORM_BOUNDS : OWN_FORM,
      )
    : postedFields(request.body)
  const expired = !isOwn(posted)
  // A browser that does not say where it is could be made to send anything.
  if (expired && !isFromHere(request))
    throw new QuoinError('INSUFFICIENT_PERMISSIONS', 'The form was not sent from a page of this site.')
  return { posted, expired }
}

/** One of the pages that come with Quoin, where no blueprint has one. */
async function visitAccountPage(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  uri: AccountPath,
  sent: Sent | undefined,
): Promise<FastifyReply> {
  const shown = await accountPage(services, uri, request, reply)
  if (!shown) throw nothingHere(request.method)
  const show = { shown, title: '', builtIn: true }
  // A link that was used meanwhile has a page without a form.
  if (!sent || shown.status !== 200) return showPage(services, request, reply, show)
  const visit = new Visit(
    sent.posted,
    {
      rulesOf: services.rulesOf,
      permitted: async (page) => page,
      messages: messagesFor(localeOf(request)),
      timeZone: zoneOf(request, services),
      readFile: () => undefined,
      storeFiles: async ({ values }) => values,
      areShown: async () => false,
      expired: sent.expired,
      ownForms: accountForm(uri),
    },
    request.url,
  )
  visit.show(shown)
  await visit.proceed()
  if (visit.refused) return showPage(services, request, reply, { ...show, refused: visit.refused })
  const { form = '', values = {} } = visit.own ?? {}
  const done = await submitAccountForm(services, request, reply, form, values)
  if (!done) return reply
  if ('shown' in done) return showPage(services, request, reply, { ...show, shown: done.shown })
  return showPage(services, request, reply, { ...show, refused: { form, posted: sent.posted, ...done } })
}

function pathOf(request: FastifyRequest): string {
  const path = request.url.split('?', 1)[0] ?? '/'
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}
