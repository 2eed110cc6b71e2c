/** Looks at, and for controls changes, the routes of a server that opens: through the channel on which Fastify tells of itself. */
import { channel } from 'node:diagnostics_channel'
import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify'
import '../../../src/http/server/permission.ts'

/** `alter`: told of each route before it is registered. */
export async function alteringRoutes<T>(
  alter: (route: RouteOptions) => void,
  open: () => Promise<T>,
): Promise<T> {
  const made = channel('fastify.initialization')
  const listen = (message: unknown) => {
    if (isMessage(message)) message.fastify.addHook('onRoute', alter)
  }
  made.subscribe(listen)
  try {
    return await open()
  } finally {
    made.unsubscribe(listen)
  }
}

function isMessage(message: unknown): message is { readonly fastify: FastifyInstance } {
  return typeof message === 'object' && message !== null && 'fastify' in message
}

/** Routes that are wrong about who may call them, each in one way; the matrix has to find every one. */
export const brokenRoutes: Readonly<Record<string, FastifyContextConfig>> = {
  'DELETE /users/{guid}': { permission: 'public' },
  'GET /_system/nodes': { permission: 'signed-in' },
  // One of three scopes is enough for what three are asked for.
  'GET /runs': { permission: 'runs_view', alsoNeeds: [] },
  // The scope of another resource.
  'PUT /_system/storages/{guid}': { permission: 'assets_update' },
}

export function breakRoute(route: RouteOptions): void {
  const path = route.url.replace(/^\/api\/v1/, '').replace(/:(\w+)/g, '{$1}')
  const broken = brokenRoutes[`${route.method} ${path}`]
  if (broken) route.config = { ...route.config, ...broken }
}

/** Those of the broken routes that the failures do not name as called by a role that may not. */
export function notFound(failures: readonly string[]): string[] {
  return Object.keys(brokenRoutes).filter(
    (name) => !failures.some((failure) => failure.startsWith(`${name} as `)),
  )
}
