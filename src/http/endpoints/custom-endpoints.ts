/**
 * The endpoints that blueprints register.
 *
 * A request is looked up before its body is read: its path and method in the table of the moment, then its scopes, then
 * its rate. Not found, inactive and not allowed look the same from outside (404, written by the same lines), so that nothing
 * can be probed; the administrator asks POST /blueprints/explain. The request keeps the flow that it found, also when another one
 * is deployed meanwhile.
 *
 * They are answered past the framework (`endpoint-exchange.ts`). Requests that come through it all the same, because
 * something of it has to look first, reach the wildcard route, which hands them over.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Identity } from '../../access/identity-cache.ts'
import { mayEnter } from '../../access/scopes.ts'
import { ChannelReply } from '../../blocks/reply.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import { drawnBlock } from '../../flows/compile/expand-resources.ts'
import type { Flows } from '../../flows/flows.ts'
import type { RunEnd, RunStart } from '../../flows/run/run-start.ts'
import type { Runs } from '../../flows/run-pipeline.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import { andThen, isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import { findToken, isRefused } from '../server/authenticate.ts'
import { wantsEvents } from '../server/query-parameters.ts'
import type { RouteFamily, RouteTools } from '../server/route-family.ts'
import { answerByKey, answerOnce, runWithUploads } from './answer-once.ts'
import { checkStorageFields, withFieldValues } from './check-storage-fields.ts'
import { EndpointExchange, type HandedOver } from './endpoint-exchange.ts'
import type { Idempotency } from './endpoint-idempotency.ts'
import { endpointTable, type FindEndpoint, type FoundEndpoint } from './endpoint-table.ts'
import type { EndpointUploads, UploadServices } from './endpoint-uploads.ts'
import type { EventStreams } from './event-streams.ts'
import { endpointBody, type FileOf, runRequest, sendEnd, sendReply } from './request-and-reply.ts'
import { TRACE_HEADER, type Traced, tracedFor } from './trace-header.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it is answered past the framework. */
    handedOver: boolean
  }
}

/** What endpoints work with. */
export interface EndpointServices {
  readonly flows: Pick<Flows, 'live' | 'log' | 'permissions'>
  readonly runs: Pick<Runs, 'run' | 'evaluate' | 'rehearse'>
  readonly idempotency: Idempotency
  /** Files of assets. */
  readonly fileOf: FileOf
  /** Where files of requests are stored. */
  readonly uploads: UploadServices
  /** Rules of a storage's fields. */
  readonly rulesOf: (storage: string) => MaybePromise<readonly FieldRule[]>
  readonly live: EventStreams
}

const PREFIX = '/api/v1'
const HERE = `${PREFIX}/`

export function customEndpoints(services: EndpointServices): RouteFamily {
  return (app, tools) => {
    let find: FindEndpoint = () => undefined
    const unwatch = services.flows.live.watch((table) => {
      find = endpointTable(table)
    })
    app.addHook('onClose', async () => unwatch())
    // Before the server waits for requests in flight: those of events would not end by themselves.
    app.addHook('preClose', async () => services.live.close())

    /** False if no active endpoint is at this path. */
    function take(request: IncomingMessage, response: ServerResponse, handed?: HandedOver): boolean {
      const { url = '', method = '' } = request
      if (!url.startsWith(HERE)) return false
      const found = find(method, pathOf(url))
      if (!found) return false
      const exchange = new EndpointExchange(request, response, found.endpoint, tools.exchange, handed)
      enter(services, exchange, found, tools)
      return true
    }

    tools.answerFirst(take)
    app.route({
      method: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH'],
      url: '/*',
      config: { permission: 'by-trigger', style: 'custom' },
      // Answers itself, the 404 too: one that the framework sends has another order of headers than that of a hidden endpoint.
      onRequest(request, reply, _done) {
        const handed = handedOver(request, reply)
        request.handedOver = true
        reply.hijack()
        if (take(request.raw, reply.raw, handed)) return
        new EndpointExchange(request.raw, reply.raw, undefined, tools.exchange, handed).fail(notFound())
      },
      handler: () => {
        throw notFound()
      },
    })
  }
}

/** The exchange sends these itself. */
const OF_EXCHANGE = new Set(['x-content-type-options', 'x-request-id', 'traceparent'])

function handedOver({ ip, host }: FastifyRequest, reply: FastifyReply): HandedOver {
  const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
    value === undefined || OF_EXCHANGE.has(name) ? [] : [[name, String(value)]],
  )
  return { ip, host, headers: Object.fromEntries(headers) }
}

function enter(
  services: EndpointServices,
  exchange: EndpointExchange,
  found: FoundEndpoint,
  tools: RouteTools,
): void {
  const admitted = (identity: Identity | undefined): MaybePromise<void> => {
    const { endpoint } = found
    if (!mayEnter(endpoint.scopes, identity)) throw notFound()
    tools.limitRate(exchange, endpoint.block, endpoint.listening.rateLimit)
    if (exchange.headers[TRACE_HEADER] !== undefined)
      return andThen(tracedFor(exchange, tools), (traced) => readAndAnswer(services, exchange, found, traced))
    return readAndAnswer(services, exchange, found)
  }
  try {
    const identity = carriesToken(exchange, found.endpoint.scopes) ? identify(exchange, tools) : undefined
    const answered = andThen(identity, admitted)
    if (isPromise(answered)) answered.catch((error) => exchange.fail(error))
  } catch (error) {
    exchange.fail(error)
  }
}

