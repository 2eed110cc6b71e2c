/**
 * The composition root of a process that only reads (see `workers/workers.ts`): storage → blocks → access, flows →
 * endpoints. What is not an endpoint, or does more than read, is passed on to the writer.
 */
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { openAccess } from '../access/access.ts'
import { loadBlocks } from '../blocks/load-blocks.ts'
import { openFlows } from '../flows/flows.ts'
import { runPipeline } from '../flows/run-pipeline.ts'
import { openTracedBlueprints } from '../flows/trace/traced-blueprints.ts'
import type { RunningFlow } from '../flows/watchdog/running-flow.ts'
import { customEndpoints } from '../http/endpoints/custom-endpoints.ts'
import { openIdempotency } from '../http/endpoints/endpoint-idempotency.ts'
import { openMetrics } from '../http/metrics/metrics.ts'
import type { Metric } from '../http/metrics/prometheus-text.ts'
import { reservedRoots } from '../http/server/reserved-roots.ts'
import { openServer } from '../http/server/server.ts'
import type { SystemLog } from '../records/system-log.ts'
import type { Clock } from '../shared/clock.ts'
import type { Random } from '../shared/guid.ts'
import { readingAccess } from '../workers/reading-access.ts'
import { readingBlocks } from '../workers/reading-blocks.ts'
import { readingEndpoints } from '../workers/reading-endpoints.ts'
import { requestForwarder } from '../workers/request-forwarder.ts'
import { type RunsBeyondReading, runsBeyondReading } from '../workers/runs-beyond-reading.ts'
import type { FromReader, Opening } from '../workers/worker-messages.ts'
import type { WriterLink } from '../workers/writer-link.ts'
import { openReadingDatabase } from './open-database.ts'
import { accessSettings, httpSettings, runLimits } from './quoin-settings.ts'
import { releasers } from './releasers.ts'

export interface Reader {
  readonly running: RunningFlow
  listen(port: number): Promise<void>
  metrics(): Promise<readonly Metric[]>
  /** Takes no new connections, lets requests in flight finish, then closes. */
  close(): Promise<void>
}

export interface ReaderSurroundings {
  readonly clock: Clock
  readonly random: Random
  readonly link: WriterLink
  readonly send: (message: FromReader) => void
  /** Called in place of serving when the writer is gone. */
  readonly orphaned: () => void
}

export async function openReader(
  { options, entrance }: Opening,
  { clock, random, link, send, orphaned }: ReaderSurroundings,
): Promise<Reader> {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  const opened = releasers()
  try {
    let refusals = 0
    const beyond = runsBeyondReading()
    const database = openReadingDatabase(options, link, {
      refused(origin) {
        refusals += 1
        beyond.note(origin)
      },
      damaged: (reason) => send({ kind: 'damaged', reason }),
    })
    opened.add(() => database.close())
    const catalogue = readingBlocks(await loadBlocks(), beyond.note)
    const inner = await openAccess({ database, clock, random, settings: accessSettings(options) })
    opened.add(() => inner.close())
    const { access, flush } = readingAccess(inner, () => refusals, send)
    opened.add(flush)
    const flows = await openFlows({
      database,
      catalogue,
      clock,
      random,
      limits: runLimits(options),
      allowedHosts: options.allowedHosts,
      reservedRoots,
      log: readersLog(beyond, send),
    })
    opened.add(() => flows.close())
    const traced = await openTracedBlueprints(database, clock)
    opened.add(() => traced.close())
    const runs = runPipeline(flows)
    const metrics = openMetrics({ flows, runs, version })
    opened.add(() => metrics.close())
    let isClosing = false
    const forwarder = requestForwarder(entrance, () => isClosing)
    opened.add(() => forwarder.close())
    const endpoints = readingEndpoints({
      live: flows.live,
      runs,
      forward: forwarder.forward,
      beyond,
      isTraced: (blueprint) => !traced.none && traced.of(blueprint) !== undefined,
    })
    opened.add(() => endpoints.close())
    const idempotency = await openIdempotency(database, clock)
    const server = await openServer({
      access,
      clock,
      version,
      settings: httpSettings(options),
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
      else if (!endpoints.mayRead(request)) forwarder.forward(request, response)
      else for (const listener of listeners) listener.call(http, request, response)
    })
    return {
      running: flows.running,
      async listen(port) {
        await server.listen({ port, reusePort: true })
      },
      metrics: metrics.all,
      close: opened.release,
    }
  } catch (error) {
    await opened.release()
    throw error
  }
}

/** What runs log is logged by the writer, which does them again; the rest is about this process. */
function readersLog(beyond: RunsBeyondReading, send: (message: FromReader) => void): SystemLog {
  return {
    write(entry) {
      if (entry.run === undefined) send({ kind: 'log', entry })
      else beyond.note({ run: entry.run })
    },
    flush: async () => undefined,
    close: async () => undefined,
  }
}
