/**
 * Endpoints in a process that only reads.
 *
 * A request is answered here only if its whole run did nothing but read, and replied. Until the run has ended nothing is
 * sent; whatever else happens (it writes, enqueues, logs, touches the world outside, fails, or ends without a reply), the
 * run is forgotten and the request goes to the writer, which does it as if it had come there. So the writer is the only
 * one that does things, and the rule needs no list of blocks. A flow that only reads is not even run while nothing that it
 * has read was written (`flows/run/kept-replies.ts`): this process compares the versions that the writer raises.
 *
 * An endpoint whose run did more than read, or never replied, is remembered, and its requests go to the writer at once. A
 * deploy makes new endpoints, so that is forgotten then.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { FileBody, type Reply } from '../blocks/reply.ts'
import type { CompiledEndpoint } from '../flows/compile/frame.ts'
import type { Flows } from '../flows/flows.ts'
import type { Runs } from '../flows/run-pipeline.ts'
import type { RefusalWindow } from '../flows/trace/refusal-window.ts'
import type { Respond } from '../http/endpoints/custom-endpoints.ts'
import { sendReply } from '../http/endpoints/endpoint-reply.ts'
import { endpointTable, type FindEndpoint } from '../http/endpoints/endpoint-table.ts'
import { wantsEvents } from '../http/endpoints/wants-events.ts'
import { reservedRoots } from '../http/server/reserved-roots.ts'
import { andThen } from '../shared/maybe-promise.ts'
import { WriteRefused } from '../storage/write-refused.ts'
import { hasBody } from './forwarded-headers.ts'
import type { RunsBeyondReading } from './runs-beyond-reading.ts'

export interface ReadingEndpointsOptions {
  readonly live: Flows['live']
  readonly runs: Pick<Runs, 'run'>
  readonly forward: (request: IncomingMessage, response: ServerResponse) => void
  readonly beyond: Pick<RunsBeyondReading, 'take'>
  /** Whether the writer is to run the blueprint because it traces it. */
  readonly isTraced: (blueprint: string) => boolean
  /** Whether the writer is to do a refused request again, because it keeps it. */
  readonly isKept: RefusalWindow
}

export interface ReadingEndpoints {
  /** Whether a request may be answered here, by its head alone. */
  mayRead(request: IncomingMessage): boolean
  /** For `customEndpoints`. */
  readonly respond: Respond
  close(): void
}

const PREFIX = '/api/v1'

export function readingEndpoints({
  live,
  runs,
  forward,
  beyond,
  isTraced,
  isKept,
}: ReadingEndpointsOptions): ReadingEndpoints {
  let find: FindEndpoint = () => undefined
  const unwatch = live.watch((table) => {
    find = endpointTable(table)
  })
  const writing = new WeakSet<CompiledEndpoint>()

  return {
    mayRead(request) {
      const { method, url = '' } = request
      if ((method !== 'GET' && method !== 'HEAD') || hasBody(request)) return false
      const { headers } = request
      if (!url.startsWith(`${PREFIX}/`) || headers['idempotency-key'] !== undefined) return false
      if (headers['x-quoin-trace'] !== undefined) return false
      // The writer sends events, so that there is one list of streams on a node.
      if (wantsEvents(headers.accept) !== 'none') return false
      const query = url.indexOf('?')
      const path = url.slice(PREFIX.length, query < 0 ? undefined : query)
      if (reservedRoots.has(path.split('/', 2)[1] ?? '')) return false
      try {
        const found = find(method, path)
        if (found === undefined || writing.has(found.endpoint) || isTraced(found.blueprint)) return false
        // Where the key is calculated, the writer stores the reply.
        return found.endpoint.key === undefined && !found.endpoint.subscribes
      } catch {
        // A path that cannot be read; the writer says what is wrong with it.
        return false
      }
    },
    respond(door, exchange, { endpoint, blueprint }, request) {
      let replied: Reply | undefined
      const end = runs.run({
        flow: endpoint.flow,
        blueprint,
        given: endpoint.start(request),
        request,
        onReply: (reply) => {
          replied = reply
        },
      })
      return andThen(end, (ended) => {
        const isFile = replied?.value instanceof FileBody
        const more = isFile || beyond.take(ended.run) || ended.error instanceof WriteRefused
        if (more || (replied === undefined && ended.error === undefined)) writing.add(endpoint)
        if (more || replied === undefined || ended.error !== undefined) return exchange.passOn(forward)
        if (replied.code >= 400 && isKept(endpoint.flow.trigger, replied.code))
          return exchange.passOn(forward)
        try {
          sendReply(exchange, replied, door)
        } catch {
          // It is too long to be written; the writer says so, and logs it.
          exchange.passOn(forward)
        }
      })
    },
    close: unwatch,
  }
}
