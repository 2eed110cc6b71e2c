import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { holds } from '../../../access/scopes.ts'
import {
  databaseSchema,
  type Info,
  infoSchema,
  type NodeRecord,
  nodeSchema,
} from '../../../shared/api/operate/nodes.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { MaybePromise } from '../../../shared/maybe-promise.ts'
import type { Capabilities } from '../../../storage/capabilities.ts'
import type { Database } from '../../../storage/database.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import { findToken } from '../../server/authenticate.ts'
import type { RouteFamily, RouteTools } from '../../server/route-family.ts'

/** Who is in the cluster. */
export function nodeRoutes(nodes: () => MaybePromise<readonly NodeRecord[]>): RouteFamily {
  return (app) => {
    app.get(
      '/_system/nodes',
      {
        config: { permission: 'nodes_view' },
        schema: {
          operationId: 'listNodes',
          summary: 'List nodes',
          description: 'Live nodes, and those that were live during the last hour, by name.',
          tags: ['Cluster'],
          response: { 200: Type.Array(nodeSchema) },
        },
      },
      async () => [...(await nodes())],
    )
  }
}

/** What the database says of itself. */
export function databaseRoutes({ engine, figures }: Pick<Capabilities, 'engine' | 'figures'>): RouteFamily {
  return (app) => {
    app.get(
      '/_system/database',
      {
        config: { permission: 'nodes_view', entityTag: false },
        schema: {
          operationId: 'readDatabaseFigures',
          summary: 'Size, log, commits, connections and cache of the database',
          tags: ['Cluster'],
          response: { 200: databaseSchema },
        },
      },
      async () => {
        const { sizeBytes, logBytes, commits, connections, cache } = await figures()
        return {
          ...{ engine, size_bytes: sizeBytes, log_bytes: logBytes, commits, connections },
          ...{ cache_hits: cache.hits, cache_misses: cache.misses },
        }
      },
    )
  }
}

/** Public information about the cluster. Nothing that helps an attacker: no paths, no counts of users. */
export function infoRoutes(info: () => MaybePromise<Omit<Info, 'api'>>): RouteFamily {
  return (app) => {
    app.get(
      '/info',
      {
        config: { permission: 'public' },
        schema: {
          operationId: 'getInfo',
          summary: 'Version, flags and host',
          tags: ['Cluster'],
          response: { 200: infoSchema },
        },
      },
      async () => ({ ...(await info()), api: 'v1' as const }),
    )
  }
}

const healthSchema = Type.Object({ status: Type.String(), warning: Type.Optional(Type.String()) })

/** A probe with a wrong token, or with too many, is a stranger's: it is not refused. */
async function mayReadUsers(request: FastifyRequest, tools: RouteTools): Promise<boolean> {
  try {
    if (findToken(request) === undefined) return false
    tools.limitRate(request, 'health')
    const identity = await tools.identify(request)
    return identity !== undefined && holds(identity.scopes, 'users_view')
  } catch (error) {
    if (error instanceof QuoinError) return false
    throw error
  }
}

/** Any document's guid: one read by key, 3 µs, shows that the database answers. */
const NOBODY = '00000000-0000-7000-8000-000000000000'

/**
 * For whatever runs the node. Live: the process turns its event loop, or it should be restarted. Ready: it may be sent
 * requests; not while it starts or stops, not when its storage fails or was found damaged, and not while it has lost the other nodes. `isStarted` may be false for longer than the
 * server takes to open.
 */
export function healthRoutes(
  database: Database,
  isStarted: () => boolean = () => true,
  isDamaged: () => boolean = () => false,
  warningNow: (mayReadUsers: () => Promise<boolean>) => Promise<string | undefined> = async () => undefined,
): RouteFamily {
  return (app, tools) => {
    let isStopping = false
    app.addHook('preClose', (done) => {
      isStopping = true
      done()
    })
    // Open without the rate limit that `public` has: a probe that is told 429 would have the node restarted.
    const config = { permission: 'by-trigger', entityTag: false } as const
    const schema = { hide: true, response: { 200: healthSchema, 503: healthSchema } }

    app.get('/health/live', { config, schema }, async (_request, reply) => {
      reply.header('cache-control', 'no-store')
      return { status: 'live' }
    })

    app.get('/health/ready', { config, schema }, async (request, reply) => {
      reply.header('cache-control', 'no-store')
      if (isStopping) return reply.code(503).send({ status: 'stopping' })
      if (!isStarted()) return reply.code(503).send({ status: 'starting' })
      if (isDamaged()) return reply.code(503).send({ status: 'damaged' })
      try {
        await database.session().get(systemStorages.blueprints, NOBODY)
      } catch (error) {
        request.log.error({ err: error }, 'the storage does not answer')
        return reply.code(503).send({ status: 'storage' })
      }
      if (database.capabilities.cluster && !database.capabilities.cluster.alive())
        return reply.code(503).send({ status: 'cluster' })
      // It answers, so it stays ready; until it is started again, its watcher sees that writes may be lost.
      const wentBack = database.capabilities.cluster?.wentBack() === true
      const warning = wentBack ? 'went_back' : await warningNow(() => mayReadUsers(request, tools))
      return { status: 'ready', ...(warning !== undefined && { warning }) }
    })
  }
}
