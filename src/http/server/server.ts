import { createRequire } from 'node:module'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyServerOptions, LogController } from 'fastify'
import type { Access } from '../../access/access.ts'
import type { Identity } from '../../access/identity-cache.ts'
import { type Clock, processTimers } from '../../shared/clock.ts'
import type { Telemetry } from '../../shared/telemetry.ts'
import type { Cluster } from '../../storage/cluster.ts'
import { NO_LIMIT, readBodies } from '../bodies/read-body.ts'
import { describeApi } from '../docs/open-api.ts'
import { plainForwardedAddresses, standsForMany } from '../limits/client-address.ts'
import {
  addressConnections,
  answerBrokenConnection,
  type ConnectionLimits,
  connectionLimits,
  MAX_HEADER_BYTES,
} from '../limits/connection-limits.ts'
import { rateLimiter } from '../limits/rate-limit.ts'
import { type UnreadLimits, unreadReplies } from '../limits/unread-replies.ts'
import { compressReplies, replyCompression } from '../replies/reply-compression.ts'
import { holdReplies, tagReply, turnReplies, waitingReplies } from '../replies/sent-replies.ts'
import { authenticate, identifier, nothingHere } from './authenticate.ts'
import { checkSchema } from './check-schema.ts'
import { replyWithError } from './error-answer.ts'
import { beginSpan, finishedHook, type RequestListener } from './finished-hook.ts'
import {
  answerFirst,
  closeGracefully,
  fence,
  type LogTarget,
  logFinished,
  logOptions,
  logRequests,
  refuseTwoHosts,
  refuseWrongUrl,
  requestIdOf,
  requestIds,
  secureReply,
  sendRequestId,
  type Taker,
} from './hooks.ts'
import type { HttpSettings } from './http-settings.ts'
import { allowOrigins, showToOrigin } from './origin.ts'
import { requirePermission } from './permission.ts'
import { requireReservedRoot } from './reserved-roots.ts'
import type { App, RouteFamily, RouteTools } from './route-family.ts'
import { sendAs, sendBounded } from './send-as.ts'

type Factories = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>
type SerializerFactory = NonNullable<Factories['buildSerializer']>

/** A plugin without a name is looked for among all modules that are loaded: 5 ms of each start for these. */
const displayName = Symbol.for('fastify.display-name')

const requireAsFastify = createRequire(import.meta.resolve('fastify'))

/**
 * Fastify's own serializer, made for a route when its first reply is sent and not at the start: most routes of a server
 * are never asked for, and all of them are 200 ms of its start and 15 MB with what makes them.
 */
const lazySerializer: SerializerFactory = (externalSchemas, options) => {
  let compiler: ReturnType<SerializerFactory> | undefined
  return (route) => {
    let write: ((value: unknown) => string) | undefined
    return (value) => {
      compiler ??= fastifySerializer()(externalSchemas, options)
      write ??= compiler(route)
      return write(value)
    }
  }
}

function fastifySerializer(): SerializerFactory {
  const selector: () => SerializerFactory = requireAsFastify('@fastify/fast-json-stringify-compiler')
  return selector()
}

export interface ServerOptions {
  readonly access: Access
  readonly settings: HttpSettings
  readonly clock: Clock
  /** Quoin's version, for the OpenAPI document. */
  readonly version: string
  /** Registered under `/api/v1`. */
  readonly api: readonly RouteFamily[]
  /** Registered under `/`. */
  readonly root?: readonly RouteFamily[]
  readonly log?: LogTarget
  /** Told of each finished request: for metrics. */
  readonly finished?: RequestListener
  /** Where there are other nodes: see `hooks.ts`. */
  readonly cluster?: Pick<Cluster, 'alive'> | undefined
  readonly limits?: ConnectionLimits
  readonly unread?: UnreadLimits
  /** Where traces are sent. */
  readonly telemetry?: Telemetry | undefined
}

export interface Server {
  /** For requests without a port: `app.inject`. */
  readonly app: App
  /** Starts to listen where the settings say; gives the address as a URL without a path. */
  listen(): Promise<string>
  /** Bytes of replies that wait for their clients. */
  waitingBytes(): number
  /** Takes no new connections, lets requests in flight finish (for 10 seconds), then closes. */
  close(): Promise<void>
}

/**
 * Builds the HTTP door. The order in which a request passes: what belongs to no route (headers, path, CORS), then rate
 * and permission, and only then its body, its schema and the handler.
 */
