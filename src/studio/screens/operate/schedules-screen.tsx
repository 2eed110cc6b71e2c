import { Badge, Code, Group, Text } from '@mantine/core'
import type { Schedule } from '../../../shared/api/operate/queues.ts'
import { findSchedules } from '../../api/operations.ts'
import { rhythmLabels } from '../../controls/cron-labels.ts'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { type Column, RecordTable } from '../../controls/lists/record-table.tsx'
import { openAddress } from '../../controls/save-file.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { operateTexts } from '../../texts/operate.ts'
import { TicksDrawer } from './ticks-drawer.tsx'

/** Milliseconds for which a planned time that was lost is shown in the list: as long as its tick is kept. */
const LOST_SHOWN = 30 * 86_400_000

const columns: readonly Column<Schedule>[] = [
  {
    id: 'title',
    label: operateTexts.schedule,
    sort: 'title',
    render: ({ title, schedule }) => title || schedule,
  },
  {
    id: 'rhythm',
    label: operateTexts.when,
    render: ({ cron, every, time_zone }) => (
      <Group gap={6}>
        <Rhythm cron={cron} every={every} />
        {cron === '' ? null : (
          <Text size="xs" c="dimmed">
            {time_zone}
          </Text>
        )}
      </Group>
    ),
  },
  {
    id: 'next',
    label: operateTexts.next,
    sort: 'next_at',
    width: 130,
    render: ({ next_at }) => <Time at={next_at} />,
  },
  {
    id: 'last',
    label: operateTexts.last,
    sort: 'last_at',
    width: 130,
    render: ({ last_at, lost_at }) => (
      <>
        <Time at={last_at} />
        {(lost_at ?? 0) * 1_000 > Date.now() - LOST_SHOWN ? (
          <Badge color="red" title={operateTexts.neverStartedHelp}>
            {operateTexts.neverStarted} <Time at={lost_at} />
          </Badge>
        ) : null}
      </>
    ),
  },
  {
    id: 'policy',
    label: operateTexts.ifLateStillRunning,
    render: ({ overlap, catch_up }) => (
      <Group gap={4}>
        <Badge color="gray" title={operateTexts.whilePreviousRunNot}>
          {operateTexts.overlaps[overlap]}
        </Badge>
        <Badge color="gray" title={operateTexts.missedTicks}>
          {operateTexts.catchUps[catch_up]}
        </Badge>
      </Group>
    ),
  },
]

/** Schedules of active blueprints. Each planned tick has a record of its own; open a schedule to see them. */
export function SchedulesScreen() {
  const [, , words] = useListAddress()
  return (
    <>
      <ScreenHead title={operateTexts.schedules} about={operateTexts.schedulesAbout} />
      <RecordTable<Schedule>
        label={operateTexts.schedules}
        queryKey={['schedules', 'list']}
        load={findSchedules}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ schedule }) => openAddress('/operate/schedules', words, schedule)}
        refetchInterval={10_000}
        minWidth={720}
        empty={
          <EmptyState icon="operate" title={operateTexts.noSchedules}>
            <Text size="sm">{operateTexts.noSchedulesText}</Text>
          </EmptyState>
        }
      />
      <TicksDrawer />
    </>
  )
}

/** In words where there are some; the expression stays readable behind them. */
function Rhythm({ cron, every }: Pick<Schedule, 'cron' | 'every'>) {
  const words = rhythmLabels(cron, every)
  if (words !== undefined) return <span title={cron || every}>{words}</span>
  return <Code style={{ whiteSpace: 'nowrap' }}>{cron || every}</Code>
}
