/**
 * Where a user lets an agent in. The page names client, scopes and end. What is wrong with client or redirect address is said here and sent
 * nowhere: an address that the client has not named itself gets nothing, not even an error. Looking changes nothing; only a form of this
 * page agrees, once.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Identity } from '../../access/identity-cache.ts'
import { requirePerson } from '../../access/keys/allowed-endpoints.ts'
import { holds, scopeNameProblem } from '../../access/scopes.ts'
import { providerRequests } from '../../flows/provider-requests.ts'
import {
  type AgentClient,
  agentClients,
  allowsRedirect,
  MOST_DOCUMENT_BYTES,
} from '../../identity/agent-client.ts'
import type { FactorState } from '../../identity/factors.ts'
import { messagesFor, type PageMessages } from '../../pages/messages.ts'
import { QuoinError } from '../../shared/errors.ts'
import { draftScopes } from '../../shared/management-scopes.ts'
import type { PageNode, ShownPage } from '../../shared/pages/page-content.ts'
import { showError } from '../pages/error-page.ts'
import type { PageServices } from '../pages/open-page-services.ts'
import { askToSignIn, identify } from '../pages/page-handler.ts'
import { isFromElsewhere, isFromHere, pageAddress } from '../pages/page-origin.ts'
import { type Posted, postedFields, sentNames } from '../pages/posted.ts'
import { elsewhereShown, localeOf, showPage } from '../pages/show-page.ts'
import type { App, RouteTools } from '../server/route-family.ts'
import { isResource, OAUTH_PATH, siteOf } from './oauth-site.ts'

const CONSENT_DAYS = 30
const MOST_SCOPES = 100
const LONGEST_STATE = 2_000
const FORM = 'consent'
/** SHA-256 in base64url. */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

type Clients = (id: string) => Promise<AgentClient>

export function consentRoute(app: App, services: PageServices, tools: RouteTools): void {
  const { fetch } = providerRequests(services.flows, MOST_DOCUMENT_BYTES)
  const get = (address: string) =>
    fetch(address, {
      method: 'GET',
      headers: { accept: 'application/json' },
      body: undefined,
      redirect: 'manual',
    })
  const clients = agentClients(get, services.clock)
  app.setErrorHandler((error, request, reply) => showError(services, request, reply, error))
  app.route({
    method: ['GET', 'POST'],
    url: `/${OAUTH_PATH}/authorize`,
    // Two buttons, and a password.
    config: { permission: 'by-trigger', entityTag: false, bodyBytes: () => 16 * 1024 },
    schema: { hide: true },
    async onRequest(request) {
      if (request.method === 'POST' && isFromElsewhere(request)) throw fromElsewhere()
      await identify(request, tools)
      tools.limitRate(request, 'oauth')
    },
    async handler(request, reply) {
      siteOf(services)
      const { identity } = request
      if (!identity) return askToSignIn(request, reply)
      requirePerson(identity)
      const read = await readRequest(services, clients, request)
      if ('error' in read)
        return sendBack(reply, services, read, { error: read.error, error_description: read.about })
      const confirmedBy = isOld(tools, identity)
        ? await services.access.factors.stateOf(identity.guid)
        : undefined
      if (confirmedBy?.password === false) return askToSignIn(request, reply)
      const asked = { ...read, identity, confirmedBy }
      if (request.method === 'POST') return decide(services, request, reply, asked)
      return show(services, request, reply, asked)
    },
  })
}

/** Where the browser goes back to. */
interface Back {
  readonly redirectUri: string
  readonly state: string | undefined
}

interface Refused extends Back {
  readonly error: string
  readonly about: string
}

interface Read extends Back {
  readonly client: AgentClient
  readonly challenge: string
  readonly scopes: readonly string[]
}

interface Asked extends Read {
  readonly identity: Identity
  /** Of a user whose sign-in is too old for this. */
  readonly confirmedBy: FactorState | undefined
}

