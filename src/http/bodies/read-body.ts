import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest, preValidationHookHandler } from 'fastify'
import { QuoinError } from '../../shared/errors.ts'
import { parseFormBody } from './form-body.ts'
import { parseJsonBody } from './json-body.ts'
import { readOtherSearchBody } from './other-search-body.ts'
import { wholeBody } from './whole-body.ts'

/** For the framework, which would keep the limit that it was started with. What no parser of ours reads, nothing reads. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER

/**
 * Bodies are JSON or forms of at most `most` bytes, where the route has no limit of its own; every other content type is
 * 415. A family may add its own, as uploads do.
 */
export function readBodies(app: FastifyInstance, most: () => number): void {
  app.removeAllContentTypeParsers()
  const read = (request: FastifyRequest, body: IncomingMessage) => {
    const { bodyLimit = NO_LIMIT } = request.routeOptions
    return wholeBody(body, bodyLimit === NO_LIMIT ? most() : bodyLimit)
  }
  app.addContentTypeParser('application/json', async (request: FastifyRequest, body: IncomingMessage) =>
    parseJsonBody(await read(request, body)),
  )
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    async (request: FastifyRequest, body: IncomingMessage) => parseFormBody(await read(request, body)),
  )
  app.addHook('preValidation', requireBody)
  app.addHook('preValidation', readOtherSearchBody)
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
