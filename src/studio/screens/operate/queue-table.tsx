import { Alert, Badge, Group, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Queue } from '../../../shared/api/operate/queues.ts'
import { queuesQuery } from '../../api/operations.ts'
import { BadNumber } from '../../controls/bad-number.tsx'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { CardTable } from '../../controls/lists/card-table.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { Time } from '../../controls/time.tsx'
import { operateTexts } from '../../texts/operate.ts'
import { QueueControls } from './queue-controls.tsx'
import { queueName } from './queue-name.ts'

const columns: readonly Column<Queue>[] = [
  {
    id: 'name',
    label: operateTexts.queue,
    render: ({ name, paused }) => (
      <Group gap={6}>
        {queueName(name)}
        {paused ? <Badge color="sand">{operateTexts.paused}</Badge> : null}
      </Group>
    ),
  },
  { id: 'depth', label: operateTexts.waiting, numeric: true, render: ({ depth }) => depth.toLocaleString() },
  {
    id: 'running',
    label: operateTexts.running,
    numeric: true,
    render: ({ running }) => running.toLocaleString(),
  },
  {
    id: 'done',
    label: operateTexts.doneThisWeek,
    numeric: true,
    render: ({ done }) => done.toLocaleString(),
  },
  {
    id: 'dead',
    label: operateTexts.deadLetters,
    numeric: true,
    render: ({ dead }) => <BadNumber value={dead} />,
  },
  {
    id: 'oldest',
    label: operateTexts.oldestDue,
    render: ({ oldest }) => <Time at={oldest} never={operateTexts.noneDue} />,
  },
  { id: 'steer', label: operateTexts.steer, render: (queue) => <QueueControls queue={queue} /> },
]

export function QueueTable() {
  const { data, error, refetch } = useQuery(queuesQuery)
  if (error) return <ErrorNotice error={error} title={operateTexts.couldNotLoadQueues} onRetry={refetch} />
  if (!data) return <Skeleton height={90} />
  if (data.length === 0) return <Alert color="gray">{operateTexts.noQueues}</Alert>
  return (
    <CardTable
      label={operateTexts.queues}
      columns={columns}
      records={data}
      keyOf={({ name }) => name}
      minWidth={720}
    />
  )
}
