import { Anchor, Button, Group, SegmentedControl, Select, SimpleGrid, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'wouter'
import type { FigurePoint, FiguresOverTime } from '../../../../shared/api/operate/figures.ts'
import { type FigureRange, figureRanges } from '../../../../shared/charts/chart-scale.ts'
import { figuresQuery } from '../../../api/operate.ts'
import { duration } from '../../../controls/amounts.ts'
import { TimeChart, type TimeSeries, timeWords } from '../../../controls/charts/time-chart.tsx'
import { withWords } from '../../../controls/lists/list-address.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { ErrorNotice } from '../../../controls/states.tsx'
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
function chartsOf({ points, step }: FiguresOverTime): FigureChart[] {
  const times = points.map(({ at }) => at)
  const failed = new Set(points.filter((point) => failuresOf(point) > 0).map(({ at }) => at))
  // Nothing is stored of a step that has just begun: that is no fall to zero.
  const isOpen = (point: FigurePoint) => point === points.at(-1) && point.requests + point.runs === 0
  const all = (of: (point: FigurePoint) => number | null) =>
    points.map((point) => (isOpen(point) ? null : of(point)))
  return [
    {
      title: operateTexts.requestsPer(stepLabels(step)),
      ...{ times, say: count },
      series: [
        { name: operateTexts.requests, values: all((one) => one.requests), colour: 'calm' },
        { name: operateTexts.runs, values: all((one) => one.runs), colour: 'warm', dash: '6 4' },
      ],
    },
    {
      title: operateTexts.failuresPer(stepLabels(step)),
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
function worstOf({ points }: FiguresOverTime): { readonly at: number; readonly failed: number } | undefined {
  const [worst] = points.toSorted((one, other) => failuresOf(other) - failuresOf(one))
  return worst && failuresOf(worst) > 0 ? { at: worst.at, failed: failuresOf(worst) } : undefined
}

/** A failed run of a request is also a reply 5xx. */
function failuresOf({ failed, failed_runs }: FigurePoint): number {
  return Math.max(failed, failed_runs)
}

/** The errors that the cluster logged in one step, with the runs that failed. */
function logOf(at: number, step: number): string {
  return `/operate/system-log?level=error&since=${at}&until=${at + step - 1}&live=0`
}

function stepLabels(step: number): string {
  return operateTexts.step(step)
}

const labels = { hour: operateTexts.hour, day: operateTexts.day, week: operateTexts.week }

/** What the cluster served over time, and where it failed. */
export function ChartsScreen() {
  const [words, setWords] = useSearchParams()
  const range = figureRanges.find((one) => one === words.get('range')) ?? 'day'
  const node = words.get('node') ?? ''
  const until = Number(words.get('until') ?? 0)
  const { data, error, refetch } = useQuery(
    figuresQuery(range, node, Number.isSafeInteger(until) ? until : 0),
  )
  const change = (changed: Readonly<Record<string, string>>) =>
    setWords((before) => withWords(before, changed), { replace: true })
  const worst = data && worstOf(data)
  return (
    <>
      <ScreenHead title={operateTexts.charts} about={operateTexts.chartsAbout}>
        <Select
          aria-label={operateTexts.node}
          w={170}
          data={[{ value: '', label: operateTexts.allNodes }, ...(data?.nodes ?? [])]}
          value={node}
          allowDeselect={false}
          onChange={(value) => change({ node: value ?? '' })}
        />
        <SegmentedControl
          aria-label={operateTexts.range}
          data={figureRanges.map((value) => ({ value, label: labels[value] }))}
          value={range}
          onChange={(value: FigureRange) => change({ range: value, until: '' })}
        />
      </ScreenHead>
      {error ? (
        <ErrorNotice error={error} title={operateTexts.couldNotLoadFigures} onRetry={refetch} />
      ) : null}
      {data && until > 0 ? (
        <Group mb="sm" gap="sm">
          <Text size="sm">{operateTexts.upTo(timeWords(until, [], true))}</Text>
          <Button variant="default" size="compact-sm" onClick={() => change({ until: '' })}>
            {operateTexts.upToNow}
          </Button>
        </Group>
      ) : null}
      {data && worst ? (
        <Text size="sm" mb="sm">
          {operateTexts.mostFailures(worst.failed, timeWords(worst.at, [], true))}
          <Anchor component={Link} href={logOf(worst.at, data.step)} size="sm" underline="always">
            {operateTexts.errorsOfThisTime}
          </Anchor>
          {range === 'hour' ? null : (
            <>
              {' · '}
              <Anchor
                component={Link}
                href={`/operate/charts?range=hour&until=${worst.at + 1_800}`}
                size="sm"
                underline="always"
              >
                {operateTexts.minuteByMinute}
              </Anchor>
            </>
          )}
        </Text>
      ) : null}
      {data?.complete === false ? (
        <Text size="sm" c="dimmed" mb="sm">
          {operateTexts.incomplete}
        </Text>
      ) : null}
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
        {data
          ? chartsOf(data).map(({ title, ...chart }) => <TimeChart key={title} title={title} {...chart} />)
          : ['requests', 'failures', 'latency', 'queues'].map((key) => <Skeleton key={key} height={290} />)}
      </SimpleGrid>
    </>
  )
}
