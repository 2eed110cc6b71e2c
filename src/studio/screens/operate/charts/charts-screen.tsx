import { Anchor, Button, Group, SegmentedControl, Select, SimpleGrid, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'wouter'
import { type FigureRange, figureRanges } from '../../../../shared/charts/figure-ranges.ts'
import { figuresQuery } from '../../../api/figures.ts'
import { TimeChart } from '../../../controls/charts/time-chart.tsx'
import { timeWords } from '../../../controls/charts/time-series.ts'
import { ErrorNotice } from '../../../controls/error-notice.tsx'
import { withWords } from '../../../controls/lists/list-address.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { operateTexts } from '../../../texts/operate.ts'
import { chartsOf, logOf, worstOf } from './figure-charts.ts'

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
