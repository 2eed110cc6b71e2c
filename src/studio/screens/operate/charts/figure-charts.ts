import type { FigurePoint, FiguresOverTime } from '../../../../shared/api/operate/figures.ts'
import { duration } from '../../../controls/amounts.ts'
import type { TimeSeries } from '../../../controls/charts/time-series.ts'
import { operateTexts } from '../../../texts/operate.ts'

interface FigureChart {
  readonly title: string
  readonly times: readonly number[]
  readonly series: readonly TimeSeries[]
  readonly say: (value: number) => string
  readonly hrefOf?: (at: number) => string | undefined
}

const count = (value: number) =>
  value.toLocaleString(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const shortTime = (value: number) => (value === 0 ? '0' : duration(value))
/** Seconds: of ticks no two read alike. */
const age = (seconds: number) => {
  if (seconds < 60) return `${Math.round(seconds)} s`
  const [whole, unit] = seconds < 3_600 ? [60, 'min'] : [3_600, 'h']
  return `${Number((seconds / whole).toFixed(1))} ${unit}`
}

/** The charts of the screen, in reading order. */
export function chartsOf({ points, step }: FiguresOverTime): FigureChart[] {
  const times = points.map(({ at }) => at)
  const failed = new Set(points.filter((point) => failuresOf(point) > 0).map(({ at }) => at))
  // Nothing is stored of a step that has just begun: that is no fall to zero.
  const isOpen = (point: FigurePoint) => point === points.at(-1) && point.requests + point.runs === 0
  const all = (of: (point: FigurePoint) => number | null) =>
    points.map((point) => (isOpen(point) ? null : of(point)))
  return [
    {
      title: operateTexts.requestsPer(stepWords(step)),
      ...{ times, say: count },
      series: [
        { name: operateTexts.requests, values: all((one) => one.requests), colour: 'calm' },
        { name: operateTexts.runs, values: all((one) => one.runs), colour: 'warm', dash: '6 4' },
      ],
    },
    {
      title: operateTexts.failuresPer(stepWords(step)),
      ...{ times, say: count },
      series: [
        { name: operateTexts.replies5xx, values: all((one) => one.failed), colour: 'bad' },
        { name: operateTexts.failedRuns, values: all((one) => one.failed_runs), colour: 'warm', dash: '6 4' },
        { name: operateTexts.replies4xx, values: all((one) => one.refused), colour: 'calm', dash: '2 4' },
      ],
      hrefOf: (at) => (failed.has(at) ? logOf(at, step) : undefined),
    },
    {
      title: operateTexts.latencyOfRequests,
      ...{ times, say: shortTime },
      series: [
        { name: operateTexts.p50Latency, values: all((one) => one.p50), colour: 'calm' },
        { name: operateTexts.p95Latency, values: all((one) => one.p95), colour: 'warm', dash: '6 4' },
      ],
    },
    {
      title: operateTexts.jobsInQueues,
      ...{ times, say: count },
      series: [
        { name: operateTexts.waiting, values: all((one) => one.waiting), colour: 'calm' },
        { name: operateTexts.deadLetters, values: all((one) => one.dead), colour: 'bad', dash: '6 4' },
      ],
    },
    {
      title: operateTexts.oldestWait,
      ...{ times, say: age },
      series: [{ name: operateTexts.oldest, values: all((one) => one.oldest), colour: 'warm' }],
    },
  ]
}

/** The step with the most failures; undefined where none failed. */
export function worstOf({
  points,
}: FiguresOverTime): { readonly at: number; readonly failed: number } | undefined {
  const [worst] = points.toSorted((one, other) => failuresOf(other) - failuresOf(one))
  return worst && failuresOf(worst) > 0 ? { at: worst.at, failed: failuresOf(worst) } : undefined
}

/** A failed run of a request is also a reply 5xx. */
function failuresOf({ failed, failed_runs }: FigurePoint): number {
  return Math.max(failed, failed_runs)
}

/** The errors that the cluster logged in one step, with the runs that failed. */
export function logOf(at: number, step: number): string {
  return `/operate/system-log?level=error&since=${at}&until=${at + step - 1}&live=0`
}

function stepWords(step: number): string {
  return operateTexts.step(step)
}
