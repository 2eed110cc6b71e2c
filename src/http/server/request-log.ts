import type { FastifyBaseLogger, FastifyServerOptions } from 'fastify'
import type { Access } from '../../access/access.ts'
import { isSecretName } from '../../shared/names/secret-names.ts'
import type { RequestListener } from './finished-hook.ts'
import type { HttpSettings } from './http-settings.ts'

const MAX_DEPTH = 4

/**
 * The object with what must not be in a log replaced, by name, some levels deep. Instances of classes stay: each has a
 * serializer that picks what is written of it.
 *
 * By hand and not with pino's own redaction: that one also runs over the request id that every request's logger is made
 * with, which took a seventh of the time of a small request although nothing was logged.
 */
export function hideSecrets(object: Record<string, unknown>, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => {
      if (isSecretName(name)) return [name, '[secret]']
      if (Array.isArray(value)) return [name, value.map((item) => hidden(item, depth))]
      return [name, hidden(value, depth)]
    }),
  )
}

function hidden(value: unknown, depth: number): unknown {
  if (!isPlain(value)) return value
  return depth < MAX_DEPTH ? hideSecrets(value, depth + 1) : '[deeper]'
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // Without a prototype, of Object itself, or of a class that inherits nothing: parameters of a query.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

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