/** Throws INVALID_QUERY where the browser must be sent nowhere. */
async function readRequest(
  services: PageServices,
  clients: Clients,
  { url }: FastifyRequest,
): Promise<Read | Refused> {
  const { query } = pageAddress(url)
  const names = [...query.keys()].filter((name) => name !== 'resource')
  if (new Set(names).size < names.length) throw refused('A parameter comes twice.')
  const client = await clients(query.get('client_id') ?? '')
  const redirectUri = query.get('redirect_uri') ?? ''
  if (!allowsRedirect(client, redirectUri))
    throw refused('redirect_uri is none of those that the document of the client names.')
  const state = query.get('state') ?? undefined
  if ((state ?? '').length > LONGEST_STATE) throw refused('state is too long.')
  const back = { redirectUri, state }
  const wrong = (error: string, about: string): Refused => ({ ...back, error, about })
  if (query.get('response_type') !== 'code')
    return wrong('unsupported_response_type', 'Use response_type=code.')
  const challenge = query.get('code_challenge') ?? ''
  if (query.get('code_challenge_method') !== 'S256' || !CHALLENGE.test(challenge))
    return wrong('invalid_request', 'PKCE with S256 is required.')
  const site = siteOf(services)
  if (!query.getAll('resource').every((one) => isResource(site, one)))
    return wrong('invalid_target', `Tokens are for ${site}/mcp only.`)
  const written = (query.get('scope') ?? '').split(' ').filter((scope) => scope !== '')
  const scopes = written.length === 0 ? draftScopes : [...new Set(written)]
  // All that a user may is for keys that the user makes by hand.
  if (scopes.length > MOST_SCOPES || scopes.some((one) => one === '*' || scopeNameProblem(one) !== undefined))
    return wrong('invalid_scope', 'A scope cannot be one that an agent gets.')
  return { ...back, client, challenge, scopes }
}

function isOld(tools: RouteTools, identity: Identity): boolean {
  try {
    tools.requireConfirmed(identity)
    return false
  } catch (error) {
    if (error instanceof QuoinError && error.code === 'CONFIRMATION_REQUIRED') return true
    throw error
  }
}

async function decide(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Asked,
): Promise<FastifyReply> {
  const say = messagesFor(localeOf(request))
  const posted = postedFields(request.body)
  const isOwn = services.tokens.verify(request, posted.first(sentNames.token))
  if (!isOwn && !isFromHere(request)) throw fromElsewhere()
  const again = (message: string) => show(services, request, reply, asked, { posted, message })
  if (!isOwn) return again(say('form.expired'))
  const button = posted.first(sentNames.button)
  if (button === 'deny ') return goBack(services, request, reply, asked, { error: 'access_denied' })
  if (button !== 'allow ') return again(say('agent.choose'))
  const { identity, client, redirectUri, challenge } = asked
  try {
    if (asked.confirmedBy) await confirm(services, request, identity, posted)
    const code = await services.access.agents.consent(identity, {
      ...{ clientId: client.id, clientName: client.name, redirectUri, challenge },
      scopes: heldScopes(asked),
      seconds: CONSENT_DAYS * 86_400,
      once: `${identity.tokenGuid} ${posted.first(sentNames.once) ?? ''}`,
    })
    return await goBack(services, request, reply, asked, { code })
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    if (error.code === 'CONFLICT') return again(say('agent.used'))
    if (error.code === 'INVALID_BODY') return again(say('agent.password.wrong'))
    throw error
  }
}

function confirm(
  { access }: PageServices,
  { ip, headers }: FastifyRequest,
  identity: Identity,
  posted: Posted,
): Promise<number> {
  const [password, code] = [posted.first('password') ?? '', posted.first('code') ?? '']
  return access.factors.confirm(identity, { password, code, ip, agent: headers['user-agent'] })
}

/** Those that the user can give. */
function heldScopes({ scopes, identity }: Asked): readonly string[] {
  return scopes.filter((scope) => holds(identity.scopes, scope))
}

type Answered = Readonly<Record<string, string>>

