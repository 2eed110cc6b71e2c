import { blockCounts } from '../../flows/compile/graph-wiring.ts'
import type { Flows } from '../../flows/flows.ts'
import type { Runs } from '../../flows/run-pipeline.ts'
import type { Figures } from '../../records/figures/figure-row.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { Metric } from '../../shared/telemetry.ts'
import type { DatabaseFigures } from '../../storage/capabilities.ts'
import type { RequestListener } from '../server/finished-hook.ts'
import { httpMetrics, type RequestTotals } from './http-metrics.ts'
import { databaseMetrics, openProcessMetrics, runMetrics } from './metric-sets.ts'
import { prometheusText } from './prometheus-text.ts'

export interface MetricsOptions {
  readonly flows: Pick<Flows, 'catalogue' | 'live'>
  readonly runs: Pick<Runs, 'ends' | 'behindReply' | 'underWay'>
  readonly version: string
  /** How many jobs are in each queue, by state. */
  readonly queues: () => MaybePromise<Iterable<QueueDepth>>
  readonly database: () => Promise<DatabaseFigures>
}

export interface QueueDepth {
  readonly queue: string
  readonly state: string
  readonly jobs: number
}

/** Event streams of endpoints. */
export interface CountedStreams {
  /** Open now. */
  readonly size: number
  /** Since the start. */
  readonly memory: { readonly dropped: number; readonly events: number }
}

export interface Metrics {
  /** For the server: told of each request that was answered. */
  readonly finished: RequestListener
  /** What charts over time are drawn from. */
  traffic(): Figures
  /** Says how many event streams are open: of pages, and of endpoints. */
  countStreams(pages: () => number, endpoints: CountedStreams): void
  /** Says how many bytes of replies wait for their clients. */
  countWaiting(bytes: () => number): void
  /** All of it. */
  all(): Promise<readonly Metric[]>
  /** The same in Prometheus' text format. */
  text(): Promise<string>
  close(): void
}

/** What a node counts about itself. Labels are bounded by what builders deploy, never by what requesters send. */
export function openMetrics({ flows, runs, version, queues, database }: MetricsOptions): Metrics {
  const http = httpMetrics()
  const blocks = blockCounts(flows.catalogue)
  const own = openProcessMetrics()
  let streams: { readonly pages: () => number; readonly endpoints: CountedStreams } | undefined
  let waiting: (() => number) | undefined
  const all = async () => [
    {
      name: 'quoin_info',
      help: 'Always 1; the version is a label.',
      type: 'gauge',
      samples: [{ labels: { version }, value: 1 }],
    } as const,
    ...http.metrics(),
    ...runMetrics(runs, flows.live),
    blockMetric(blocks.entries()),
    queueMetric(await queues()),
    ...databaseMetrics(await database()),
    ...(streams ? [streamMetric(streams.pages()), ...trackedMetrics(streams.endpoints)] : []),
    ...(waiting ? [waitingMetric(waiting())] : []),
    ...(await own.metrics()),
  ]
  return {
    finished: http.finished,
    countWaiting(bytes) {
      waiting = bytes
    },
    countStreams(pages, endpoints) {
      streams = { pages, endpoints }
    },
    traffic: () => trafficFigures(http.totals, runs.ends),
    all,
    text: async () => prometheusText(await all()),
    close: own.close,
  }
}

function trafficFigures({ requests, refused, failed, buckets }: RequestTotals, ends: Runs['ends']): Figures {
  let runs = 0
  let failedRuns = 0
  for (const { done, refused, failed, stopped } of ends.values()) {
    runs += done + refused + failed + stopped
    failedRuns += failed + stopped
  }
  return [requests, refused, failed, runs, failedRuns, ...buckets]
}

function blockMetric(counts: readonly (readonly [type: string, count: number])[]): Metric {
  return {
    name: 'quoin_blocks_executed_total',
    help: 'Executed blocks by type, triggers and constants left out.',
    type: 'counter',
    samples: counts.map(([type, value]) => ({ labels: { type }, value })),
  }
}

function streamMetric(open: number): Metric {
  return {
    name: 'quoin_page_streams_open',
    help: 'Open pages with an event stream (server-sent events).',
    type: 'gauge',
    samples: [{ value: open }],
  }
}

function trackedMetrics({ size, memory }: CountedStreams): Metric[] {
  return [
    {
      name: 'quoin_streams_open',
      help: 'Open event streams of endpoints; at most QUOIN_STREAMS.',
      type: 'gauge',
      samples: [{ value: size }],
    },
    {
      name: 'quoin_streams_dropped_total',
      help: 'Event streams that were ended because their client did not read.',
      type: 'counter',
      samples: [{ value: memory.dropped }],
    },
    {
      name: 'quoin_stream_events_total',
      help: 'Events that were sent in event streams of endpoints.',
      type: 'counter',
      samples: [{ value: memory.events }],
    },
  ]
}

function waitingMetric(bytes: number): Metric {
  return {
    name: 'quoin_reply_bytes_waiting',
    help: 'Bytes of replies that clients have not read yet; at most QUOIN_REPLY_MEMORY.',
    type: 'gauge',
    samples: [{ value: bytes }],
  }
}

function queueMetric(depths: Iterable<QueueDepth>): Metric {
  return {
    name: 'quoin_queue_jobs',
    help: 'Jobs by queue and state.',
    type: 'gauge',
    samples: Array.from(depths, ({ queue, state, jobs }) => ({ labels: { queue, state }, value: jobs })),
  }
}
