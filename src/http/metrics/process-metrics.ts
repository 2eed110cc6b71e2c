import { readdir } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Metric } from './prometheus-text.ts'

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

function one(name: string, help: string, value: number): Metric {
  return { name, help, type: 'gauge', samples: [{ value }] }
}

function counter(name: string, help: string, value: number): Metric {
  return { name, help, type: 'counter', samples: [{ value }] }
}
