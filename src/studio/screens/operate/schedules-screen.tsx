import { Badge, Code, Group, Text } from '@mantine/core'
import type { Schedule } from '../../../shared/api/queues.ts'
import { findSchedules } from '../../api/operations.ts'
import { EmptyState } from '../../controls/empty-state.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { RecordTable } from '../../controls/lists/record-table.tsx'
import { openAddress } from '../../controls/open-address.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { Time } from '../../controls/time.tsx'
import { TicksDrawer } from './ticks-drawer.tsx'

const columns: readonly Column<Schedule>[] = [
  { id: 'title', label: 'Schedule', sort: 'title', render: ({ title, schedule }) => title || schedule },
  {
    id: 'rhythm',
    label: 'When',
    render: ({ cron, every, time_zone }) => (
      <Group gap={6}>
        <Code>{cron || `every ${every}`}</Code>
        {cron === '' ? null : (
          <Text size="xs" c="dimmed">
            {time_zone}
          </Text>
        )}
      </Group>
    ),
  },
  { id: 'next', label: 'Next', sort: 'next_at', width: 130, render: ({ next_at }) => <Time at={next_at} /> },
  { id: 'last', label: 'Last', sort: 'last_at', width: 130, render: ({ last_at }) => <Time at={last_at} /> },
  {
    id: 'policy',
    label: 'If late or still running',
    render: ({ overlap, catch_up }) => (
      <Group gap={4}>
        <Badge color="gray" title="While the previous run is not finished">
          overlap: {overlap}
        </Badge>
        <Badge color="gray" title="Missed ticks">
          catch up: {catch_up}
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
      <ScreenHead
        title="Schedules"
        about="Schedules of active blueprints. A tick fires once, on any number of nodes; open a schedule to see the result of each tick."
      />
      <RecordTable<Schedule>
        label="Schedules"
        queryKey={['schedules', 'list']}
        load={findSchedules}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ schedule }) => openAddress('/operate/schedules', words, schedule)}
        refetchInterval={10_000}
        minWidth={760}
        empty={
          <EmptyState icon="operate" title="No schedules">
            <Text size="sm">
              Activating a blueprint with the block “schedule repeating event” creates one.
            </Text>
          </EmptyState>
        }
      />
      <TicksDrawer />
    </>
  )
}
