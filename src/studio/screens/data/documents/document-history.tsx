import { Badge, Code, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { HistoryEntry, Revision } from '../../../../shared/api/data/documents.ts'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { historyQuery } from '../../../api/storages.ts'
import { diffValues } from '../../../controls/json/diff-values.ts'
import { DifferenceTable } from '../../../controls/json/difference-table.tsx'
import { EmptyState, ErrorNotice, LoadingScreen } from '../../../controls/states.tsx'
import { Time } from '../../../controls/time.tsx'
import { UndoRun } from '../../../controls/undo-run.tsx'
import { dataTexts } from '../../../texts/data.ts'

const colours = {
  created: 'green',
  updated: 'petrol',
  removed: 'red',
  restored: 'green',
  deleted: 'red',
} as const

/** Who wrote the document, when, and how each field was before. */
export function DocumentHistory({
  storage,
  guid,
}: {
  readonly storage: StorageRecord
  readonly guid: string
}) {
  const { data, error, refetch } = useQuery(historyQuery(storage._meta.guid, guid))
  if (error) return <ErrorNotice error={error} title={dataTexts.couldNotLoadHistory} onRetry={refetch} />
  if (!data) return <LoadingScreen />
  if (data.length === 0)
    return (
      <EmptyState icon="history" title={dataTexts.noHistory}>
        <Text size="sm">{storage.history ? dataTexts.historyEmpty : dataTexts.historyOff}</Text>
      </EmptyState>
    )
  return (
    <Stack component="ol" gap="sm" p={0} m={0} style={{ listStyle: 'none' }} maw={960}>
      {data.map((entry) => (
        <Entry key={entry._meta.guid} entry={entry} />
      ))}
    </Stack>
  )
}

function Entry({ entry: { _meta, action, user, run, revisions } }: { readonly entry: HistoryEntry }) {
  return (
    <li className="surface" style={{ padding: 14 }}>
      <Group gap="xs" mb={revisions.length > 0 ? 8 : 0}>
        <Badge color={colours[action]}>{action}</Badge>
        <Text size="sm">
          {dataTexts.by} <b>{user.username}</b> <Time at={_meta.created} />
        </Text>
        {run === null ? null : (
          <>
            <Text size="xs" c="dimmed">
              {dataTexts.inRun} <Code>{run}</Code>
            </Text>
            <UndoRun run={run} size="compact-xs" variant="subtle" ml="auto" />
          </>
        )}
      </Group>
      {revisions.length > 0 ? <DifferenceTable differences={revisions.flatMap(differencesOf)} /> : null}
    </li>
  )
}

function differencesOf({ key, value, previous_value }: Revision) {
  return diffValues(previous_value ?? undefined, value, key)
}
