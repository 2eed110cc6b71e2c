import type { Outcome } from '../../flows/run/counted-runs.ts'
import type { Figures } from '../../records/figures/figure-row.ts'
import type { RequestTotals } from './http-metrics.ts'
import type { Metric } from './prometheus-text.ts'

/** All that a process has served since it started. A metric, so that those of several processes are added up like others. */
export function trafficMetric(
  { requests, refused, failed, buckets }: RequestTotals,
  ends: ReadonlyMap<string, Readonly<Record<Outcome, number>>>,
): Metric {
  let runs = 0
  let failedRuns = 0
  for (const { done, refused, failed, stopped } of ends.values()) {
    runs += done + refused + failed + stopped
    failedRuns += failed + stopped
  }
  const figures = [requests, refused, failed, runs, failedRuns, ...buckets]
  return {
    name: 'traffic',
    help: 'See records/figures/figure-row.ts.',
    type: 'counter',
    samples: figures.map((value, place) => ({ labels: { place: String(place) }, value })),
  }
}

/** In the order of their places. */
export function figuresIn({ samples }: Metric): Figures {
  return samples
    .toSorted((one, other) => Number(one.labels?.place) - Number(other.labels?.place))
    .map(({ value }) => value)
}
