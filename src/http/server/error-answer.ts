import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, errorTable, QuoinError } from '../../shared/errors.ts'
import { dropRest } from '../bodies/json-body.ts'
import type { ErrorStyle } from './permission.ts'

/** An error as it is sent. */
export interface ErrorAnswer {
  readonly error: QuoinError
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/**
 * What Fastify, its plugins and the system throw, in our words. Their own messages are not sent: some quote the request, query
 * and token included.
 */
const foreign: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'UNSUPPORTED_MEDIA_TYPE',
    'This path does not accept that content type. Send application/json.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['INVALID_BODY', 'The length of the body differs from content-length.'],
  FST_ERR_BAD_URL: ['INVALID_QUERY', 'The path contains a % that is not followed by a valid UTF-8 sequence.'],
  EMFILE: ['UNAVAILABLE', 'The node has too many files and connections open. Try again.'],
  ENFILE: ['UNAVAILABLE', 'The machine has too many files open. Try again.'],
  FST_ERR_MAX_PARAM_LENGTH: ['NOT_FOUND', 'A part of the path is too long.'],
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

/** The error as one of ours. An unexpected error becomes INTERNAL, with the error as its cause. */
function asQuoinError(error: unknown): QuoinError {
  if (error instanceof QuoinError) return error
  const { code, statusCode } = outline(error)
  const known = code === undefined ? undefined : foreign[code]
  if (known) return new QuoinError(known[0], known[1], { cause: error })
  const mapped = statusCode === undefined ? undefined : byStatus[statusCode]
  if (mapped) return new QuoinError(mapped, errorTable[mapped].summary, { cause: error })
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new QuoinError('INVALID_QUERY', 'The request is invalid.', { cause: error })
  return new QuoinError('INTERNAL', 'Internal error. Find it in the log by the request id.', {
    cause: error,
  })
}

/** Whatever was thrown, as it is sent. The cause is never in it. */
export function errorAnswer(
  thrown: unknown,
  { style, request }: { style: ErrorStyle; request: string },
): ErrorAnswer {
  const error = asQuoinError(thrown)
  const retryAfter = error.retryAfter ?? (error.status === 503 ? 1 : undefined)
  return {
    error,
    headers: {
      'content-type': `application/${style === 'scim' ? 'scim+json' : 'json'}; charset=utf-8`,
      'cache-control': 'no-store',
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      ...(error.status === 401 && { 'www-authenticate': 'Bearer' }),
    },
    text: JSON.stringify(bodies[style](error, request)),
  }
}

function managementBody(error: QuoinError, request: string): object {
  const details = error.flow?.details ?? error.details
  return {
    error: error.code,
    code: error.status,
    message: error.message,
    ...(error.fields && { fields: error.fields }),
    ...(error.problems && { problems: error.problems }),
    ...(details && { details }),
    ...(error.code === 'INTERNAL' && { request }),
  }
}

function customBody(error: QuoinError, request: string): object {
  if (error.code === 'INTERNAL') return { error: 'internal error', request }
  const { code, details } = error.flow ?? {}
  const reasons = reasonsOf(error)
  return {
    error: error.message,
    ...(reasons && { fields: reasons }),
    ...(code !== undefined && { code }),
    ...(details && { details }),
  }
}

const scimTypes: Partial<Record<ErrorCode, string>> = {
  CONFLICT: 'uniqueness',
  INVALID_BODY: 'invalidValue',
  INVALID_QUERY: 'invalidFilter',
  NO_BODY_GIVEN: 'invalidSyntax',
}

function scimBody({ status, code, message: detail, details }: QuoinError): object {
  const scimType = details?.scimType ?? scimTypes[code]
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:Error']
  return { schemas, ...(scimType !== undefined && { scimType }), detail, status: String(status) }
}

const bodies: Readonly<Record<ErrorStyle, (error: QuoinError, request: string) => object>> = {
  management: managementBody,
  custom: customBody,
  scim: scimBody,
}

/** What is wrong with each field that is at fault, in words that finish "<field> …" where the message does. */
function reasonsOf({ fields = [], reasons, message }: QuoinError): ErrorReasons | undefined {
  if (reasons || fields.length === 0) return reasons
  return Object.fromEntries(
    fields.map((field) => {
      const begin = `${field} `
      return [field, message.startsWith(begin) ? message.slice(begin.length).replace(/\.$/, '') : message]
    }),
  )
}

type ErrorReasons = NonNullable<QuoinError['reasons']>

function outline(error: unknown): { code: string | undefined; statusCode: number | undefined } {
  if (typeof error !== 'object' || error === null) return { code: undefined, statusCode: undefined }
  return {
    code: 'code' in error && typeof error.code === 'string' ? error.code : undefined,
    statusCode: 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined,
  }
}

/**
 * The one place where an error becomes a reply of the framework. Which of the two styles is the route's `config.style`.
 * Faults of ours are logged with their cause; the cause is never sent.
 */
export function replyWithError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { config } = request.routeOptions
  const style = config.style ?? 'management'
  const { error, headers, text } = errorAnswer(thrown, { style, request: request.id })
  if (error.status >= 500)
    request.log.error({ code: error.code, err: error.cause ?? error }, 'request failed')
  else request.log.debug({ code: error.code, fields: error.fields }, 'request refused')
  // Headers of the reply that was being made, such as its type or tag, do not describe this one.
  reply.removeHeader('etag')
  reply.removeHeader('content-length')
  // Said again here: what the router refuses passes no other hook. The same as of `endpoint-exchange.ts`, so that a path
  // without an endpoint looks like one with a hidden endpoint.
  reply.code(error.status).header('x-content-type-options', 'nosniff').header('x-request-id', request.id)
  reply.header('content-security-policy', 'sandbox').headers(headers)
  dropRest(request.raw)
  return reply.serializer(String).send(text)
}
