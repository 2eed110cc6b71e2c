/** Metrics of several processes as those of one: sums, but for what a sum would say nothing of. */
import type { Metric, Sample } from '../http/metrics/prometheus-text.ts'

type Merge = (one: number, other: number) => number

const sum: Merge = (one, other) => one + other
const apart = new Map<string, Merge>([
  ['quoin_info', Math.max],
  ['process_start_time_seconds', Math.min],
  ['nodejs_eventloop_lag_p50_seconds', Math.max],
  ['nodejs_eventloop_lag_p99_seconds', Math.max],
  ['nodejs_eventloop_lag_max_seconds', Math.max],
])

export function mergeMetrics(all: readonly (readonly Metric[])[]): Metric[] {
  const byName = new Map<string, { metric: Metric; samples: Map<string, Sample> }>()
  for (const metric of all.flat()) {
    const merge = apart.get(metric.name) ?? sum
    const known = byName.get(metric.name) ?? { metric, samples: new Map() }
    byName.set(metric.name, known)
    for (const sample of metric.samples) {
      const key = JSON.stringify([sample.suffix ?? '', Object.entries(sample.labels ?? {}).sort()])
      const before = known.samples.get(key)
      known.samples.set(key, before ? { ...before, value: merge(before.value, sample.value) } : sample)
    }
  }
  return [...byName.values()].map(({ metric, samples }) => ({ ...metric, samples: [...samples.values()] }))
}
