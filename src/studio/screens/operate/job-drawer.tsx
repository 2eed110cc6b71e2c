import { Alert, Anchor, Button, Code, Group, Stack } from '@mantine/core'
import { Link } from 'wouter'
import type { Job } from '../../../shared/api/queues.ts'
import { isJsonObject } from '../../../shared/json.ts'
import { forgetJobs, readJob, removeJob, requeueJob } from '../../api/operations.ts'
import { confirm } from '../../controls/confirm.ts'
import { Facts } from '../../controls/facts.tsx'
import { JsonView } from '../../controls/json/json-view.tsx'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'
import { RecordDrawer } from '../../controls/record-drawer.tsx'
import { RunLink } from '../../controls/run-link.tsx'
import { Time } from '../../controls/time.tsx'
import { JobState } from './job-state.tsx'

export function JobDrawer() {
  return (
    <RecordDrawer<Job> title="Job" queryKey={['jobs', 'one']} load={readJob}>
      {(job, close) => <Opened job={job} close={close} />}
    </RecordDrawer>
  )
}

function Opened({ job, close }: { readonly job: Job; readonly close: () => void }) {
  const requeue = async () => {
    try {
      await requeueJob(job._meta.guid)
      notifyDone('Job will run again')
      await forgetJobs()
    } catch (error) {
      notifyFailed('Could not run the job again', error)
    }
  }
  return (
    <Stack gap="md">
      {job.error === null ? null : (
        <Alert color="red" title="Why the last attempt failed">
          {job.error}
          {job.failed_in === null ? null : (
            <div>
              <RunLink run={job.failed_in.run} label="Show the run on the canvas" />
            </div>
          )}
        </Alert>
      )}
      <Facts
        facts={{
          State: <JobState job={job} />,
          Title: job.title,
          Queue: job.queue,
          Kind: job.type,
          'Waiting run': waitOf(job) === '' ? null : <WaitLink guid={waitOf(job)} />,
          Attempts: `${job.attempts} of ${job.max_attempts}`,
          Priority: String(job.priority),
          Made: <Time at={job._meta.created} exact />,
          Due: <Time at={job.scheduled_for} exact />,
          Begun: <Time at={job.started_at} exact />,
          Ended: <Time at={job.completed_at} exact />,
          Worker: job.worker_id,
          'Order key': job.order_key,
          'Idempotency key': job.dedupe_key,
          Guid: <Code>{job._meta.guid}</Code>,
        }}
      />
      <JsonView value={job.data} label="Data of the job" />
      <Group gap="xs">
        {job.status === 'dead' ? <Button onClick={() => void requeue()}>Run again</Button> : null}
        <Button variant="default" color="red" onClick={() => askToRemove(job, close)}>
          {job.status === 'waiting' || job.status === 'running' ? 'Cancel the job' : 'Remove'}
        </Button>
      </Group>
    </Stack>
  )
}

/** Guid of the wait that the job continues; empty for another job, also one that looks at documents which runs wait for. */
function waitOf({ type, data }: Job): string {
  return type === 'wait' && isJsonObject(data) && typeof data.wait === 'string' ? data.wait : ''
}

function WaitLink({ guid }: { readonly guid: string }) {
  return (
    <Anchor component={Link} href={`/operate/waits?open=${guid}`} size="sm">
      Show it
    </Anchor>
  )
}

function askToRemove(job: Job, close: () => void): void {
  const { _meta, status } = job
  confirm({
    title: status === 'running' ? 'Stop this job?' : 'Remove this job?',
    text:
      status === 'running'
        ? 'The job is asked to stop within a few seconds. Its committed writes stay.'
        : status === 'waiting'
          ? waitOf(job) !== ''
            ? 'The run that waits for it never continues. This cannot be undone.'
            : 'It will not run.'
          : 'Its record and its data are removed.',
    action: status === 'running' ? 'Stop it' : 'Remove',
    run: async () => {
      await removeJob(_meta.guid)
      close()
      await forgetJobs()
    },
  })
}
