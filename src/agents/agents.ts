/**
 * `/mcp`: the Model Context Protocol for agents, in both of its eras (2026-07-28, and streamable HTTP before it), without sessions. A caller
 * is an API key in a header. What the protocol needs is loaded with the first request. And the assistant, which drafts what people
 * describe: `describe.ts`, loaded with the first description.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Identity } from '../access/identity-cache.ts'
import { allowedEndpoints } from '../access/keys/allowed-endpoints.ts'
import { holds } from '../access/scopes.ts'
import type { BlockServices } from '../blocks/block-services.ts'
import type { RunEnvironment } from '../flows/run/run-environment.ts'
import type { RouteFamily, RouteTools } from '../http/server/route-family.ts'
import type { AuditLog } from '../records/audit-log.ts'
import { MOST_APPLICATION_BYTES } from '../shared/api/blueprints/applications.ts'
import type { DescribeEnd } from '../shared/api/blueprints/drafts.ts'
import { type Clock, hasPassed } from '../shared/clock.ts'
import { pauses, yieldToEventLoop } from '../shared/cooperative.ts'
import { QuoinError } from '../shared/errors.ts'
import { HOPS_HEADER, hopsIn, loopDetected, MOST_HOPS } from '../shared/hops.ts'
import { isJsonObject, isLargerThan } from '../shared/json.ts'
import { lruCache } from '../shared/lru-cache.ts'
import { draftScopes } from '../shared/management-scopes.ts'
import type { Database } from '../storage/database.ts'
import { transact } from '../storage/transact.ts'
import type { AssistantEnvironment, AssistantSettings, Described, DescribeParts } from './describe.ts'

/** Without a public address agents have keys only. */
export function agentHandler(
  clock: Clock,
  version: string,
  environment: Pick<RunEnvironment, 'publicUrl' | 'services'>,
): RouteFamily {
  const site = () => environment.publicUrl
  const budgets = openBudgets(clock, environment.services.counts)
  const protocol = openProtocol()
  return (app, tools) => {
    app.route({
      method: ['GET', 'POST', 'DELETE'],
      url: '/mcp',
      config: { permission: 'by-trigger', entityTag: false, bodyBytes: MOST_APPLICATION_BYTES },
      schema: { hide: true },
      async onRequest(request, reply) {
        try {
          const identity = await tools.identify(request)
          if (identity?.key !== undefined) return
        } catch (error) {
          if (error instanceof QuoinError && error.status === 401) sayWhere(reply, site())
          throw error
        }
        sayWhere(reply, site())
        throw new QuoinError(
          'INVALID_ACCESS_TOKEN',
          'An agent needs the consent of a user, or an API key. Make one in your account and send it as "Authorization: Bearer".',
        )
      },
      handler: (request, reply) => answer(request, reply, { tools, budgets, protocol, version }),
    })
  }
}

/**
 * What /mcp in the list of endpoints of a key admits: definitions and drafts. Documents, runs, logs and pushes reach further than building
 * does; each must be in the list itself. The scopes decide besides.
 */
const buildsDrafts = allowedEndpoints([
  'POST /api/v1/blocks/search',
  'GET /api/v1/blocks/{identifier}',
  'GET /api/v1/schemas/{name}.json',
  'GET /api/v1/_system/applications',
  'GET /api/v1/_system/applications/{name}/content',
  'GET /api/v1/_system/drafts',
  'POST /api/v1/_system/drafts',
  'GET /api/v1/_system/drafts/{guid}',
  'DELETE /api/v1/_system/drafts/{guid}',
  'POST /api/v1/_system/drafts/{guid}/plan',
  'POST /api/v1/_system/drafts/{guid}/test',
  'POST /api/v1/_system/drafts/{guid}/try',
  'GET /api/v1/blueprints/{guid}',
  'POST /api/v1/blueprints/search',
  'POST /api/v1/blueprints/explain',
  'GET /api/v1/blueprints/{guid}/block-times',
  'POST /api/v1/blueprintfields/search',
  'POST /api/v1/_system/storages/search',
  'GET /api/v1/_system/tools',
  'POST /api/v1/_system/operations/search',
  'GET /api/v1/_system/operations/{guid}',
])

/** Descriptions that a node works on at once. */
const MOST_AT_ONCE = 4
const ASSISTANT = 'Assistant'

interface AssistantParts {
  readonly clock: Clock
  readonly settings: () => AssistantSettings
  readonly environment: AssistantEnvironment
  readonly database: Database
  readonly audit: Pick<AuditLog, 'record'>
}

type DescribeAs = Pick<DescribeParts, 'signal' | 'say'> & Pick<RouteTools, 'sendAs'> & { readonly ip: string }

