import type { IncomingMessage, ServerResponse } from 'node:http'
import { refusalWindow } from '../flows/trace/refusal-window.ts'
import { openTracedBlueprints } from '../flows/trace/traced-blueprints.ts'
import { customEndpoints } from '../http/endpoints/custom-endpoints.ts'
import { openIdempotency } from '../http/endpoints/endpoint-idempotency.ts'
import { openMetrics } from '../http/metrics/metrics.ts'
import type { Metric } from '../http/metrics/prometheus-text.ts'
import { openServer } from '../http/server/server.ts'
import { readingEndpoints } from '../workers/reading-endpoints.ts'
import { requestForwarder } from '../workers/request-forwarder.ts'
import type { CollectedMetrics } from '../workers/worker-messages.ts'
import type { ReaderFlows } from './open-reader-flows.ts'
import { httpSettings } from './quoin-settings.ts'
import type { Start } from './start.ts'
import type { ToWriter } from './to-writer.ts'

export interface ReaderDoors {
  listen(port: number): Promise<void>
  metrics(of: CollectedMetrics): Promise<readonly Metric[]>
}

/** Endpoints, and a way to the writer for everything else. `entrance`: where the writer takes requests. */
export async function openReaderDoors(
  { clock, version, opened }: Start,
  { link, orphaned }: ToWriter,
  { database, access, flows, runs, beyond, set }: ReaderFlows,
  entrance: string,
): Promise<ReaderDoors> {
  const traced = await openTracedBlueprints(database, clock)
  opened.add(() => traced.close())
  const metrics = openMetrics({ flows, runs, version })
  opened.add(() => metrics.close())
  let isClosing = false
  const { forward, close } = requestForwarder(entrance, () => isClosing)
  opened.add(() => close())
  const isTraced = (blueprint: string) => !traced.none && traced.of(blueprint) !== undefined
  const isKept = refusalWindow(clock)
  const endpoints = readingEndpoints({ live: flows.live, runs, forward, beyond, isTraced, isKept })
  opened.add(() => endpoints.close())
  const idempotency = await openIdempotency(database, clock)
  const server = await openServer({
    ...{ access, clock, version, settings: httpSettings(set) },
    api: [customEndpoints({ flows, runs, idempotency }, endpoints.respond)],
    finished: metrics.finished,
  })
  metrics.countWaiting(server.waitingBytes)
  opened.add(() => {
    isClosing = true
    return server.close()
  })
  // Before everything else that looks at a request: most of them only pass through.
  const http = server.app.server
  const listeners = http.listeners('request')
  http.removeAllListeners('request')
  http.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!link.cluster.alive()) orphaned()
    else if (!endpoints.mayRead(request)) forward(request, response)
    else for (const listener of listeners) listener.call(http, request, response)
  })
  const listen = async (port: number) => {
    await server.listen({ port, reusePort: true })
  }
  return { listen, metrics: async (of) => (of === 'all' ? metrics.all() : [metrics.traffic()]) }
}
