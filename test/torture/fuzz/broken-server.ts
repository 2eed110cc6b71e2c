/**
 * Loaded into a server before its program (`NODE_OPTIONS=--import`), for controls: some of its routes are wrong, each in one
 * way, some of them only for odd values.
 */
import { channel } from 'node:diagnostics_channel'
import { isMainThread } from 'node:worker_threads'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { type BrokenRoute, brokenRoutes } from './broken-routes.ts'

if (isMainThread)
  channel('fastify.initialization').subscribe((message) => {
    if (!isMessage(message)) return
    message.fastify.addHook('onRoute', (route) => {
      for (const broken of Object.values(brokenRoutes)) breakRoute(route, broken)
    })
  })

interface Message {
  readonly fastify: { addHook(name: 'onRoute', hook: (route: RouteOptions) => void): unknown }
}

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'fastify' in message
}

function breakRoute(route: RouteOptions, { method, url, answer }: BrokenRoute): void {
  if (route.method !== method || route.url !== `/api/v1${url}`) return
  const { handler } = route
  route.handler = function broken(request: FastifyRequest, reply: FastifyReply) {
    return answer(request, reply) ?? handler.call(this, request, reply)
  }
}