export interface Assistant {
  /** Undefined where no connection is set. */
  model(): string | undefined
  /** Throws CONFLICT where there is no assistant, and RATE_LIMITED where it is at work for too many. */
  begin(caller: Identity): (described: Described, as: DescribeAs) => Promise<DescribeEnd>
}

export function openAssistant({ clock, settings, environment, database, audit }: AssistantParts): Assistant {
  const budgets = openBudgets(clock, environment.services.counts)
  const working = new Set<string>()
  return {
    model: () => (settings().connection === '' ? undefined : settings().model),
    begin(caller) {
      const present = settings()
      if (present.connection === '')
        throw new QuoinError('CONFLICT', 'There is no assistant: QUOIN_ASSISTANT_CONNECTION is empty.')
      if (working.has(caller.guid) || working.size >= MOST_AT_ONCE)
        throw new QuoinError(
          'RATE_LIMITED',
          'The assistant is at work. Wait until it has ended, or cancel it.',
          {
            retryAfter: 10,
          },
        )
      working.add(caller.guid)
      const budget = {
        change: () => budgets.change(caller.guid),
        ended: (isRefused: boolean) => budgets.ended(caller.guid, isRefused),
      }
      return async (described, { sendAs, ip, ...parts }) => {
        try {
          const { describe } = await import('./describe.ts')
          const identity = assistantOf(caller)
          const end = await describe(described, {
            ...{ ...parts, settings: present, environment, budget },
            send: (method, path, body) =>
              sendAs(identity, { method, path, ip, ...(body !== undefined && { body }) }),
          })
          const { draft, ...rest } = end
          const use = { category: 'drafts', action: 'run', guid: draft?.guid ?? '' } as const
          const { connection, model } = present
          const after = { agent: ASSISTANT, connection, model, ...rest }
          await transact(
            database,
            (session) =>
              audit.record(session, { ...use, name: described.application, before: undefined, after }),
            { user: { guid: caller.guid, username: caller.username } },
          )
          return end
        } finally {
          working.delete(caller.guid)
        }
      }
    },
  }
}

/** Has a draft of each application of its own, as an API key has. What it may do is less than what such a key may. */
function assistantOf({ guid, username, user, scopes, tokenGuid, key }: Identity): Identity {
  const scoped = [...draftScopes, 'connections_view'].filter(
    (scope) => scope !== 'drafts_remove' && holds(scopes, scope),
  )
  return {
    ...{
      guid,
      username,
      user,
      scopes: new Set(scoped),
      tokenGuid: key === undefined ? ASSISTANT : tokenGuid,
    },
    key: { name: ASSISTANT, mayCall: buildsDrafts },
  }
}

/** Of a message. The protocol's own check of 24,000 names takes 0.1 s in one turn. */
const MOST_VALUES = 5_000

/** Where an agent asks a user to let it in (RFC 9728). */
function sayWhere(reply: FastifyReply, site: string): void {
  const where = site === '' ? '' : ` resource_metadata="${site}/.well-known/oauth-protected-resource/mcp"`
  reply.header('www-authenticate', `Bearer${where}`)
}

interface Parts {
  readonly tools: RouteTools
  readonly budgets: Budgets
  readonly protocol: () => Promise<AnswerMcp>
  readonly version: string
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { tools, budgets, protocol, version }: Parts,
) {
  const { identity, body, ip } = request
  if (identity?.key === undefined) throw new TypeError('The caller of /mcp is an API key.')
  if (request.method === 'POST') budgets.call(identity.tokenGuid)
  if (Array.isArray(body)) return reply.status(400).send(problem('Send one message, not a list of them.'))
  if (isLargerThan(body, MOST_VALUES, Number.POSITIVE_INFINITY))
    return reply
      .status(400)
      .send(problem(`Send a message of at most ${MOST_VALUES} values. Files are texts.`))
  // A stream without an end; nothing that it could tell of changes without the agent.
  if (isJsonObject(body) && body.method === 'subscriptions/listen')
    return reply.status(200).send({ ...problem('There are no subscriptions.', -32601), id: body.id ?? null })
  const answerMcp = await protocol()
  const { key } = identity
  const mayCall = (method: string, url: string) =>
    key.byConsent === true || key.mayCall(method, url) || buildsDrafts(method, url)
  const hops = hopsIn(request.headers[HOPS_HEADER])
  if (hops > MOST_HOPS) throw loopDetected(hops)
  const caller = { ...identity, hops, key: { ...key, mayCall } }
  const { status, type, text } = await answerMcp({
    method: request.method,
    headers: request.headers,
    body,
    version,
    budget: {
      change: () => budgets.change(identity.tokenGuid),
      ended: (isRefused) => budgets.ended(identity.tokenGuid, isRefused),
    },
    send: (method, path, sent, headers = {}) =>
      tools.sendAs(caller, { method, path, ip, headers, ...(sent !== undefined && { body: sent }) }),
  })
  if (type !== undefined) reply.header('content-type', type)
  return reply.status(status).send(text)
}

