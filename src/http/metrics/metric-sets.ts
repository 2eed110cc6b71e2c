import { readdir } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { LiveBlueprints } from '../../flows/live/live-blueprints.ts'
import type { Runs } from '../../flows/run-pipeline.ts'
import type { Metric } from '../../shared/telemetry.ts'
import type { DatabaseFigures } from '../../storage/capabilities.ts'

/** What an engine does not tell is left out. */
export function databaseMetrics({
  sizeBytes,
  logBytes,
  commits,
  connections,
  cache,
}: DatabaseFigures): Metric[] {
  return [
    one('quoin_database_size_bytes', 'Data of the database, without its log.', sizeBytes),
    ...(logBytes === null ? [] : [one('quoin_database_log_bytes', 'Write-ahead log on disk.', logBytes)]),
    count('quoin_database_commits_total', 'Committed transactions of the database.', commits),
    count('quoin_database_cache_hits_total', 'Reads of the database that needed no disk.', cache.hits),
    count(
      'quoin_database_cache_misses_total',
      'Reads of the database that its cache did not have.',
      cache.misses,
    ),
    ...(connections
      ? [
          {
            name: 'quoin_database_connections',
            help: 'Connections of the node by state, work that waits for one, and QUOIN_POOL (most).',
            type: 'gauge',
            samples: Object.entries(connections).map(([state, value]) => ({ labels: { state }, value })),
          } as const,
        ]
      : []),
  ]
}

function one(name: string, help: string, value: number): Metric {
  return { name, help, type: 'gauge', samples: [{ value }] }
}

function count(name: string, help: string, value: number): Metric {
  return { name, help, type: 'counter', samples: [{ value }] }
}

export interface ProcessMetrics {
  metrics(): Promise<Metric[]>
  close(): void
}

/** Milliseconds between two looks at the event loop; each costs about 1 µs. */
const LOOK = 20
const NANOSECONDS = 1e9

/** The process, under the names that Prometheus dashboards know. */
export function openProcessMetrics(): ProcessMetrics {
  const delay = monitorEventLoopDelay({ resolution: LOOK })
  delay.enable()
  return {
    async metrics() {
      const { user, system } = process.cpuUsage()
      const { rss, heapUsed, external } = process.memoryUsage()
      const files = await openFiles()
      // A look is late by the time of the loop's turns; the interval itself is no delay.
      const seconds = (nanoseconds: number) =>
        Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / NANOSECONDS - LOOK / 1000) : 0
      const lags = [
        one('nodejs_eventloop_lag_p50_seconds', 'Median of the turns.', seconds(delay.percentile(50))),
        one(
          'nodejs_eventloop_lag_p99_seconds',
          '99 of 100 turns were shorter.',
          seconds(delay.percentile(99)),
        ),
        one('nodejs_eventloop_lag_max_seconds', 'Longest turn since the last scrape.', seconds(delay.max)),
      ]
      delay.reset()
      const started = performance.timeOrigin / 1000
      return [
        counter('process_cpu_seconds_total', 'Time on a processor.', (user + system) / 1e6),
        one('process_start_time_seconds', 'When the process started, since 1970.', started),
        one('process_resident_memory_bytes', 'Resident memory.', rss),
        one('nodejs_heap_size_used_bytes', 'Heap in use.', heapUsed),
        one('nodejs_external_memory_bytes', 'Memory outside of the heap held by its objects.', external),
        ...(files === undefined ? [] : [one('process_open_fds', 'Open files and sockets.', files)]),
        ...lags,
      ]
    },
    close: () => void delay.disable(),
  }
}

/** Undefined where the system does not tell. */
async function openFiles(): Promise<number | undefined> {
  try {
    return (await readdir('/proc/self/fd')).length
  } catch {
    return undefined
  }
}

function counter(name: string, help: string, value: number): Metric {
  return { name, help, type: 'counter', samples: [{ value }] }
}

/** Runs by blueprint and outcome, as the pipeline has counted them. */
export function runMetrics(
  { ends, behindReply, underWay }: Pick<Runs, 'ends' | 'behindReply' | 'underWay'>,
  live: Pick<LiveBlueprints, 'table'>,
): Metric[] {
  const { blueprints } = live.table()
  return [
    {
      name: 'quoin_runs_total',
      help: 'Ended runs by blueprint and outcome: done, refused (4xx), failed (500), stopped (503).',
      type: 'counter',
      samples: [...ends].flatMap(([blueprint, counts]) =>
        Object.entries(counts).map(([outcome, value]) => ({
          labels: { blueprint, name: blueprints.get(blueprint)?.name ?? '', outcome },
          value,
        })),
      ),
    },
    {
      name: 'quoin_requests_failed_behind_reply_total',
      help: 'Requests whose run has failed after its reply was sent. Each is a dead letter of the queue _requests.',
      type: 'counter',
      samples: [...blueprints.values()].flatMap(({ compiled }) =>
        compiled.endpoints.flatMap(({ flow, listening: { method, uri } }) => {
          const value = behindReply.get(flow.trigger)
          return value === undefined ? [] : [{ labels: { method, route: `/api/v1/${uri}` }, value }]
        }),
      ),
    },
    {
      name: 'quoin_runs_under_way',
      help: 'Runs in progress that wait.',
      type: 'gauge',
      samples: [{ value: underWay() }],
    },
  ]
}
