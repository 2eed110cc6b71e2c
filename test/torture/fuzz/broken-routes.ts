/** Ways in which a route can be wrong; the fuzzer has to find every one of them, in the words of `found`. */
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface BrokenRoute {
  readonly method: string
  readonly url: string
  /** undefined: as it should be. */
  readonly answer: (request: FastifyRequest, reply: FastifyReply) => unknown
  readonly found: RegExp
}

const isOdd = (request: FastifyRequest): boolean => /%[89A-F]/i.test(request.url)

export const brokenRoutes: Readonly<Record<string, BrokenRoute>> = {
  'an unexpected error, for odd characters only': {
    method: 'GET',
    url: '/users/:guid',
    answer: (request) => (isOdd(request) ? Promise.reject(new TypeError('x is not a function')) : undefined),
    found: /500/,
  },
  'a connection that is cut': {
    method: 'GET',
    url: '/_system/nodes',
    answer: (request) => request.raw.socket.destroy(),
    found: /no answer/,
  },
  'a request that is never answered': {
    method: 'GET',
    url: '/blocks',
    answer: () => new Promise(() => undefined),
    found: /no answer/,
  },
  'an error that tells its cause': {
    method: 'GET',
    url: '/_system/assets/:guid',
    answer: (_request, reply) => {
      const message = 'SQLITE_CORRUPT at Object.get (/app/src/storage/sqlite/core/sqlite-connection.ts:47:20)'
      return reply.code(404).send({ error: 'NOT_FOUND', code: 404, message })
    },
    found: /tells/,
  },
  'an error of another shape': {
    method: 'GET',
    url: '/blueprintfields/:guid',
    answer: (_request, reply) => reply.code(404).send({ error: 'NOTHING', statusCode: 404, message: 'none' }),
    found: /shape/,
  },
  'a status that the document does not list': {
    method: 'GET',
    url: '/_system/authentication-groups/:guid',
    answer: (_request, reply) => reply.code(418).send({}),
    found: /does not list/,
  },
  'an event loop that is kept busy': {
    method: 'GET',
    url: '/queues',
    answer: () => {
      const began = process.threadCpuUsage()
      const used = () => process.threadCpuUsage(began)
      while (used().user + used().system < 120_000);
      return undefined
    },
    found: /busy for \d+ ms/,
  },
}

/** Those that no failure names for what is broken in them. */
export function notFound(failures: readonly string[]): string[] {
  return Object.entries(brokenRoutes)
    .filter(([, { found }]) => !failures.some((failure) => found.test(failure)))
    .map(([name]) => name)
}