function problem(message: string, code = -32600) {
  return { jsonrpc: '2.0', id: null, error: { code, message } }
}

type AnswerMcp = typeof import('./mcp-server.ts').answerMcp

/**
 * What answers messages. It is loaded with the first one, in turns: at once that takes 0.1 s. Of many messages at once others are served between
 * some of them and the next.
 */
function openProtocol(): () => Promise<AnswerMcp> {
  const pause = pauses()
  let loading: Promise<AnswerMcp> | undefined
  let last = Promise.resolve()
  return async () => {
    loading ??= loadProtocol()
    last = last.then(pause)
    await last
    return loading
  }
}

async function loadProtocol(): Promise<AnswerMcp> {
  const { z } = await import('zod/v4')
  await yieldToEventLoop()
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/server/validators/ajv')
  await yieldToEventLoop()
  // Both are parts of it. A bundle leaves out what nothing asks for.
  if (z === undefined || AjvJsonSchemaValidator === undefined) throw new Error('The protocol is not whole.')
  return (await import('./mcp-server.ts')).answerMcp
}

const CALLS_A_MINUTE = 120
const CHANGES_AN_HOUR = 300
const HOUR_MS = 3_600_000
/** Refused changes one after the other, from which on each next one has to wait. */
const REFUSED_FREE = 5
const LONGEST_WAIT_MS = 60_000
/** Keys; one that has not called for the longest time is forgotten. */
const MOST_KEYS = 10_000

interface Spent {
  minute: number
  calls: number
  refused: number
  /** When the next change is allowed, after refused ones. */
  next: number
}

interface Budgets {
  /** Takes one message. Throws RATE_LIMITED. */
  call(key: string): void
  /** Takes one change, of those of all nodes. Gives why it must wait, or undefined. */
  change(key: string): Promise<string | undefined>
  /** Of a change: a loop of refused ones is slowed, twice as long each time. */
  ended(key: string, isRefused: boolean): void
}

/** Counts in the database, for all nodes. */
type Counts = BlockServices['counts']

/**
 * What each API key may do. Messages and pauses count in each process, as the rate limit does: with n of them up to n times as many. Changes, which cost
 * a transaction anyway, count over all nodes.
 */
export function openBudgets(clock: Clock, counts: Counts): Budgets {
  const keys = lruCache<string, Spent>(MOST_KEYS)
  const spentBy = (key: string): Spent => {
    const known = keys.get(key)
    if (known) return known
    const fresh = { minute: 0, calls: 0, refused: 0, next: 0 }
    keys.set(key, fresh)
    return fresh
  }
  return {
    call(key) {
      const spent = spentBy(key)
      const now = clock()
      if (hasPassed(60_000, spent.minute, now)) Object.assign(spent, { minute: now, calls: 0 })
      if (spent.calls >= CALLS_A_MINUTE)
        throw new QuoinError(
          'RATE_LIMITED',
          `An API key may send ${CALLS_A_MINUTE} messages a minute. Wait.`,
          {
            retryAfter: secondsUntil(spent.minute + 60_000, now),
          },
        )
      spent.calls += 1
    },
    async change(key) {
      const spent = spentBy(key)
      const now = clock()
      if (now < spent.next && spent.next - now <= LONGEST_WAIT_MS)
        return `The last ${spent.refused} changes were refused. Retry in ${secondsUntil(spent.next, now)} s.`
      const { allowed, retryAfter } = await counts.count({
        ...{ key: JSON.stringify(['agent', 'changes', key]), window: HOUR_MS },
        ...{ most: CHANGES_AN_HOUR, amount: 1 },
      })
      if (allowed) return undefined
      return `The API key has made ${CHANGES_AN_HOUR} changes within an hour. Retry in ${retryAfter} s.`
    },
    ended(key, isRefused) {
      const spent = spentBy(key)
      spent.refused = isRefused ? spent.refused + 1 : 0
      const more = spent.refused - REFUSED_FREE
      spent.next = more < 0 ? 0 : clock() + Math.min(LONGEST_WAIT_MS, 1_000 * 2 ** more)
    },
  }
}

function secondsUntil(time: number, now: number): number {
  return Math.max(1, Math.ceil((time - now) / 1000))
}
