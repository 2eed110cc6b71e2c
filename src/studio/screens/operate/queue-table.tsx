import { Alert, Badge, Group, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Queue } from '../../../shared/api/queues.ts'
import { queuesQuery } from '../../api/operations.ts'
import { BadNumber } from '../../controls/bad-number.tsx'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { CardTable } from '../../controls/lists/card-table.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { Time } from '../../controls/time.tsx'
import { QueueControls } from './queue-controls.tsx'

const columns: readonly Column<Queue>[] = [
  {
    id: 'name',
    label: 'Queue',
    render: ({ name, paused }) => (
      <Group gap={6}>
        {name}
        {paused ? <Badge color="sand">paused</Badge> : null}
      </Group>
    ),
  },
  { id: 'depth', label: 'Waiting', numeric: true, render: ({ depth }) => depth.toLocaleString() },
  { id: 'running', label: 'Running', numeric: true, render: ({ running }) => running.toLocaleString() },
  { id: 'done', label: 'Done this week', numeric: true, render: ({ done }) => done.toLocaleString() },
  { id: 'dead', label: 'Dead letters', numeric: true, render: ({ dead }) => <BadNumber value={dead} /> },
  { id: 'oldest', label: 'Oldest due', render: ({ oldest }) => <Time at={oldest} never="none due" /> },
  { id: 'steer', label: 'Steer', render: (queue) => <QueueControls queue={queue} /> },
]

export function QueueTable() {
  const { data, error, refetch } = useQuery(queuesQuery)
  if (error) return <ErrorNotice error={error} title="Could not load the queues" onRetry={refetch} />
  if (!data) return <Skeleton height={90} />
  if (data.length === 0) return <Alert color="gray">No queues yet. The first job creates its queue.</Alert>
  return (
    <CardTable label="Queues" columns={columns} records={data} keyOf={({ name }) => name} minWidth={760} />
  )
}
