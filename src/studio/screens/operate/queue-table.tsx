import { Alert, Badge, Group, Skeleton, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Queue } from '../../../shared/api/queues.ts'
import { queuesQuery } from '../../api/operations.ts'
import { BadNumber } from '../../controls/bad-number.tsx'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { Time } from '../../controls/time.tsx'
import { QueueControls } from './queue-controls.tsx'

export function QueueTable() {
  const { data, error, refetch } = useQuery(queuesQuery)
  if (error) return <ErrorNotice error={error} title="Could not load the queues" onRetry={refetch} />
  if (!data) return <Skeleton height={90} />
  if (data.length === 0) return <Alert color="gray">No queues yet. The first job creates its queue.</Alert>
  return (
    <div className="surface">
      <Table.ScrollContainer minWidth={760} type="native">
        <Table aria-label="Queues">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Queue</Table.Th>
              <Table.Th ta="right">Waiting</Table.Th>
              <Table.Th ta="right">Running</Table.Th>
              <Table.Th ta="right">Done this week</Table.Th>
              <Table.Th ta="right">Dead letters</Table.Th>
              <Table.Th>Oldest due</Table.Th>
              <Table.Th>Steer</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody className="numbers">
            {data.map((queue) => (
              <Row key={queue.name} queue={queue} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </div>
  )
}

function Row({ queue }: { readonly queue: Queue }) {
  const { name, paused, depth, running, done, dead, oldest } = queue
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap={6}>
          {name}
          {paused ? <Badge color="sand">paused</Badge> : null}
        </Group>
      </Table.Td>
      <Table.Td ta="right">{depth.toLocaleString()}</Table.Td>
      <Table.Td ta="right">{running.toLocaleString()}</Table.Td>
      <Table.Td ta="right">{done.toLocaleString()}</Table.Td>
      <Table.Td ta="right">
        <BadNumber value={dead} />
      </Table.Td>
      <Table.Td>
        <Time at={oldest} never="none due" />
      </Table.Td>
      <Table.Td>
        <QueueControls queue={queue} />
      </Table.Td>
    </Table.Tr>
  )
}
