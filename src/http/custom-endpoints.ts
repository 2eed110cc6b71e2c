/**
 * The endpoints that blueprints register, behind one wildcard route.
 *
 * A request is looked up before its body is read: its path and method in the table of the moment, then its scopes, then
 * its rate. Not found, inactive and not allowed look the same from outside (404), so that nothing can be probed; the
 * administrator asks POST /blueprints/explain. The request keeps the flow that it found, also when another one is
 * deployed meanwhile.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Identity } from '../access/identity.ts'
import { mayEnter } from '../access/scopes.ts'
import type { Reply, RunRequest } from '../blocks/run-request.ts'
import type { Engine } from '../engine/engine.ts'
import type { RunEnd } from '../engine/run.ts'
import { QuoinError } from '../shared/errors.ts'
import { isPromise, type MaybePromise } from '../shared/maybe-promise.ts'
import type { Session } from '../storage/storage.ts'
import type { Idempotency, IdempotencyKey, StoredReply } from './endpoint-idempotency.ts'
import { sendEnd, sendReply } from './endpoint-reply.ts'
import { runRequest } from './endpoint-request.ts'
import { endpointTable, type FindEndpoint, type FoundEndpoint } from './endpoint-table.ts'
import { replyWithError } from './error-reply.ts'
import { findToken } from './find-token.ts'
import type { RouteFamily, RouteTools } from './route-family.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The custom endpoint that the request reached; undefined on management routes. */
    found: FoundEndpoint | undefined
  }
}

const PREFIX = '/api/v1'

export function customEndpoints(engine: Engine, idempotency: Idempotency): RouteFamily {
  return (app, tools) => {
    let find: FindEndpoint = () => undefined
    const unwatch = engine.live.watch((table) => {
      find = endpointTable(table)
    })
    app.addHook('onClose', async () => unwatch())
    app.decorateRequest('found', undefined)
    app.route({
      method: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH'],
      url: '/*',
      config: { permission: 'by-trigger', style: 'custom' },
      onRequest: (request, _reply, done) => enter(request, find, tools, done),
      handler: (request, reply) => answer(engine, idempotency, request, reply),
    })
  }
}

function enter(
  request: FastifyRequest,
  find: FindEndpoint,
  tools: RouteTools,
  done: (error?: Error) => void,
): void {
  try {
    const token = findToken(request)
    const found = find(request.method, pathOf(request.url))
    if (!found) throw notFound()
    request.found = found
    const identity = token === undefined ? undefined : identify(request, tools)
    if (isPromise(identity)) identity.then((known) => admit(request, found, known, tools, done), done)
    else admit(request, found, identity, tools, done)
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)))
  }
}

/** A token that is no longer good makes its sender nobody: what is public stays open, the rest is not there. */
function identify(request: FastifyRequest, tools: RouteTools): MaybePromise<Identity | undefined> {
  const nobody = (error: unknown) => {
    if (error instanceof QuoinError && error.code === 'INVALID_ACCESS_TOKEN') return undefined
    throw error
  }
  try {
    const identity = tools.identify(request)
    return isPromise(identity) ? identity.catch(nobody) : identity
  } catch (error) {
    return nobody(error)
  }
}

function admit(
  request: FastifyRequest,
  found: FoundEndpoint,
  identity: Identity | undefined,
  tools: RouteTools,
  done: (error?: Error) => void,
): void {
  const { endpoint } = found
  try {
    if (!mayEnter(endpoint.scopes, identity)) throw notFound()
    tools.limitRate(request, endpoint.block, endpoint.listening.rateLimit)
    done()
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)))
  }
}

function notFound(): QuoinError {
  return new QuoinError('NOT_FOUND', 'not found')
}

function pathOf(url: string): string {
  const query = url.indexOf('?')
  return url.slice(PREFIX.length, query < 0 ? undefined : query)
}

function answer(
  engine: Engine,
  idempotency: Idempotency,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { found } = request
  if (!found) throw notFound()
  const given = runRequest(request, found.parameters, request.identity)
  const key = found.endpoint.listening.idempotent ? idempotency.keyOf(found, given) : undefined
  if (key) {
    answerOnce(engine, idempotency, key, found, given, request, reply).catch((error) =>
      replyWithError(error, request, reply),
    )
  } else {
    run(engine, found, given, request, reply)
  }
  return reply
}

function run(
  engine: Engine,
  found: FoundEndpoint,
  given: RunRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const end = start(engine, found, given, (sent) => sendReply(reply, found.endpoint, sent))
  if (!isPromise(end)) finish(engine, found, end, request, reply)
  else {
    end
      .then((ended) => finish(engine, found, ended, request, reply))
      .catch((error) => replyWithError(error, request, reply))
  }
}

function start(
  engine: Engine,
  found: FoundEndpoint,
  request: RunRequest,
  onReply: (reply: Reply) => void,
  beforeReply?: (session: Session, reply: Reply) => unknown,
) {
  const { endpoint, blueprint } = found
  return engine.run({
    flow: endpoint.flow,
    blueprint,
    given: endpoint.start(request),
    request,
    onReply,
    ...(beforeReply && { beforeReply }),
  })
}

function finish(
  engine: Engine,
  found: FoundEndpoint,
  end: RunEnd,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (end.replied) return
  if (!end.error) {
    const { method, uri } = found.endpoint.listening
    const message = `${method} ${uri} ended without a reply block; the client got 204.`
    engine.log.write({
      level: 'warn',
      message,
      run: end.run,
      blueprint: found.blueprint,
      block: found.endpoint.block,
    })
  }
  sendEnd(reply, request, end)
}

async function answerOnce(
  engine: Engine,
  idempotency: Idempotency,
  key: IdempotencyKey,
  found: FoundEndpoint,
  given: RunRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const stored = await idempotency.take(key)
  if (stored) {
    replay(reply, stored)
    return
  }
  try {
    const end = await start(
      engine,
      found,
      given,
      (sent) => sendReply(reply, found.endpoint, sent),
      (session, sent) => idempotency.keep(session, key, sent),
    )
    // Another node was faster: its writes and its reply stand, ours were undone.
    const other = end.error?.code === 'CONFLICT' ? await idempotency.find(key) : undefined
    if (other) replay(reply, other)
    else finish(engine, found, end, request, reply)
  } finally {
    idempotency.release(key)
  }
}

function replay(reply: FastifyReply, stored: StoredReply): void {
  reply.code(stored.code).headers({ ...stored.headers, 'idempotent-replay': 'true' })
  if (stored.text !== undefined) reply.header('content-type', 'application/json; charset=utf-8')
  reply.send(stored.text)
}