export async function openServer(options: ServerOptions): Promise<Server> {
  const { settings, clock } = options
  const newId = requestIds()
  const app = newApp(options, newId)
  const finished = finishedRequests(app, options)
  const { closing } = closeGracefully(app)
  const takers: Taker[] = []
  const isMany = standsForMany(settings.trustProxy)
  const waiting = waitingReplies(() => settings.waitingBytes, isMany)
  const compression = replyCompression()
  watchConnections(app, options, isMany)
  const lent = new Map<string, Identity>()
  const tools: RouteTools = {
    identify: identifier(options.access, lent),
    sendAs: (identity, sent) => sendAs(app, lent, identity, sent),
    sendBounded: (identity, sent, most) => sendBounded(app, lent, identity, sent, most),
    limitRate: rateLimiter(settings, clock),
    requireConfirmed: options.access.factors.requireConfirmed,
    exchange: {
      get bodyLimit() {
        return settings.bodyLimit
      },
      log: app.log,
      newId,
      finished,
      closing,
      waiting,
      compression,
      together: turnReplies(processTimers, () => performance.now()),
      telemetry: options.telemetry,
    },
    answerFirst: (take) => void takers.push(take),
  }
  app.setValidatorCompiler(checkSchema)
  app.setErrorHandler((error, request, reply) => replyWithError(error, request, reply))
  app.setNotFoundHandler((request, reply) => replyWithError(nothingHere(request.method), request, reply))
  readBodies(app, () => settings.bodyLimit)
  await addRequestHooks(app, options, tools)
  app.addHook('onSend', tagReply)
  app.addHook('onSend', compressReplies(compression))
  app.addHook('onSend', holdReplies(waiting))
  app.addHook('onResponse', finishedHook(finished))
  await describeApi(app, options.version)

  const plugin = (family: RouteFamily) =>
    Object.assign(async (scope: App) => family(scope, tools), { [displayName]: 'routes' })
  for (const family of options.root ?? []) app.register(plugin(family))
  for (const family of options.api) app.register(plugin(family), { prefix: '/api/v1' })
  await app.ready()
  // Origins and proxies are the framework's affair: it looks at every request then, and hands over what is not its own.
  const isPlain = settings.corsOrigins.length === 0 && settings.trustProxy === false
  if (isPlain) answerFirst(app.server, takers, () => !closing() && (options.cluster?.alive() ?? true))

  return {
    app,
    listen: () => listenQuietly(app, settings),
    waitingBytes: () => waiting.bytes,
    close: () => app.close(),
  }
}

/** The framework, without hooks and routes. */
function newApp({ settings, log, limits = connectionLimits }: ServerOptions, newId: () => string): App {
  const app: App = fastify({
    ...logOptions(settings, log),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }) => requestIdOf(headers, newId),
    requestIdHeader: false,
    trustProxy: typeof settings.trustProxy === 'boolean' ? settings.trustProxy : [...settings.trustProxy],
    bodyLimit: NO_LIMIT,
    requestTimeout: limits.request,
    http: {
      headersTimeout: limits.headers,
      connectionsCheckingInterval: limits.check,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    keepAliveTimeout: 72_000,
    return503OnClosing: false,
    clientErrorHandler: answerBrokenConnection,
    frameworkErrors(error, request, reply) {
      showToOrigin(request, reply, settings.corsOrigins)
      void replyWithError(error, request, reply)
    },
    schemaController: { compilersFactory: { buildValidator: unused, buildSerializer: lazySerializer } },
    routerOptions: { maxParamLength: 256, ignoreTrailingSlash: true },
  }).withTypeProvider<TypeBoxTypeProvider>()
  app.decorateRequest('identity', undefined)
  app.decorateRequest('handedOver', false)
  app.decorateRequest('accessToken', undefined)
  app.decorateRequest('span', undefined)
  return app
}

/** What is told of each finished request: the log of requests, metrics, and at `debug` the log of the process. */
function finishedRequests(app: App, { access, settings, finished }: ServerOptions): RequestListener {
  const followLevel = () => {
    app.log.level = settings.logLevel
  }
  const unfollow = settings.watch?.(followLevel)
  app.addHook('onClose', async () => unfollow?.())
  const noteRequest = logRequests(access)
  const logRequest = logFinished(app.log)
  return (request) => {
    noteRequest(request)
    finished?.(request)
    if (isDetailed(settings)) logRequest(request)
  }
}

/** Ends connections that one address has too many of, and those whose client does not read its replies. */
function watchConnections(
  app: App,
  { settings, clock, unread: limits }: ServerOptions,
  isMany: (address: string) => boolean,
): void {
  const unread = unreadReplies(limits)
  const warn = (details: object) =>
    app.log.warn(details, 'connections were closed: one address has more than QUOIN_CONNECTIONS')
  app.server.on('connection', addressConnections({ most: () => settings.connections, isMany, clock, warn }))
  app.server.on('connection', unread.watch)
  app.addHook('onClose', async () => unread.close())
}

/** The order in which a request is looked at, before its body. */
async function addRequestHooks(
  app: App,
  { settings, cluster, telemetry }: ServerOptions,
  tools: RouteTools,
): Promise<void> {
  if (telemetry) app.addHook('onRequest', beginSpan(telemetry))
  // Before anything asks for the address.
  if (settings.trustProxy !== false) app.addHook('onRequest', plainForwardedAddresses)
  app.addHook('onRequest', secureReply)
  app.addHook('onRequest', sendRequestId)
  app.addHook('onRequest', refuseWrongUrl)
  app.addHook('onRequest', refuseTwoHosts)
  await allowOrigins(app, settings.corsOrigins)
  app.addHook('onRoute', requirePermission)
  app.addHook('onRoute', requireReservedRoot)
  if (cluster) app.addHook('onRequest', fence(cluster))
  app.addHook('onRequest', authenticate(tools))
}

function isDetailed({ logLevel }: HttpSettings): boolean {
  return logLevel === 'debug' || logLevel === 'trace'
}

/** Fastify's own would load Ajv, and `checkSchema` stands in its place. */
function unused(): never {
  throw new Error('Routes are checked by checkSchema.')
}

/** The greeting says where the server listens; Fastify's own line would precede it. */
async function listenQuietly(app: App, { host, port }: HttpSettings): Promise<string> {
  const { level } = app.log
  app.log.level = 'warn'
  try {
    return await app.listen({ host, port })
  } finally {
    app.log.level = level
  }
}
