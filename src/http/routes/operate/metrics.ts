import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { holds } from '../../../access/scopes.ts'
import { readFigures } from '../../../records/figures/read-figures.ts'
import { figuresQuery, figuresSchema } from '../../../shared/api/operate/figures.ts'
import type { Clock } from '../../../shared/clock.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { Database } from '../../../storage/database.ts'
import { prometheusType } from '../../metrics/prometheus-text.ts'
import type { RouteFamily, RouteTools } from '../../server/route-family.ts'

export interface MetricsServices {
  readonly text: () => Promise<string>
  /** A secret of its own for the collector, which has no user. Empty: none. */
  readonly token: string
  readonly environment: 'development' | 'production'
}

/**
 * `/metrics`, for those who watch the node: with the collector's token, or as a user who holds `systemlogs_view`. In
 * development this machine needs neither. In production it does: behind a proxy on the same machine, every client seems to
 * come from there.
 */
export function metricsRoutes(services: MetricsServices): RouteFamily {
  return (app, tools) => {
    app.get(
      '/metrics',
      // The route finds out itself who may enter, since the collector is no user.
      { config: { permission: 'by-trigger', entityTag: false }, schema: { hide: true } },
      async (request, reply) => {
        if (!(await mayEnter(request, services, tools)))
          throw new QuoinError(
            'INVALID_ACCESS_TOKEN',
            'This needs QUOIN_METRICS_TOKEN, or the token of a user who holds systemlogs_view, as "Authorization: Bearer".',
          )
        reply.type(prometheusType).header('cache-control', 'no-store')
        return services.text()
      },
    )
  }
}

async function mayEnter(
  request: FastifyRequest,
  services: MetricsServices,
  tools: RouteTools,
): Promise<boolean> {
  const sent = /^bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (sent !== undefined && services.token !== '' && isSame(sent, services.token)) return true
  // A client that guesses tokens is slowed down, as at any public route.
  tools.limitRate(request, 'metrics')
  const identity = await tools.identify(request)
  if (identity) {
    if (holds(identity.scopes, 'systemlogs_view')) return true
    throw new QuoinError(
      'INSUFFICIENT_PERMISSIONS',
      'This needs the scope systemlogs_view. Ask an administrator to grant it.',
    )
  }
  return services.environment === 'development' && isFromHere(request)
}

/** In a time that says nothing about where they differ. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}

function isFromHere({ ip, headers }: FastifyRequest): boolean {
  const forwarded = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some((name) => name in headers)
  return !forwarded && /^(127\.|::1$|::ffff:127\.)/.test(ip)
}

/** What the cluster served over time. */
export function figureRoutes({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: Clock
}): RouteFamily {
  return (app) => {
    app.get(
      '/_system/figures',
      {
        config: { permission: 'nodes_view', entityTag: false },
        schema: {
          operationId: 'readFigures',
          summary: 'Requests, failures, latency and queues over time',
          description:
            'Kept for a week in steps of ten minutes, and for a day in minutes. A minute is stored when it is over.',
          tags: ['Cluster'],
          querystring: figuresQuery,
          response: { 200: figuresSchema },
        },
      },
      async ({ query: { range = 'day', until = Math.floor(clock() / 1000), node } }) =>
        readFigures(database, { range, until, node }),
    )
  }
}
