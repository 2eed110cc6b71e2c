import { Anchor, Group, Skeleton, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { activeBlueprintsQuery, endpointsQuery } from '../../api/blueprints.ts'
import { type TrafficRow, trafficQuery, trafficRows } from '../../api/endpoint-traffic.ts'
import { duration } from '../../controls/amounts.ts'
import { BadNumber } from '../../controls/field-errors.tsx'
import { CardTable } from '../../controls/lists/card-table.tsx'
import { useListAddress } from '../../controls/lists/list-address.ts'
import type { Column } from '../../controls/lists/record-table.tsx'
import { ErrorNotice } from '../../controls/states.tsx'
import { MethodTag } from '../../controls/tags.tsx'
import { operateTexts } from '../../texts/operate.ts'

/**
 * The endpoints of blueprints that were asked for, on the node that answers; the busiest first. What others deploy while
 * this is open is in it after ten seconds at most.
 */
export function EndpointTraffic() {
  const { data: traffic, error } = useQuery(trafficQuery)
  const { data: endpoints } = useQuery({ ...endpointsQuery, refetchInterval: 10_000 })
  const { data: deployed } = useQuery({ ...activeBlueprintsQuery, refetchInterval: 10_000 })
  const [{ sort }, readdress] = useListAddress()
  const rows = endpoints && deployed && trafficRows(endpoints, deployed, traffic?.endpoints, sort)
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2}>{operateTexts.endpoints}</Title>
        <Text size="sm" c="dimmed">
          {operateTexts.nodeSinceStarted}
        </Text>
      </Group>
      {error ? <ErrorNotice error={error} title={operateTexts.couldNotLoadTraffic} /> : null}
      {rows ? (
        <CardTable
          label={operateTexts.trafficOfEndpoints}
          columns={columns}
          records={rows}
          keyOf={({ block, method, uri }) => `${block} ${method} ${uri}`}
          minWidth={680}
          sorting={{ sort, readdress }}
        />
      ) : (
        <div className="surface">
          <Skeleton height={180} />
        </div>
      )}
    </section>
  )
}

const columns: readonly Column<TrafficRow>[] = [
  {
    id: 'endpoint',
    label: operateTexts.endpoint,
    sort: 'endpoint',
    render: ({ blueprint, block, method, uri }) => (
      <Group gap={6} wrap="nowrap">
        <MethodTag method={method} />
        <Anchor component={Link} href={`/blueprints/${blueprint}?block=${block}`} size="sm" ff="monospace">
          {uri || operateTexts.fromAWire}
        </Anchor>
      </Group>
    ),
  },
  {
    id: 'requests',
    label: operateTexts.requests,
    sort: 'requests',
    numeric: true,
    render: ({ traffic }) => traffic?.requests.toLocaleString() ?? 0,
  },
  {
    id: 'rate',
    label: operateTexts.perSecond,
    sort: 'rate',
    numeric: true,
    render: ({ traffic }) => traffic?.rate?.toFixed(1) ?? '–',
  },
  {
    id: 'p50',
    label: operateTexts.p50,
    sort: 'p50',
    numeric: true,
    render: ({ traffic }) => timeOf(traffic?.p50),
  },
  {
    id: 'p95',
    label: operateTexts.p95,
    sort: 'p95',
    numeric: true,
    render: ({ traffic }) => timeOf(traffic?.p95),
  },
  {
    id: 'failed',
    label: operateTexts.failed,
    sort: 'errors',
    numeric: true,
    render: ({ traffic }) => <BadNumber value={traffic?.errors ?? 0} />,
  },
  {
    id: 'run',
    label: operateTexts.run,
    width: 70,
    render: ({ blueprint, block, traffic }) =>
      traffic?.errors ? (
        <Anchor
          component={Link}
          href={`/operate/runs/failed?blueprint=${blueprint}&trigger=${block}`}
          size="sm"
          title={operateTexts.showNewestFailedRun}
        >
          {operateTexts.run}
        </Anchor>
      ) : null,
  },
]

function timeOf(milliseconds: number | undefined): string {
  return milliseconds === undefined ? '–' : duration(milliseconds)
}
