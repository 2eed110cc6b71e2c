import { Badge, Group, Progress, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { NodeRecord } from '../../../shared/api/operate/nodes.ts'
import { nodesQuery } from '../../api/operations.ts'
import { CardTable } from '../../controls/lists/card-table.tsx'
import type { Column } from '../../controls/lists/record-table.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { ErrorNotice } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { operateTexts } from '../../texts/operate.ts'

const columns: readonly Column<NodeRecord>[] = [
  {
    id: 'name',
    label: operateTexts.name,
    render: ({ name, self }) => (
      <Group gap={6}>
        {name}
        {self ? <Badge color="petrol">{operateTexts.servesThisStudio}</Badge> : null}
      </Group>
    ),
  },
  {
    id: 'state',
    label: operateTexts.state,
    render: ({ live }) => (
      <Badge color={live ? 'green' : 'red'}>{live ? operateTexts.live : operateTexts.gone}</Badge>
    ),
  },
  { id: 'load', label: operateTexts.load, width: 220, render: (node) => <Load {...node} /> },
  { id: 'version', label: operateTexts.version, render: ({ version }) => version },
  { id: 'started', label: operateTexts.started, render: ({ started }) => <Time at={started} /> },
  { id: 'seen', label: operateTexts.seen, render: ({ seen }) => <Time at={seen} /> },
]

/** The running processes of the cluster. */
export function NodesScreen() {
  const { data, error, refetch } = useQuery(nodesQuery)
  return (
    <>
      <ScreenHead title={operateTexts.nodes} about={operateTexts.nodesAbout} />
      {error ? <ErrorNotice error={error} title={operateTexts.couldNotLoadNodes} onRetry={refetch} /> : null}
      {data ? (
        <CardTable
          label={operateTexts.nodes}
          columns={columns}
          records={data}
          keyOf={({ guid }) => guid}
          minWidth={640}
        />
      ) : (
        <div className="surface">
          <Skeleton height={92} />
        </div>
      )}
    </>
  )
}

function Load({ load, name }: { readonly load: number; readonly name: string }) {
  return (
    <Group gap="xs" wrap="nowrap" flex={1}>
      <Progress
        value={load * 100}
        color={load > 0.8 ? 'red' : 'petrol'}
        flex={1}
        aria-label={operateTexts.loadOf(name)}
      />
      <Text size="xs" c="dimmed" w={36} ta="right">
        {Math.round(load * 100)} %
      </Text>
    </Group>
  )
}
