import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { UndoneRun } from '../../../../shared/api/blueprints/runs.ts'
import { undoQuery, undoRun } from '../../../api/storages.ts'
import { ErrorNotice } from '../../../controls/error-notice.tsx'
import { LoadingScreen } from '../../../controls/loading-screen.tsx'
import { notifyDone } from '../../../controls/notify.ts'
import { controlsTexts } from '../../../texts/controls.ts'
import { dataTexts } from '../../../texts/data.ts'

const MOST_SHOWN = 20

/** What taking back a run would do, and the button that does it. */
export function UndoDialog({
  run,
  onClose,
}: {
  readonly run: string | undefined
  readonly onClose: () => void
}) {
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
