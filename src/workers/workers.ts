/**
 * Several processes on one embedded database (QUOIN_WORKERS), so that reading uses more than one core.
 *
 * One process, the writer, is a whole Quoin, as without reading processes. Only the writer writes, signs in, manages, runs
 * jobs and schedules. It forks the readers, which listen at the same port (SO_REUSEPORT: the system spreads connections
 * over all). A reader has a read-only connection, looks tokens up and runs endpoints; it answers requests that only read,
 * and passes all others on to the writer (`reading-endpoints.ts`).
 *
 * Guarantees of one process that hold for all of them:
 * - Documents: each read of a reader begins a new snapshot, so it sees what was committed before it asked, and a write is
 *   acknowledged after its commit. Cached results of searches are compared with a version that the writer raises in the
 *   transaction of each write (`storage/sqlite/core/mark-versions.ts`). So are cached replies of a reader: each request
 *   reads the versions of what the flow has read (5 µs each), and the flow runs when one of them has changed.
 * - Data of a storage that a reader keeps in memory (deployed blueprints, tokens, users, groups) is watched, as on
 *   PostgreSQL: a write to it is acknowledged when every reader has applied it (`announced-database.ts`, `writer-link.ts`).
 * - The writer kills a reader that does not apply a change in time, and waits until it is gone: the end of a child process
 *   is certain, so a reader needs no other fence (`child-reader.ts`). Another reader takes its place.
 * - A writer that dies takes the readers with it. Each asks the system for its parent before it answers, and a new writer
 *   begins only when no reader of the old one is left (`storage/sqlite/reader/readers-lock.ts`).
 *
 * Differences: rate limits are counted in each process, so with n processes an address with many connections can reach up
 * to n times the limit; each process has its own cache of `cache_key` (a deletion empties all of them); two searches of
 * one run may see different commits, as on PostgreSQL; only searches of the writer are noted as slow.
 */
import { createServer } from 'node:net'
import type { Access } from '../access/access.ts'
import type { Samples } from '../flows/samples/samples.ts'
import { type Metric, prometheusText } from '../http/metrics/prometheus-text.ts'
import type { Server } from '../http/server/server.ts'
import type { Options } from '../options/options.ts'
import type { SystemLog } from '../records/system-log.ts'
import type { Clock } from '../shared/clock.ts'
import type { Cluster, ClusterNode } from '../storage/cluster.ts'
import type { RawDatabase } from '../storage/ruled.ts'
import { announcedDatabase } from './announced-database.ts'
import { eventLoopLoad } from './event-loop-load.ts'
import { mergeMetrics } from './merge-metrics.ts'
import { readerPool } from './reader-pool.ts'
import type { FromReader } from './worker-messages.ts'
import { openEntrance } from './writer-entrance.ts'

export interface WorkersOptions {
  readonly database: RawDatabase
  readonly options: Options
  readonly clock: Clock
  readonly newGuid: () => string
  readonly node: Pick<ClusterNode, 'name' | 'version' | 'started'>
  /** What readers run. */
  readonly program: URL
  /** A reader has ended, by itself or not. */
  readonly readerLost?: () => void
  /** A reader has met damage in the database. */
  readonly damaged?: (reason: string) => void
  /** Milliseconds for a reader to apply a change. */
  readonly patience?: number
}

export interface Workers {
  /** For all rooms of the writer: see `announced-database.ts`. */
  readonly database: RawDatabase
  /** The writer's server, which starts the readers when it listens and ends them when it closes. */
  door(server: Server, rooms: WriterRooms): Server
  /** Metrics of the writer and all readers together, as text. */
  metricsText(own: readonly Metric[]): Promise<string>
  /** The one metric of charts over time, of the writer and all readers together. */
  traffic(own: Metric): Promise<Metric>
}

export interface WriterRooms {
  readonly access: Pick<Access, 'identify' | 'logRequest'>
  readonly log: Pick<SystemLog, 'write'>
  readonly samples: Pick<Samples, 'add'>
}

/** A reader that is alive answers within milliseconds; its longest turn without a pause is 2 s. */
const PATIENCE_MS = 5_000

export function openWorkers(given: WorkersOptions): Workers {
  const { options, clock, newGuid, node, program, patience = PATIENCE_MS } = given
  const self = newGuid()
  const load = eventLoopLoad()
  let entrance = ''
  let rooms: WriterRooms | undefined

  const pool = readerPool({
    count: options.workers - 1,
    program,
    patience,
    clock,
    opening: () => ({ options, entrance, guid: newGuid(), writer: process.pid }),
    heard(message) {
      if (message.kind === 'damaged') given.damaged?.(message.reason)
      else if (rooms) doFor(rooms, message)
    },
    lost: (message) => {
      rooms?.log.write({ level: 'error', message })
      given.readerLost?.()
    },
  })

  const cluster: Cluster = {
    self,
    alive: () => true,
    tell: async (topic, messages) => pool.tell(topic, messages),
    // No reader listens: the writer has all event streams, and reads what it has written.
    send: async () => undefined,
    async nodes() {
      const seen = Math.floor(clock() / 1000)
      const writer = { ...node, guid: self, seen, load: load(), live: true, self: true }
      const readers = pool.readers().map((reader, place) => ({
        guid: reader.guid,
        name: `${node.name} (reader ${place + 1})`,
        version: node.version,
        started: reader.started,
        seen: reader.seen,
        load: reader.load,
        live: reader.mode === 'serving',
        self: false,
      }))
      return [writer, ...readers]
    },
  }

  return {
    database: announcedDatabase(given.database, { cluster, tell: pool.tell }),
    async metricsText(own) {
      return prometheusText(mergeMetrics([own, ...(await pool.collect('all'))]))
    },
    async traffic(own) {
      const [whole] = mergeMetrics([[own], ...(await pool.collect('traffic'))])
      return whole ?? own
    },
    door(server, writer) {
      let close = () => server.close()
      return {
        app: server.app,
        watch: server.watch,
        waitingBytes: server.waitingBytes,
        async listen() {
          const { host } = options
          const port = await freePort(host, options.port)
          const opened = await openEntrance(options.data, server.app.server, server.watch)
          entrance = opened.path
          rooms = writer
          close = async () => {
            await Promise.all([pool.close(), server.close()])
            await opened.close()
          }
          const address = await server.listen({ port, reusePort: true })
          await pool.open({ host, port })
          return address
        },
        close: () => close(),
      }
    },
  }
}

function doFor({ access, log, samples }: WriterRooms, message: FromReader): void {
  switch (message.kind) {
    case 'used':
      // Looking it up is what writes it down. Should it fail, the next request asks again.
      Promise.resolve(access.identify(message.token)).catch(() => undefined)
      return
    case 'requests':
      for (const request of message.requests) access.logRequest(request)
      return
    case 'sampled':
      for (const times of message.times) samples.add(times)
      return
    case 'log':
      log.write(message.entry)
  }
}

/**
 * The port, if no process listens there; 0: any free one. Sockets that share a port do not refuse each other, so a second
 * Quoin at the same port would get half of the connections. This probe does not share, so the system refuses a used port.
 */
function freePort(host: string, wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen({ host, port: wanted }, () => {
      const address = probe.address()
      const port = typeof address === 'object' && address !== null ? address.port : wanted
      probe.close(() => resolve(port))
    })
  })
}
