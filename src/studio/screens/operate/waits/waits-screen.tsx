import { Badge, Code, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Wait } from '../../../../shared/api/waits.ts'
import { blueprintNamesQuery } from '../../../api/blueprints.ts'
import { findWaits } from '../../../api/waits.ts'
import { EmptyState } from '../../../controls/empty-state.tsx'
import type { Column } from '../../../controls/lists/column.ts'
import { useListAddress } from '../../../controls/lists/list-address.ts'
import { RecordTable } from '../../../controls/lists/record-table.tsx'
import { filtersOf, SelectFilter } from '../../../controls/lists/select-filter.tsx'
import { openAddress } from '../../../controls/open-address.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { Time } from '../../../controls/time.tsx'
import { WaitDrawer } from './wait-drawer.tsx'
import { kindLabels } from './wait-ways.ts'

type Names = ReadonlyMap<string, string>

const columnsWith = (names: Names | undefined): readonly Column<Wait>[] => [
  { id: 'title', label: 'Run', sort: 'title', render: ({ title }) => title },
  {
    id: 'kind',
    label: 'Waits for',
    sort: 'kind',
    width: 190,
    render: ({ kind, storage, state }) => (
      <Group gap={6}>
        <Badge color="petrol">{kindLabels[kind]}</Badge>
        {storage}
        {state === 'resumed' ? <Badge color="gray">continues</Badge> : null}
      </Group>
    ),
  },
  { id: 'blueprint', label: 'Blueprint', render: ({ blueprint }) => names?.get(blueprint) ?? '' },
  {
    id: 'since',
    label: 'Since',
    sort: '_meta.cms',
    width: 130,
    render: ({ _meta }) => <Time at={_meta.created} />,
  },
  {
    id: 'until',
    label: 'Until',
    width: 130,
    render: ({ until }) => <Time at={until} never="it is ended" />,
  },
]

/** Runs that wait for a time, a person, a service or a document: listed, read, continued and cancelled. */
export function WaitsScreen() {
  const [, , words] = useListAddress()
  const { data: names } = useQuery(blueprintNamesQuery)
  const blueprints = [...(names ?? [])].map(([value, label]) => ({ value, label }))
  return (
    <>
      <ScreenHead
        title="Waiting runs"
        about="Runs that wait for a time, an approval, a webhook or a document. They survive restarts and deploys."
      />
      <Group mb="sm" gap="sm">
        <SelectFilter name="blueprint" label="Blueprint" options={blueprints} width={220} />
        <SelectFilter
          name="kind"
          label="Waits for"
          options={Object.entries(kindLabels).map(([value, label]) => ({ value, label }))}
        />
      </Group>
      <RecordTable<Wait>
        label="Waiting runs"
        queryKey={['waits', 'list']}
        load={findWaits}
        body={filtersOf(words, { blueprint: 'blueprint', kind: 'kind' })}
        columns={columnsWith(names)}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress('/operate/waits', words, _meta.guid)}
        refetchInterval={5_000}
        minWidth={760}
        empty={
          <EmptyState icon="operate" title="No run waits">
            <Text size="sm">
              Blocks such as <Code>wait</Code> and <Code>wait_for_approval</Code> store a run here and
              continue it later.
            </Text>
          </EmptyState>
        }
      />
      <WaitDrawer />
    </>
  )
}
