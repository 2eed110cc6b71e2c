import { Anchor, Group, Skeleton, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { endpointsQuery } from '../../api/blueprints.ts'
import { endpointKey, type Traffic, trafficQuery } from '../../api/endpoint-traffic.ts'
import { duration } from '../../controls/amounts.ts'
import { BadNumber } from '../../controls/bad-number.tsx'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { CardTable } from '../../controls/lists/card-table.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { MethodTag } from '../../controls/method-tag.tsx'

/** The endpoints of blueprints that were asked for, on the node that answers; the busiest first. */
export function EndpointTraffic() {
  const { data: traffic, error } = useQuery(trafficQuery)
  const { data: endpoints } = useQuery(endpointsQuery)
  const rows = [...(endpoints ?? [])]
    .flatMap(([blueprint, list]) => list.map(({ method, uri, block }) => ({ blueprint, method, uri, block })))
    .map((row): TrafficRow => ({ ...row, traffic: traffic?.endpoints.get(endpointKey(row.method, row.uri)) }))
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
      {endpoints ? (
        <CardTable
          label="Traffic of endpoints"
          columns={columns}
          records={rows}
          keyOf={({ block, method, uri }) => `${block} ${method} ${uri}`}
          minWidth={680}
        />
      ) : (
        <div className="surface">
          <Skeleton height={180} />
        </div>
      )}
    </section>
  )
}

interface TrafficRow {
  readonly blueprint: string
  readonly block: string
  readonly method: string
  readonly uri: string
  /** Undefined before the first request. */
  readonly traffic: Traffic | undefined
}

const columns: readonly Column<TrafficRow>[] = [
  {
    id: 'endpoint',
    label: 'Endpoint',
    render: ({ blueprint, block, method, uri }) => (
      <Group gap={6} wrap="nowrap">
        <MethodTag method={method} />
        <Anchor component={Link} href={`/blueprints/${blueprint}?block=${block}`} size="sm" ff="monospace">
          {uri || '(from a wire)'}
        </Anchor>
      </Group>
    ),
  },
  {
    id: 'requests',
    label: 'Requests',
    numeric: true,
    render: ({ traffic }) => traffic?.requests.toLocaleString() ?? 0,
  },
  {
    id: 'rate',
    label: 'Per second',
    numeric: true,
    render: ({ traffic }) => traffic?.rate?.toFixed(1) ?? '–',
  },
  { id: 'p50', label: 'p50', numeric: true, render: ({ traffic }) => timeOf(traffic?.p50) },
  { id: 'p95', label: 'p95', numeric: true, render: ({ traffic }) => timeOf(traffic?.p95) },
  {
    id: 'failed',
    label: 'Failed',
    numeric: true,
    render: ({ traffic }) => <BadNumber value={traffic?.errors ?? 0} />,
  },
  {
    id: 'run',
    label: 'Run',
    width: 70,
    render: ({ blueprint, block, traffic }) =>
      traffic?.errors ? (
        <Anchor
          component={Link}
          href={`/operate/runs/failed?blueprint=${blueprint}&trigger=${block}`}
          size="sm"
          title="Show the newest failed run on the canvas"
        >
          Run
        </Anchor>
      ) : null,
  },
]

function timeOf(milliseconds: number | undefined): string {
  return milliseconds === undefined ? '–' : duration(milliseconds)
}
