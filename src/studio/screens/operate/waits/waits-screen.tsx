import { Badge, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Wait } from '../../../../shared/api/operate/waits.ts'
import { blueprintNamesQuery } from '../../../api/blueprints.ts'
import { findWaits } from '../../../api/operate.ts'
import { filtersOf, SelectFilter } from '../../../controls/lists/filters.tsx'
import { useListAddress } from '../../../controls/lists/list-address.ts'
import { type Column, RecordTable } from '../../../controls/lists/record-table.tsx'
import { openAddress } from '../../../controls/save-file.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { EmptyState } from '../../../controls/states.tsx'
import { Time } from '../../../controls/time.tsx'
import { waitsTexts } from '../../../texts/alerts.ts'
import { MoveDialog } from './move-dialog.tsx'
import { WaitDrawer } from './wait-drawer.tsx'
import { kindLabels } from './wait-ways.ts'

type Names = ReadonlyMap<string, string>

const columnsWith = (names: Names | undefined): readonly Column<Wait>[] => [
  { id: 'title', label: waitsTexts.run, sort: 'title', render: ({ title }) => title },
  {
    id: 'kind',
    label: waitsTexts.waitsFor,
    sort: 'kind',
    width: 190,
    render: ({ kind, storage, state, error }) => (
      <Group gap={6}>
        <Badge color="petrol">{kindLabels[kind]}</Badge>
        {storage}
        {error !== '' ? (
          <Badge color="red">{waitsTexts.failed}</Badge>
        ) : state === 'resumed' ? (
          <Badge color="gray">{waitsTexts.continues}</Badge>
        ) : null}
      </Group>
    ),
  },
  { id: 'blueprint', label: waitsTexts.blueprint, render: ({ blueprint }) => names?.get(blueprint) ?? '' },
  {
    id: 'since',
    label: waitsTexts.since,
    sort: '_meta.cms',
    width: 130,
    render: ({ _meta }) => <Time at={_meta.created} />,
  },
  {
    id: 'until',
    label: waitsTexts.until,
    width: 130,
    render: ({ until }) => <Time at={until} never={waitsTexts.noTimeLimit} />,
  },
]

/** Runs that wait for a time, a person, a service or a document: listed, read, continued and cancelled. */
export function WaitsScreen() {
  const [, , words] = useListAddress()
  const { data: names } = useQuery(blueprintNamesQuery)
  const [moving, setMoving] = useState(false)
  const chosen = filtersOf(words, { blueprint: 'blueprint' }).filters?.blueprint
  const blueprints = [...(names ?? [])].map(([value, label]) => ({ value, label }))
  return (
    <>
      <ScreenHead title={waitsTexts.waitingRuns} about={waitsTexts.waitingRunsAbout}>
        {chosen === undefined ? null : (
          <Button variant="default" onClick={() => setMoving(true)}>
            {waitsTexts.moveRuns}
          </Button>
        )}
      </ScreenHead>
      {chosen === undefined ? null : (
        <MoveDialog blueprint={chosen} opened={moving} onClose={() => setMoving(false)} />
      )}
      <Group mb="sm" gap="sm">
        <SelectFilter name="blueprint" label={waitsTexts.blueprint} options={blueprints} width={220} />
        <SelectFilter
          name="kind"
          label={waitsTexts.waitsFor}
          options={Object.entries(kindLabels).map(([value, label]) => ({ value, label }))}
        />
      </Group>
      <RecordTable<Wait>
        label={waitsTexts.waitingRuns}
        queryKey={['waits', 'list']}
        load={findWaits}
        body={filtersOf(words, { blueprint: 'blueprint', kind: 'kind' })}
        columns={columnsWith(names)}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress('/operate/waits', words, _meta.guid)}
        refetchInterval={5_000}
        minWidth={720}
        empty={
          <EmptyState icon="operate" title={waitsTexts.noRunWaits}>
            <Text size="sm">
              {waitsTexts.noRunWaitsText} <em>{waitsTexts.waitBlock}</em> {waitsTexts.and}{' '}
              <em>{waitsTexts.approvalBlock}</em> {waitsTexts.noRunWaitsRest}
            </Text>
          </EmptyState>
        }
      />
      <WaitDrawer />
    </>
  )
}
