import { Alert, Button, Group, Progress, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Job } from '../../../../shared/api/operate/queues.ts'
import { isJsonObject } from '../../../../shared/json.ts'
import { call } from '../../../api/request.ts'
import { forgetDocuments } from '../../../api/storages.ts'
import { ErrorNotice } from '../../../controls/error-notice.tsx'
import { notifyFailed } from '../../../controls/notify.ts'
import { gridTexts } from '../../../texts/grid.ts'

interface JobProgressProps {
  readonly job: string
  readonly storage: string
  readonly onClose: () => void
}

/** How far a job has come that changes many documents. */
export function JobProgress({ job, storage, onClose }: JobProgressProps) {
  const { data, error } = useQuery({
    queryKey: ['queues', 'progress', job],
    queryFn: ({ signal }) => call<Job>('GET', `/queue/${job}`, { signal }),
    refetchInterval: (query) => (query.state.data?.progress?.finished === true ? false : 1_000),
    retry: false,
  })
  const progress = data?.progress
  const finished = progress?.finished === true
  useEffect(() => {
    if (finished) void forgetDocuments(storage)
  }, [finished, storage])
  if (error) return <ErrorNotice error={error} title={gridTexts.progressFailed} />
  const { done = 0, total = 0, changed = 0, refused = 0, problems = [] } = progress ?? {}
  const cancel = () =>
    call('DELETE', `/queue/${job}`).then(onClose, (failed) =>
      notifyFailed(gridTexts.couldNotCancelJob, failed),
    )
  return (
    <Alert
      mb="sm"
      title={finished ? gridTexts.theDocumentsAreChanged : gridTexts.jobChangesDocuments}
      role="status"
    >
      <Progress
        value={finished ? 100 : total === 0 ? 0 : (done / total) * 100}
        aria-label={gridTexts.progress}
        mb={6}
      />
      <Text size="sm">
        {gridTexts.changedSoFar(
          changed.toLocaleString(),
          refused,
          refused.toLocaleString(),
          total.toLocaleString(),
        )}
      </Text>
      {problems
        .filter(isJsonObject)
        .slice(0, 5)
        .map((problem) => (
          <Text size="sm" key={String(problem.guid)}>
            {String(problem.guid)}: {String(problem.message)}
          </Text>
        ))}
      <Group justify="flex-end">
        {finished ? null : (
          <Button size="compact-sm" variant="default" onClick={() => void cancel()}>
            {gridTexts.cancel}
          </Button>
        )}
        <Button size="compact-sm" variant="default" onClick={onClose}>
          {finished ? gridTexts.close : gridTexts.hide}
        </Button>
      </Group>
    </Alert>
  )
}
