import type { RouteOptions } from 'fastify'

/**
 * First segments of paths under /api/v1 that are Quoin's own, those of later versions included. A blueprint cannot
 * register a URI that starts with one. `server` checks at start that every route of ours is under one of them.
 */
export const reservedRoots: ReadonlySet<string> = new Set([
  '_system',
  '_hooks',
  'auth',
  'blocks',
  'blueprintactions',
  'blueprintfields',
  'blueprints',
  'blueprinttemplates',
  'client.ts',
  'info',
  'openapi.json',
  'queue',
  'queues',
  'runs',
  'schemas',
  'studio',
  'users',
])

/**
 * First segments of paths that are Quoin's own outside of the API. A page cannot have them. `login`, `logout` and
 * `password` are not among them: a blueprint may replace those.
 */
export const reservedPageRoots: ReadonlySet<string> = new Set([
  '.well-known',
  '_approvals',
  '_oauth',
  '_pages',
  '_signin',
  'api',
  'docs',
  'health',
  'mcp',
  'metrics',
  'scim',
  'static',
  'studio',
])

/**
 * Stops the start when a route of ours lies where blueprints may register: whichever of the two came first would hide the
 * other.
 */
export function requireReservedRoot(route: RouteOptions): void {
  const [, root] = /^\/api\/v1\/([^/]*)/.exec(route.url) ?? []
  if (root === undefined || route.config?.permission === 'by-trigger' || reservedRoots.has(root)) return
  throw new TypeError(`${route.url} is ours, and ${JSON.stringify(root)} is not in reserved-roots.ts.`)
}
