import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../shared/errors.ts'
import { errorTable, QuoinError } from '../shared/errors.ts'

/**
 * What Fastify and its plugins throw, in our words. Their own messages are not sent: some quote the request, query
 * and token included.
 */
const foreign: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'UNSUPPORTED_MEDIA_TYPE',
    'This path does not read that content type. Send application/json.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['INVALID_BODY', 'The body is not as long as content-length says.'],
  FST_ERR_BAD_URL: ['INVALID_QUERY', 'The path holds a % that is not followed by a valid UTF-8 sequence.'],
  FST_ERR_MAX_PARAM_LENGTH: ['NOT_FOUND', 'A part of the path is longer than any name here.'],
}

/** By status, for what is not in the list above. */
const byStatus: Readonly<Record<number, ErrorCode>> = {
  404: 'NOT_FOUND',
  413: 'FILE_TOO_BIG',
  414: 'NOT_FOUND',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'RATE_LIMITED',
  503: 'UNAVAILABLE',
}

/** The error as one of ours. Whatever nobody expected becomes INTERNAL, with the error as its cause. */
function asQuoinError(error: unknown, request: FastifyRequest): QuoinError {
  if (error instanceof QuoinError) return error
  const { code, statusCode } = outline(error)
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const limit = request.routeOptions.bodyLimit ?? 0
    return new QuoinError('FILE_TOO_BIG', `The body is larger than ${limit} bytes.`, { cause: error })
  }
  const known = code === undefined ? undefined : foreign[code]
  if (known) return new QuoinError(known[0], known[1], { cause: error })
  const mapped = statusCode === undefined ? undefined : byStatus[statusCode]
  if (mapped) return new QuoinError(mapped, errorTable[mapped].summary, { cause: error })
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new QuoinError('INVALID_QUERY', 'The request cannot be understood.', { cause: error })
  return new QuoinError('INTERNAL', 'Something failed here. The request id finds it in the log.', {
    cause: error,
  })
}

/**
 * The one place where an error becomes a reply. Which of the two styles is the route's `config.style`. Faults of ours
 * are logged with their cause; the cause is never sent.
 */
export function replyWithError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = asQuoinError(thrown, request)
  if (error.status >= 500)
    request.log.error({ code: error.code, err: error.cause ?? error }, 'request failed')
  else request.log.debug({ code: error.code, fields: error.fields }, 'request refused')
  // Said again here: what the router refuses passes no other hook.
  reply.code(error.status).header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
  const retryAfter = error.retryAfter ?? (error.status === 503 ? 1 : undefined)
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  if (error.status === 401) reply.header('www-authenticate', 'Bearer')
  // Headers of the reply that was being made, such as its type or tag, do not describe this one.
  reply.removeHeader('etag')
  reply.removeHeader('content-length')
  reply.type('application/json; charset=utf-8')
  const style = request.routeOptions.config.style ?? 'management'
  const body = style === 'custom' ? customBody(error, request) : managementBody(error, request)
  return reply.serializer(JSON.stringify).send(body)
}

function managementBody(error: QuoinError, request: FastifyRequest): object {
  return {
    error: error.code,
    code: error.status,
    message: error.message,
    ...(error.fields && { fields: error.fields }),
    ...(error.problems && { problems: error.problems }),
    ...(error.code === 'INTERNAL' && { request: request.id }),
  }
}

function customBody(error: QuoinError, request: FastifyRequest): object {
  if (error.code === 'INTERNAL') return { error: 'internal error', request: request.id }
  return { error: error.message }
}

function outline(error: unknown): { code: string | undefined; statusCode: number | undefined } {
  if (typeof error !== 'object' || error === null) return { code: undefined, statusCode: undefined }
  return {
    code: 'code' in error && typeof error.code === 'string' ? error.code : undefined,
    statusCode: 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined,
  }
}
