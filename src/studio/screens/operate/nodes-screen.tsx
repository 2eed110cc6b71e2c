import { Badge, Group, Progress, Skeleton, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { nodesQuery } from '../../api/operations.ts'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { Time } from '../../controls/time.tsx'

/** The running processes of the cluster. */
export function NodesScreen() {
  const { data, error, refetch } = useQuery(nodesQuery)
  return (
    <>
      <ScreenHead
        title="Nodes"
        about="Running Quoin processes on one database. All are identical; a stopped one is listed for an hour."
      />
      {error ? <ErrorNotice error={error} title="Could not load the nodes" onRetry={refetch} /> : null}
      <div className="surface">
        {data ? (
          <Table aria-label="Nodes">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th w={220}>Load</Table.Th>
                <Table.Th>Version</Table.Th>
                <Table.Th>Started</Table.Th>
                <Table.Th>Seen</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody className="numbers">
              {data.map((node) => (
                <Table.Tr key={node.guid}>
                  <Table.Td>
                    <Group gap={6}>
                      {node.name}
                      {node.self ? <Badge color="petrol">serves this studio</Badge> : null}
                    </Group>
                  </Table.Td>
                  <Table.Td>
                    <Badge color={node.live ? 'green' : 'red'}>{node.live ? 'live' : 'gone'}</Badge>
                  </Table.Td>
                  <Table.Td>
                    <Group gap="xs" wrap="nowrap">
                      <Progress
                        value={node.load * 100}
                        color={node.load > 0.8 ? 'red' : 'petrol'}
                        flex={1}
                        aria-label={`Load of ${node.name}`}
                      />
                      <Text size="xs" c="dimmed" w={36} ta="right">
                        {Math.round(node.load * 100)} %
                      </Text>
                    </Group>
                  </Table.Td>
                  <Table.Td>{node.version}</Table.Td>
                  <Table.Td>
                    <Time at={node.started} />
                  </Table.Td>
                  <Table.Td>
                    <Time at={node.seen} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        ) : (
          <Skeleton height={92} />
        )}
      </div>
    </>
  )
}