function backAddress(services: PageServices, { redirectUri, state }: Back, answer: Answered): string {
  const to = new URL(redirectUri)
  for (const [name, value] of Object.entries(answer)) to.searchParams.set(name, value)
  if (state !== undefined) to.searchParams.set('state', state)
  to.searchParams.set('iss', siteOf(services))
  return to.href
}

function sendBack(reply: FastifyReply, services: PageServices, back: Back, answer: Answered): FastifyReply {
  const location = backAddress(services, back, answer)
  return reply.code(303).headers({ location, 'cache-control': 'no-store' }).send()
}

/** Behind the form of consent, or of the sign-in that led to it. */
function goBack(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  back: Back,
  answer: Answered,
): Promise<FastifyReply> {
  const say = messagesFor(localeOf(request))
  const href = backAddress(services, back, answer)
  const title = say('agent.return')
  const shown = elsewhereShown(reply, { title, label: say('agent.continue'), href })
  return showPage(services, request, reply, { shown, title, builtIn: true })
}

interface Again {
  readonly posted: Posted
  readonly message: string
}

function show(
  services: PageServices,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Asked,
  again?: Again,
): Promise<FastifyReply> {
  const say = messagesFor(localeOf(request))
  const refusal = again && {
    ...{ form: FORM, posted: again.posted, errors: new Map<string, string>() },
    messages: [again.message],
  }
  return showPage(services, request, reply, {
    ...{ title: '', builtIn: true, shown: consentPage(asked, services.clock(), say) },
    ...(refusal && { refused: refusal }),
  })
}

function consentPage(asked: Asked, now: number, say: PageMessages): ShownPage {
  const { client, identity, redirectUri, confirmedBy } = asked
  const [held, missing] = [heldScopes(asked), asked.scopes.filter((one) => !holds(identity.scopes, one))]
  const title = say('agent.title', { name: client.name })
  const item = (label: string, value: string) => ({ label, value, format: 'auto' as const })
  const content: PageNode[] = [
    { kind: 'heading', level: 1, text: title },
    { kind: 'text', text: say('agent.about') },
    {
      kind: 'detail',
      items: [
        item(say('agent.name'), client.name),
        item(say('agent.address'), client.id),
        item(say('agent.back'), new URL(redirectUri).host),
        item(say('agent.user'), identity.username),
        item(say('agent.scopes'), held.join('\n') || say('agent.none')),
        ...(missing.length > 0 ? [item(say('agent.missing'), missing.join('\n'))] : []),
        {
          label: say('agent.until'),
          value: new Date(now + CONSENT_DAYS * 86_400_000).toISOString(),
          format: 'date_time',
        },
      ],
    },
    ...(held.includes('agents_deploy')
      ? [{ kind: 'alert', tone: 'warning', text: say('agent.deploys') } as const]
      : []),
    {
      kind: 'form',
      id: FORM,
      block: '',
      leaves: true,
      content: [...(confirmedBy ? proofInputs(confirmedBy, say) : []), ...buttons(say)],
    },
  ]
  return { title, content, template: undefined, status: 200 }
}

function proofInputs({ totp, passkeys }: FactorState, say: PageMessages): readonly PageNode[] {
  const password: PageNode = {
    ...{ kind: 'input', type: 'password', name: 'password', label: say('agent.password') },
  }
  if (!totp && passkeys === 0) return [password]
  return [password, { kind: 'input', type: 'text', name: 'code', label: say('agent.code') }]
}

function buttons(say: PageMessages): readonly PageNode[] {
  return [
    { kind: 'button', action: 'submit', block: 'allow', label: say('agent.allow'), tone: 'primary' },
    { kind: 'button', action: 'submit', block: 'deny', label: say('agent.deny'), tone: 'danger' },
  ]
}

function refused(message: string): QuoinError {
  return new QuoinError('INVALID_QUERY', message)
}

function fromElsewhere(): QuoinError {
  return new QuoinError('INSUFFICIENT_PERMISSIONS', 'The form was not sent from a page of this site.')
}
