import { Alert, Anchor, Badge, Button, Code, Group, Stack } from '@mantine/core'
import { Link } from 'wouter'
import type { Job, JobSummary } from '../../../shared/api/operate/queues.ts'
import { isJsonObject } from '../../../shared/json.ts'
import { forgetJobs, readJob, removeJob, requeueJob } from '../../api/operations.ts'
import { confirm } from '../../controls/confirm.ts'
import { Facts } from '../../controls/facts.tsx'
import { JsonView } from '../../controls/json/json-view.tsx'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'
import { RecordDrawer } from '../../controls/record-drawer.tsx'
import { RunLink } from '../../controls/run-link.tsx'
import { isRequestLetter, SendAgain } from '../../controls/send-again.tsx'
import { Time } from '../../controls/time.tsx'
import { operateTexts } from '../../texts/operate.ts'
import { queueName } from './queue-controls.tsx'

export function JobDrawer() {
  return (
    <RecordDrawer<Job> title={operateTexts.job} queryKey={['jobs', 'one']} load={readJob}>
      {(job, close) => <Opened job={job} close={close} />}
    </RecordDrawer>
  )
}

function Opened({ job, close }: { readonly job: Job; readonly close: () => void }) {
  const requeue = async () => {
    try {
      await requeueJob(job._meta.guid)
      notifyDone(operateTexts.jobWillRunAgain)
      await forgetJobs()
    } catch (error) {
      notifyFailed(operateTexts.couldNotRunJob, error)
    }
  }
  return (
    <Stack gap="md">
      {job.error === null ? null : (
        <Alert color="red" title={operateTexts.whyLastAttemptFailed}>
          {job.error}
          {job.failed_in === null ? null : (
            <div>
              <RunLink run={job.failed_in.run} label={operateTexts.showRunCanvas} />
            </div>
          )}
        </Alert>
      )}
      <Facts
        facts={{
          [operateTexts.state]: <JobState job={job} />,
          [operateTexts.title]: job.title,
          [operateTexts.queue]: queueName(job.queue),
          [operateTexts.kind]: operateTexts.jobKinds[job.type],
          [operateTexts.waitingRun]: waitOf(job) === '' ? null : <WaitLink guid={waitOf(job)} />,
          [operateTexts.attempts]: operateTexts.attemptsOf(job.attempts, job.max_attempts),
          [operateTexts.priority]: String(job.priority),
          [operateTexts.made]: <Time at={job._meta.created} exact />,
          [operateTexts.due]: <Time at={job.scheduled_for} exact />,
          [operateTexts.begun]: <Time at={job.started_at} exact />,
          [operateTexts.ended]: <Time at={job.completed_at} exact />,
          [operateTexts.worker]: job.worker_id,
          [operateTexts.orderKey]: job.order_key,
          [operateTexts.idempotencyKey]: job.dedupe_key,
          [operateTexts.guid]: <Code>{job._meta.guid}</Code>,
        }}
      />
      <JsonView value={job.data} label={operateTexts.dataOfTheJob} />
      <Group gap="xs">
        {isRequestLetter(job) ? (
          <SendAgain of={job} />
        ) : job.status === 'dead' ? (
          <Button onClick={() => void requeue()}>{operateTexts.runAgain}</Button>
        ) : null}
        <Button variant="default" color="red" onClick={() => askToRemove(job, close)}>
          {job.status === 'waiting' || job.status === 'running'
            ? operateTexts.cancelTheJob
            : operateTexts.remove}
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
      {operateTexts.showIt}
    </Anchor>
  )
}

function askToRemove(job: Job, close: () => void): void {
  const { _meta, status } = job
  confirm({
    title: status === 'running' ? operateTexts.stopThisJob : operateTexts.removeThisJob,
    text:
      status === 'running'
        ? operateTexts.stopJobText
        : status === 'waiting'
          ? waitOf(job) !== ''
            ? operateTexts.removeWaitingText
            : operateTexts.removeDueText
          : operateTexts.removeDoneText,
    action: status === 'running' ? operateTexts.stopIt : operateTexts.remove,
    run: async () => {
      await removeJob(_meta.guid)
      close()
      await forgetJobs()
    },
  })
}

const states = {
  waiting: ['waiting', 'gray'],
  running: ['running', 'petrol'],
  done: ['done', 'green'],
  dead: [operateTexts.deadLetter, 'red'],
} as const

export function JobState({ job }: { readonly job: JobSummary }) {
  const [label, color] = states[job.status]
  return <Badge color={color}>{label}</Badge>
}