function readAndAnswer(
  services: EndpointServices,
  exchange: EndpointExchange,
  found: FoundEndpoint,
  traced?: Traced,
): MaybePromise<void> {
  const { listening, keepsRawBody } = found.endpoint
  return andThen(endpointBody(exchange, listening, services.uploads), ({ value, raw }) => {
    const request = runRequest(exchange, found.parameters, value)
    const input = keepsRawBody && raw ? { ...request, rawBody: raw, signatures: { found: {} } } : request
    if (exchange.uploads)
      return answerWithUploads(exchange.uploads, () => answer(services, exchange, found, input, traced))
    return answer(services, exchange, found, input, traced)
  })
}

async function answerWithUploads(
  uploads: EndpointUploads,
  answerRequest: () => MaybePromise<void>,
): Promise<void> {
  try {
    await answerRequest()
  } finally {
    await uploads.discard()
  }
}

/**
 * Two tokens that contradict each other, and malformed ones, are refused on public endpoints. Elsewhere a refusal
 * would tell that something is there.
 */
function carriesToken(exchange: EndpointExchange, scopes: readonly string[]): boolean {
  try {
    return findToken(exchange) !== undefined
  } catch (error) {
    throw mayEnter(scopes, undefined) ? error : notFound()
  }
}

/**
 * A caller with an expired token, or with an API key whose list does not have the endpoint, is anonymous: public endpoints
 * stay available, the others are 404.
 */
function identify(exchange: EndpointExchange, tools: RouteTools): MaybePromise<Identity | undefined> {
  const nobody = (error: unknown) => {
    if (isRefused(error)) return undefined
    throw error
  }
  try {
    const identity = tools.identify(exchange)
    return isPromise(identity) ? identity.catch(nobody) : identity
  } catch (error) {
    return nobody(error)
  }
}

function notFound(): QuoinError {
  return new QuoinError('NOT_FOUND', 'not found')
}

function pathOf(url: string): string {
  const query = url.indexOf('?')
  return url.slice(PREFIX.length, query < 0 ? undefined : query)
}

/** As events, where the client asks for them. */
function answer(
  services: EndpointServices,
  exchange: EndpointExchange,
  found: FoundEndpoint,
  input: RunRequest,
  traced?: Traced,
): MaybePromise<void> {
  const wish = exchange.method === 'GET' ? wantsEvents(exchange.headers.accept) : 'none'
  const { flow, key, subscribes } = found.endpoint
  if (wish !== 'none' && flow.cacheable && !key) return services.live.follow(exchange, found, input)
  if (wish === 'required' && !subscribes)
    throw new QuoinError(
      'NOT_ACCEPTABLE',
      'This endpoint does not send events: its flow does more than read stored data.',
    )
  return answerWithRules(services, exchange, found, input, traced)
}

/** By the rules of a storage, where the trigger names one. */
function answerWithRules(
  services: EndpointServices,
  exchange: EndpointExchange,
  found: FoundEndpoint,
  input: RunRequest,
  traced?: Traced,
): MaybePromise<void> {
  const { schemaStorage, method } = found.endpoint.listening
  if (schemaStorage === undefined) return answerChecked(services, exchange, found, input, traced)
  return andThen(services.rulesOf(schemaStorage), (rules) => {
    const own = rules.filter(({ storage }) => storage === schemaStorage)
    const isChange = method === 'PUT' || method === 'PATCH'
    const read = withFieldValues(input, own, isChange)
    checkStorageFields(own, read.body, isChange)
    return answerChecked(services, exchange, found, read, traced)
  })
}

function answerChecked(
  services: EndpointServices,
  exchange: EndpointExchange,
  found: FoundEndpoint,
  input: RunRequest,
  traced?: Traced,
): MaybePromise<void> {
  const start: RunStart = {
    flow: found.endpoint.flow,
    blueprint: found.blueprint,
    input: found.endpoint.start(input),
    request: input,
    checkReply(sent) {
      if (sent.value instanceof ChannelReply) services.live.checkSubscriber(exchange)
    },
    onReply(sent) {
      if (sent.value instanceof ChannelReply) services.live.subscribe(exchange, found, sent.value)
      else sendReply(exchange, sent, services)
    },
    ...(traced && { traced }),
    ...causeOf(exchange),
  }
  const { listening, key } = found.endpoint
  const over = (ended: RunEnd) => finish(services, found, ended, exchange)
  if (key) return answerByKey(services, { found, input, start, exchange, over }, key)
  if (listening.idempotent && exchange.headers['idempotency-key'] !== undefined)
    return answerOnce(services, { found, input, start, exchange, over })
  if (exchange.uploads) return andThen(runWithUploads(services.runs.run, start, exchange), over)
  return andThen(services.runs.run(start), over)
}

/** What the run belongs to: nothing, for nearly every request. */
function causeOf({ identity, span }: EndpointExchange): Pick<RunStart, 'origin'> {
  const hops = identity?.hops
  if (hops === undefined && span === undefined) return {}
  return { origin: { ...(hops !== undefined && { hops }), ...(span && { trace: span.place }) } }
}

function finish(
  { flows }: EndpointServices,
  found: FoundEndpoint,
  end: RunEnd,
  exchange: EndpointExchange,
): void {
  if (end.replied) return
  if (!end.error) {
    const { method, uri } = found.endpoint.listening
    const message = `${method} ${uri} ended without a reply block; the client got 204.`
    flows.log.write({
      level: 'warn',
      message,
      run: end.run,
      blueprint: found.blueprint,
      block: drawnBlock(found.endpoint.block),
    })
  }
  sendEnd(exchange, end)
}
