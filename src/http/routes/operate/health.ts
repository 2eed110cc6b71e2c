import { Type } from 'typebox'
import type { Database } from '../../../storage/database.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import type { RouteFamily } from '../../server/route-family.ts'

const healthSchema = Type.Object({ status: Type.String(), warning: Type.Optional(Type.String()) })

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
): RouteFamily {
  return (app) => {
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
      return { status: 'ready', ...(wentBack && { warning: 'went_back' }) }
    })
  }
}
