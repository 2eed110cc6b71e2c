import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { isPromise, type MaybePromise } from '../../shared/maybe-promise.ts'
import { errorAnswer } from './error-answer.ts'
import { hasTwoHosts } from './hooks.ts'

/** What answers the requests of a space; counts them until their replies are sent. */
export type EnterSpace = (
  host: string,
  request: IncomingMessage,
  response: ServerResponse,
) => MaybePromise<Server> | undefined

export interface SpaceRouter {
  /** Whether there are spaces: without any, the server is as it was. */
  follow(isUsed: boolean): void
}

/**
 * Shows requests for the host of a space to the server of that space, before anything else looks at them: that one has its own routes, users,
 * limits and caches. The connection is of the server that listens. `enter` gives undefined for a host of no space.
 */
export function spaceRouter(server: Server, enter: EnterSpace): SpaceRouter {
  const own = server.listeners('request')
  let isRouting = false

  function pass(request: IncomingMessage, response: ServerResponse): void {
    for (const listener of own) listener.call(server, request, response)
  }

  function route(request: IncomingMessage, response: ServerResponse): void {
    const { host } = request.headers
    // Of two hosts none is taken: the server refuses the request.
    const space =
      host === undefined || hasTwoHosts(request.rawHeaders)
        ? undefined
        : enter(nameOf(host), request, response)
    if (space === undefined) pass(request, response)
    else if (isPromise(space)) space.then(hand(request, response), refuse(response))
    else space.emit('request', request, response)
  }

  return {
    follow(isUsed) {
      if (isUsed === isRouting) return
      isRouting = isUsed
      server.removeAllListeners('request')
      server.on('request', isUsed ? route : pass)
    },
  }
}

/** Without port and last dot, in lower case; empty where what stands behind the name is no port. */
function nameOf(host: string): string {
  const colon = host.indexOf(':')
  if (colon >= 0 && !/^:\d*$/.test(host.slice(colon))) return ''
  const name = (colon < 0 ? host : host.slice(0, colon)).toLowerCase()
  return name.endsWith('.') ? name.slice(0, -1) : name
}

function hand(request: IncomingMessage, response: ServerResponse) {
  return (space: Server) => {
    if (!response.destroyed) space.emit('request', request, response)
  }
}

function refuse(response: ServerResponse) {
  return (thrown: unknown) => {
    if (response.destroyed) return
    const { error, headers, text } = errorAnswer(thrown, { style: 'management', request: '' })
    const all = {
      ...headers,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      connection: 'close',
    }
    response.writeHead(error.status, all).end(text)
  }
}
