/**
 * `/mcp`: the Model Context Protocol for agents, in both of its eras (2026-07-28, and streamable HTTP before it), without sessions. A caller
 * is an API key in a header. What the protocol needs is loaded with the first request.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { allowedEndpoints } from '../access/keys/allowed-endpoints.ts'
import type { RouteFamily, RouteTools } from '../http/server/route-family.ts'
import { MOST_APPLICATION_BYTES } from '../shared/api/blueprints/applications.ts'
import type { Clock } from '../shared/clock.ts'
import { QuoinError } from '../shared/errors.ts'
import { isJsonObject, isLargerThan } from '../shared/json.ts'
import { type Budgets, openBudgets } from './budgets.ts'

export function agentHandler(clock: Clock, version: string): RouteFamily {
  const budgets = openBudgets(clock)
  return (app, tools) => {
    app.route({
      method: ['GET', 'POST', 'DELETE'],
      url: '/mcp',
      config: { permission: 'by-trigger', entityTag: false, bodyBytes: MOST_APPLICATION_BYTES },
      schema: { hide: true },
      async onRequest(request) {
        const identity = await tools.identify(request)
        if (identity?.key === undefined)
          throw new QuoinError(
            'INVALID_ACCESS_TOKEN',
            'An agent needs an API key. Make one in your account and send it as "Authorization: Bearer".',
          )
      },
      handler: (request, reply) => answer(request, reply, { tools, budgets, version }),
    })
  }
}

/**
 * What /mcp in the list of endpoints of a key admits: definitions and drafts. Documents, runs, logs and pushes reach further than building
 * does; each must be in the list itself. The scopes decide besides.
 */
const buildsDrafts = allowedEndpoints([
  'GET /api/v1/blocks',
  'GET /api/v1/schemas/{name}.json',
  'GET /api/v1/_system/applications',
  'GET /api/v1/_system/applications/{name}/content',
  'GET /api/v1/_system/drafts',
  'POST /api/v1/_system/drafts',
  'GET /api/v1/_system/drafts/{guid}',
  'DELETE /api/v1/_system/drafts/{guid}',
  'POST /api/v1/_system/drafts/{guid}/plan',
  'GET /api/v1/blueprints/{guid}',
  'POST /api/v1/blueprints/search',
  'POST /api/v1/blueprints/explain',
  'POST /api/v1/blueprintfields/search',
  'POST /api/v1/_system/storages/search',
])

/** Of a message. The protocol's own check of 24,000 names takes 0.1 s in one turn. */
const MOST_VALUES = 5_000

interface Parts {
  readonly tools: RouteTools
  readonly budgets: Budgets
  readonly version: string
}

async function answer(request: FastifyRequest, reply: FastifyReply, { tools, budgets, version }: Parts) {
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
  const { answerMcp } = await import('./mcp-server.ts')
  const { key } = identity
  const mayCall = (method: string, url: string) => key.mayCall(method, url) || buildsDrafts(method, url)
  const caller = { ...identity, key: { ...key, mayCall } }
  const { status, type, text } = await answerMcp({
    method: request.method,
    headers: request.headers,
    body,
    version,
    budget: {
      change: () => budgets.change(identity.tokenGuid),
      ended: (isRefused) => budgets.ended(identity.tokenGuid, isRefused),
    },
    send: (method, path, sent) =>
      tools.sendAs(caller, { method, path, ip, ...(sent !== undefined && { body: sent }) }),
  })
  if (type !== undefined) reply.header('content-type', type)
  return reply.status(status).send(text)
}

function problem(message: string, code = -32600) {
  return { jsonrpc: '2.0', id: null, error: { code, message } }
}
