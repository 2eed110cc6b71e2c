import { Badge, Button, Code, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { UndoneRun } from '../../../../shared/api/blueprints/runs.ts'
import type { HistoryEntry, Revision } from '../../../../shared/api/data/documents.ts'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { historyQuery, undoQuery, undoRun } from '../../../api/storages.ts'
import { diffValues } from '../../../controls/json/diff-values.ts'
import { DifferenceTable } from '../../../controls/json/difference-table.tsx'
import { notifyDone } from '../../../controls/notify.ts'
import { EmptyState, ErrorNotice, LoadingScreen } from '../../../controls/states.tsx'
import { Time } from '../../../controls/time.tsx'
import { dataTexts } from '../../../texts/data.ts'
import { controlsTexts } from '../../../texts/shell.ts'

const MOST_SHOWN = 20

/** What taking back a run would do, and the button that does it. */
function UndoDialog({ run, onClose }: { readonly run: string | undefined; readonly onClose: () => void }) {
  return (
    <Modal opened={run !== undefined} onClose={onClose} title={dataTexts.takeBackTitle} size="lg">
      {run === undefined ? null : <Plan run={run} onClose={onClose} />}
    </Modal>
  )
}

function Plan({ run, onClose }: { readonly run: string; readonly onClose: () => void }) {
  const client = useQueryClient()
  const { data, error } = useQuery(undoQuery(run))
  const undo = useMutation({
    mutationFn: (leaveChanged: boolean) => undoRun(run, leaveChanged),
    async onSuccess({ count }) {
      onClose()
      notifyDone(dataTexts.takenBack(count))
      await client.invalidateQueries({ queryKey: ['documents'] })
    },
  })
  if (error) return <ErrorNotice error={error} title={dataTexts.couldNotPlanUndo} />
  if (!data) return <LoadingScreen />
  const { count, left, jobs, outside } = data
  return (
    <Stack gap="md">
      <Text size="sm">{dataTexts.undoCount(count)}</Text>
      <Documents undo={data} />
      {left === 0 && jobs.length > 0 ? <Text size="sm">{dataTexts.undoJobs(jobs.length)}</Text> : null}
      {outside.length > 0 ? <Text size="sm">{dataTexts.undoOutside}</Text> : null}
      <ErrorNotice error={undo.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {controlsTexts.cancel}
        </Button>
        <Button
          color="red"
          loading={undo.isPending}
          disabled={count === 0}
          onClick={() => undo.mutate(left > 0)}
        >
          {left > 0 ? dataTexts.takeBackOthers : dataTexts.takeBack}
        </Button>
      </Group>
    </Stack>
  )
}

function Documents({ undo: { documents, count, left } }: { readonly undo: UndoneRun }) {
  const shown = documents.slice(0, MOST_SHOWN)
  const more = count + left - shown.length
  return (
    <Stack component="ul" gap={4} p={0} m={0} style={{ listStyle: 'none' }}>
      {shown.map(({ storage, document, action, problem }) => (
        <li key={`${storage} ${document}`}>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            <b>{storage}</b>{' '}
            <Text span size="xs" c="dimmed" ff="monospace">
              {document}
            </Text>{' '}
            {problem === null ? (
              dataTexts.undoActions[action]
            ) : (
              <Text span c="red">
                {problem}
              </Text>
            )}
          </Text>
        </li>
      ))}
      {more > 0 ? <li>{dataTexts.undoMore(more)}</li> : null}
    </Stack>
  )
}

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
  const [undoing, setUndoing] = useState<string>()
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
    <>
      <Stack component="ol" gap="sm" p={0} m={0} style={{ listStyle: 'none' }} maw={960}>
        {data.map((entry) => (
          <Entry key={entry._meta.guid} entry={entry} onUndo={setUndoing} />
        ))}
      </Stack>
      <UndoDialog run={undoing} onClose={() => setUndoing(undefined)} />
    </>
  )
}

function Entry({
  entry: { _meta, action, user, run, revisions },
  onUndo,
}: {
  readonly entry: HistoryEntry
  readonly onUndo: (run: string) => void
}) {
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
            <Button size="compact-xs" variant="subtle" ml="auto" onClick={() => onUndo(run)}>
              {dataTexts.takeBack}
            </Button>
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
