import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { hasTwoHosts, urlProblem } from './path-hygiene.ts'

/** Answers a request, or gives false and has not touched it. */
export type Taker = (request: IncomingMessage, response: ServerResponse) => boolean

/** Shows each request to the takers, one after the other, before the framework that the server was made by. */
export function answerFirst(server: Server, takers: readonly Taker[], isOpen: () => boolean): void {
  const others = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    // A wrong URL and two hosts are for the framework to refuse, see `path-hygiene.ts`.
    if (isOpen() && urlProblem(request.url ?? '') === undefined && !hasTwoHosts(request.rawHeaders))
      for (const take of takers) if (take(request, response)) return
    for (const listener of others) listener.call(server, request, response)
  })
}
