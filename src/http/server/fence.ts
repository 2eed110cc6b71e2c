import type { onRequestHookHandler } from 'fastify'
import { QuoinError } from '../../shared/errors.ts'
import type { Cluster } from '../../storage/cluster.ts'

/**
 * Answers 503 while the node has lost the others: what it has in memory may be old by then. Probes and metrics, which are
 * about this node, are answered all the same.
 */
export function fence(cluster: Pick<Cluster, 'alive'>): onRequestHookHandler {
  return (request, _reply, done) => {
    if (cluster.alive() || request.url.startsWith('/health/') || request.url === '/metrics') return done()
    done(
      new QuoinError(
        'UNAVAILABLE',
        'This node has lost its connection to the cluster. Ask another node, or retry in a few seconds.',
      ),
    )
  }
}
