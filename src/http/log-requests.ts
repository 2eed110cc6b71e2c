import type { onResponseHookHandler } from 'fastify'
import type { Access } from '../access/access.ts'

/**
 * Notes each finished request of a signed-in user, of custom endpoints too, in the user log. For requests of nobody it
 * costs one look at a field.
 */
export function logRequests(access: Pick<Access, 'logRequest'>): onResponseHookHandler {
  return (request, reply, done) => {
    const { identity } = request
    if (identity !== undefined)
      access.logRequest({
        user: identity,
        ip: request.ip,
        agent: request.headers['user-agent'],
        method: request.method,
        path: request.url.split('?', 1)[0] ?? '',
        status: reply.statusCode,
        milliseconds: reply.elapsedTime,
      })
    done()
  }
}
