import type { IncomingMessage } from 'node:http'
import type {
  FastifyInstance,
  FastifyRequest,
  preParsingHookHandler,
  preValidationHookHandler,
} from 'fastify'
import { QuoinError } from '../../shared/errors.ts'
import { parseFormBody } from './form-body.ts'
import { parseDocumentBody, parseJsonBody, refuseEncoded, sendsBody, wholeBody } from './json-body.ts'
import { readOtherSearchBody } from './other-search-body.ts'

/** For the framework, which would keep the limit that it was started with. What no parser of ours reads, nothing reads. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** As endpoints read it: `application/merge-patch+json`, `application/vnd.api+json`. */
const MORE_JSON = /^[a-z0-9!#$&^_.-]+\/[a-z0-9!#$&^_.-]+\+json\s*(?:;|$)/i

/** Bytes of a body that is no document, file or block: forms of management are hundreds of bytes. */
const SMALL_BODY = 64 * 1024

/**
 * Bodies are JSON or forms, at most as long as the route allows, which is at most `most` bytes; every other content type is 415. Of
 * a route without a body none is read. A family may add its own types, as uploads do.
 */
export function readBodies(app: FastifyInstance, most: () => number): void {
  app.removeAllContentTypeParsers()
  const parser =
    (parse: (bytes: Buffer) => unknown) => async (request: FastifyRequest, body: IncomingMessage) => {
      const bytes = mostBytes(request, most)
      return bytes === undefined ? undefined : parse(await wholeBody(body, bytes))
    }
  const json = parser(parseJsonBody)
  const document = parser(parseDocumentBody)
  for (const type of ['application/json', MORE_JSON])
    app.addContentTypeParser(type, (request: FastifyRequest, body: IncomingMessage) =>
      request.routeOptions.config.documentBody ? document(request, body) : json(request, body),
    )
  app.addContentTypeParser('application/x-www-form-urlencoded', parser(parseFormBody))
  // After the check of permission, before any parser: also those that read files.
  app.addHook('preParsing', refuseEncodedBody)
  app.addHook('preValidation', requireBody)
  app.addHook('preValidation', readOtherSearchBody)
}

/** Undefined: it has no body to read. */
function mostBytes(request: FastifyRequest, most: () => number): number | undefined {
  const { bodyLimit = NO_LIMIT, config, schema } = request.routeOptions
  const { bodyBytes } = config
  if (typeof bodyBytes === 'function') return bodyBytes(request) ?? most()
  if (bodyBytes === 'setting') return most()
  if (bodyBytes !== undefined) return bodyBytes
  if (bodyLimit !== NO_LIMIT) return bodyLimit
  return schema?.body === undefined ? undefined : Math.min(most(), SMALL_BODY)
}

const refuseEncodedBody: preParsingHookHandler = (request, _reply, payload, done) => {
  try {
    if (sendsBody(request.raw)) refuseEncoded(request.headers)
    done(null, payload)
  } catch (error) {
    done(
      error instanceof Error ? error : new Error('The headers of the body cannot be read.', { cause: error }),
    )
  }
}

/** An empty body is its own mistake: "fields are missing" would send people looking at their fields. */
const requireBody: preValidationHookHandler = (request, _reply, done) => {
  const { schema, config } = request.routeOptions
  if (request.body !== undefined || schema?.body === undefined) return done()
  if (!config.bodyOptional)
    return done(new QuoinError('NO_BODY_GIVEN', 'Send a JSON body with content-type application/json.'))
  request.body = {}
  done()
}
