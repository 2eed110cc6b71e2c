import type { Access } from '../access/access.ts'
import { openAwaitedDocuments } from '../flows/background/awaited-documents.ts'
import { deadJob, failedIn, failedRun, missedSchedule } from '../flows/background/failed-run.ts'
import { openFailures } from '../flows/background/failures.ts'
import { jobRunner } from '../flows/background/run-job.ts'
import { liveSchedules } from '../flows/background/schedules.ts'
import { openStorageEvents } from '../flows/background/storage-events.ts'
import type { Flows } from '../flows/flows.ts'
import type { Runs } from '../flows/run-pipeline.ts'
import { jobSpans } from '../flows/samples/run-spans.ts'
import { sendAlert } from '../flows/send-alert.ts'
import type { QueueDepth } from '../http/metrics/metrics.ts'
import type { JobsAtOnce } from '../options/limit-options.ts'
import { openQueue, type Queue } from '../queue/queue-worker.ts'
import { openScheduler, type Scheduler } from '../queue/scheduler.ts'
import type { MailJob } from '../records/mail/send-mail.ts'
import type { Clock } from '../shared/clock.ts'
import type { Random } from '../shared/guid.ts'
import type { Telemetry } from '../shared/telemetry.ts'
import type { Database } from '../storage/database.ts'
import type { Job, QueueState } from '../storage/job.ts'
import { releasers } from './releasers.ts'

export interface BackgroundOptions {
  readonly database: Database
  readonly flows: Flows
  readonly runs: Runs
  readonly access: Access
  readonly clock: Clock
  readonly random: Random
  /** Writes still leave their events and jobs, but nothing runs them and nothing is planned. */
  readonly offline: boolean
  readonly jobsAtOnce: JobsAtOnce
  readonly telemetry: Telemetry | undefined
  /** Sends the mail of a job. */
  readonly mail: (job: MailJob, signal: AbortSignal) => Promise<void>
}

export interface Background {
  /** undefined offline: to plan nothing would be to forget what was planned. */
  readonly scheduler: Scheduler | undefined
  readonly queue: Queue | undefined
  /** For tests of flows: forgets what it knows of schedules and failures. */
  forget(): Promise<void>
  close(): Promise<void>
}

/** The work that no request waits for: events of storages, the queue, and schedules. */
export async function openBackground(options: BackgroundOptions): Promise<Background> {
  const { database, flows, runs, access, clock, random, offline } = options
  const { live, log } = flows
  const opened = releasers()
  opened.add(openStorageEvents({ database, live, log }))
  opened.add(await openAwaitedDocuments({ database, live }))
  const failures = openFailures({ database, live, clock, log })
  opened.add(() => failures.close())
  flows.whenRunFails((entry) => failures.note(failedRun(entry, clock())))
  const write = (entry: Parameters<typeof log.write>[0]) => log.write(entry)
  if (offline)
    return { scheduler: undefined, queue: undefined, forget: () => failures.forget(), close: opened.release }
  const scheduler = await openScheduler({
    database,
    clock,
    schedules: liveSchedules(flows, runs),
    onChange: (listener) => live.watch(listener),
    missed: ({ schedule: { blueprint, block }, count, since, now, message }) =>
      failures.jobsOf(missedSchedule(blueprint, block, message, now), count, since),
    log: write,
  })
  opened.add(() => scheduler.close())
  const runJob = jobSpans(
    options.telemetry,
    jobRunner({
      ...{ flows, runs, sendMail: options.mail },
      sendAlert: (job, signal) => sendAlert(flows, job, signal),
      findUser: (guid) => access.getUser(guid),
      findActive: (guid) => access.activeUser(guid),
    }),
  )
  const died = async (job: Job, error: unknown) => {
    const failure = deadJob(job, error, clock())
    if (failure) await failures.tell(failure)
  }
  const settings = options.jobsAtOnce
  const work = { runJob, died, failedIn, settings }
  const queue = openQueue({ ...database.capabilities, ...work, clock, random, log: write })
  opened.add(() => queue.close())
  const forget = async () => {
    await scheduler.forget()
    await failures.forget()
  }
  return { scheduler, queue, forget, close: opened.release }
}

/** For metrics: how many jobs of each state are in each queue. */
export function queueDepths(queues: readonly QueueState[]): QueueDepth[] {
  return queues.flatMap(({ name, waiting, running, dead }) => [
    { queue: name, state: 'waiting', jobs: waiting },
    { queue: name, state: 'running', jobs: running },
    { queue: name, state: 'dead', jobs: dead },
  ])
}
