import type { FastifyInstance, preValidationHookHandler } from 'fastify'
import { QuoinError } from '../../shared/errors.ts'
import { parseFormBody } from './form-body.ts'
import { parseJsonBody } from './json-body.ts'
import { readOtherSearchBody } from './other-search-body.ts'

/** Bodies are JSON or forms; every other content type is 415. A family may add its own, as uploads do. */
export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (_request, bytes, done) =>
    settle(() => parseJsonBody(bytes), done),
  )
  app.addContentTypeParser<Buffer>(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    (_request, bytes, done) => settle(() => parseFormBody(bytes), done),
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

function settle(parse: () => unknown, done: (error: Error | null, value?: unknown) => void): void {
  let value: unknown
  try {
    value = parse()
  } catch (error) {
    done(error instanceof Error ? error : new Error('The body could not be parsed.', { cause: error }))
    return
  }
  done(null, value)
}
