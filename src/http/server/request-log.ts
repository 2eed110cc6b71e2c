import type { FastifyBaseLogger, FastifyServerOptions } from 'fastify'
import type { Access } from '../../access/access.ts'
import type { RequestListener } from './finished-request.ts'
import { hideSecrets } from './hide-secrets.ts'
import type { HttpSettings } from './http-settings.ts'

/** Where log lines go; standard output if not said. */
export interface LogTarget {
  write(line: string): void
}

/**
 * Structured lines (pino), each with the id of its request. Of a request only method, path and address are written: the
 * query may hold a token or search words. Hiding secrets by name is the second net, for objects that a later
 * hand might log whole.
 */
export function logOptions(
  { logLevel: level, watch }: Pick<HttpSettings, 'logLevel' | 'watch'>,
  target: LogTarget | undefined,
): Pick<FastifyServerOptions, 'logger'> {
  if (level === 'silent' && !watch) return { logger: false }
  return {
    logger: {
      level,
      ...(target && { stream: target }),
      formatters: { log: (object) => hideSecrets(object) },
      serializers: {
        req: (request) => ({
          method: request.method,
          path: request.url.split('?', 1)[0],
          address: request.ip,
        }),
        res: (reply) => ({ status: reply.statusCode }),
      },
    },
  }
}

/**
 * One line for each finished request, of custom endpoints too. At `debug`: at full speed the lines would cost as much as
 * the requests.
 */
export function logFinished(log: Pick<FastifyBaseLogger, 'debug'>): RequestListener {
  return ({ id, method, url, ip, status, milliseconds }) => {
    const path = url.split('?', 1)[0]
    log.debug({ reqId: id, method, path, address: ip, status, milliseconds }, 'request finished')
  }
}

/**
 * Notes each finished request of a signed-in user, of custom endpoints too, in the user log. For anonymous requests it
 * costs one look at a field.
 */
export function logRequests(access: Pick<Access, 'logRequest'>): RequestListener {
  return ({ identity, ip, agent, method, url, status, milliseconds, fromStudio }) => {
    if (identity === undefined) return
    const path = url.split('?', 1)[0] ?? ''
    access.logRequest({ user: identity, ip, agent, method, path, status, milliseconds, fromStudio })
  }
}
