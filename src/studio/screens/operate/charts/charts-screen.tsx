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
import { chartsOf, logOf, worstOf } from './figure-charts.ts'

const labels = { hour: 'Hour', day: 'Day', week: 'Week' }

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
      <ScreenHead
        title="Charts"
        about="Requests, failures, latency and queues over time. Kept for a week; a minute appears when it is over."
      >
        <Select
          aria-label="Node"
          w={170}
          data={[{ value: '', label: 'All nodes' }, ...(data?.nodes ?? [])]}
          value={node}
          allowDeselect={false}
          onChange={(value) => change({ node: value ?? '' })}
        />
        <SegmentedControl
          aria-label="Range"
          data={figureRanges.map((value) => ({ value, label: labels[value] }))}
          value={range}
          onChange={(value: FigureRange) => change({ range: value, until: '' })}
        />
      </ScreenHead>
      {error ? <ErrorNotice error={error} title="Could not load the figures" onRetry={refetch} /> : null}
      {data && until > 0 ? (
        <Group mb="sm" gap="sm">
          <Text size="sm">{`Up to ${timeWords(until, [], true)}`}</Text>
          <Button variant="default" size="compact-sm" onClick={() => change({ until: '' })}>
            Up to now
          </Button>
        </Group>
      ) : null}
      {data && worst ? (
        <Text size="sm" mb="sm">
          {`Most failures: ${worst.failed} from ${timeWords(worst.at, [], true)} on. `}
          <Anchor component={Link} href={logOf(worst.at, data.step)} size="sm" underline="always">
            Errors of this time
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
                Minute by minute
              </Anchor>
            </>
          )}
        </Text>
      ) : null}
      {data?.complete === false ? (
        <Text size="sm" c="dimmed" mb="sm">
          More nodes served in this time than are added up here: the earliest days are incomplete.
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
