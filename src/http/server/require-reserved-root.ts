import type { RouteOptions } from 'fastify'
import { reservedRoots } from './reserved-roots.ts'

/**
 * Stops the start when a route of ours lies where blueprints may register: whichever of the two came first would hide the
 * other.
 */
export function requireReservedRoot(route: RouteOptions): void {
  const [, root] = /^\/api\/v1\/([^/]*)/.exec(route.url) ?? []
  if (root === undefined || route.config?.permission === 'by-trigger' || reservedRoots.has(root)) return
  throw new TypeError(`${route.url} is ours, and ${JSON.stringify(root)} is not in reserved-roots.ts.`)
}
