import { Anchor, Group, Skeleton, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { endpointsQuery } from '../../api/blueprints.ts'
import { endpointKey, trafficQuery } from '../../api/endpoint-traffic.ts'
import { duration } from '../../controls/amounts.ts'
import { BadNumber } from '../../controls/bad-number.tsx'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { MethodTag } from '../../controls/method-tag.tsx'

/** The endpoints of blueprints that were asked for, on the node that answers; the busiest first. */
export function EndpointTraffic() {
  const { data: traffic, error } = useQuery(trafficQuery)
  const { data: endpoints } = useQuery(endpointsQuery)
  const rows = [...(endpoints ?? [])]
    .flatMap(([blueprint, list]) => list.map(({ method, uri, block }) => ({ blueprint, method, uri, block })))
    .map((row) => ({ ...row, traffic: traffic?.endpoints.get(endpointKey(row.method, row.uri)) }))
    .toSorted((a, b) => (b.traffic?.requests ?? 0) - (a.traffic?.requests ?? 0))
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2}>Endpoints</Title>
        <Text size="sm" c="dimmed">
          On this node, since it started
        </Text>
      </Group>
      {error ? <ErrorNotice error={error} title="Could not load the traffic" /> : null}
      <div className="surface">
        {endpoints ? (
          <Table.ScrollContainer minWidth={680} type="native">
            <Table aria-label="Traffic of endpoints">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Endpoint</Table.Th>
                  <Table.Th ta="right">Requests</Table.Th>
                  <Table.Th ta="right">Per second</Table.Th>
                  <Table.Th ta="right">p50</Table.Th>
                  <Table.Th ta="right">p95</Table.Th>
                  <Table.Th ta="right">Failed</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody className="numbers">
                {rows.map(({ blueprint, block, method, uri, traffic: one }) => (
                  <Table.Tr key={`${block} ${method} ${uri}`}>
                    <Table.Td>
                      <Group gap={6} wrap="nowrap">
                        <MethodTag method={method} />
                        <Anchor
                          component={Link}
                          href={`/blueprints/${blueprint}?block=${block}`}
                          size="sm"
                          ff="monospace"
                        >
                          {uri || '(from a wire)'}
                        </Anchor>
                      </Group>
                    </Table.Td>
                    <Table.Td ta="right">{one?.requests.toLocaleString() ?? 0}</Table.Td>
                    <Table.Td ta="right">{one?.rate === undefined ? '–' : one.rate.toFixed(1)}</Table.Td>
                    <Table.Td ta="right">{one?.p50 === undefined ? '–' : duration(one.p50)}</Table.Td>
                    <Table.Td ta="right">{one?.p95 === undefined ? '–' : duration(one.p95)}</Table.Td>
                    <Table.Td ta="right">
                      <BadNumber value={one?.errors ?? 0} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        ) : (
          <Skeleton height={180} />
        )}
      </div>
    </section>
  )
}
