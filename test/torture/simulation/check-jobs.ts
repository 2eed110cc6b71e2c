/** What must hold of the queue, whatever happened to its workers. */
import type { Job } from '../../../src/storage/job.ts'
import type { JobChange } from './job-history.ts'
import type { Diary } from './outcome.ts'
import type { JobNotes } from './wired-jobs.ts'

export interface JobEvidence {
  /** What each job is at the end, by guid. */
  readonly jobs: ReadonlyMap<string, Job>
  /** Guids of the jobs whose transaction was acknowledged; and of those that were undone. */
  readonly acknowledged: ReadonlySet<string>
  readonly undone: ReadonlySet<string>
  readonly history: readonly JobChange[]
  readonly notes: JobNotes
  /** Attempts whose work was done to its end: guid, owner and attempt. */
  readonly worked: ReadonlySet<string>
  /** Ticks that were due later may still wait or run. */
  readonly until: number
}

export const attemptKey = (by: { guid: string; owner: string; attempt: number }) =>
  `${by.guid} ${by.owner} ${by.attempt}`

export function checkJobs(diary: Diary, evidence: JobEvidence): void {
  const { jobs, acknowledged, undone, history } = evidence
  for (const guid of acknowledged) diary.check(jobs.has(guid), `job ${guid} was enqueued and is gone`)
  for (const guid of undone) diary.check(!jobs.has(guid), `job ${guid} was undone and is there`)
  for (const job of jobs.values()) checkEnd(diary, job, evidence)
  for (const change of history) checkChange(diary, change)
  checkFence(diary, evidence)
  for (const { guid, attempt, waits } of evidence.notes.failures) {
    const longest = Math.min(3_600_000, 1_000 * 2 ** (attempt - 1))
    diary.check(
      waits >= longest / 2 && waits <= longest,
      `job ${guid} is tried again ${waits} ms after attempt ${attempt}, not ${longest / 2} to ${longest}`,
    )
  }
}

/** At least once: nothing is left over, and what is done was done by who says so. */
function checkEnd(diary: Diary, job: Job, { worked, until }: JobEvidence): void {
  const { guid, state, attempt, attempts, owner } = job
  const young = job.kind === 'tick' && job.runAt > until
  diary.check(young || state === 'done' || state === 'dead', `job ${guid} is still ${state} at the end`)
  if (state === 'dead')
    diary.check(attempt >= attempts, `job ${guid} is dead after ${attempt} of ${attempts} attempts`)
  if (state === 'done')
    diary.check(worked.has(attemptKey({ guid, owner, attempt })), `job ${guid} is done, and its work was not`)
}

function checkChange(diary: Diary, change: JobChange): void {
  const { guid, was, is, attempt, nextAttempt, at, leaseUntil, runAt } = change
  if (was === 'waiting' && is === 'running') {
    diary.check(nextAttempt === attempt + 1, `job ${guid} went from attempt ${attempt} to ${nextAttempt}`)
    diary.check(runAt <= at, `job ${guid} was claimed ${runAt - at} ms before its time`)
    diary.check(change.better === 0, `job ${guid} was claimed before ${change.better} that come first`)
    diary.check(
      !change.held && change.ahead === 0 && change.beside === 0,
      `job ${guid} was claimed before its turn: ${change.ahead} earlier ones, ${change.beside} running`,
    )
    diary.check(
      change.running <= change.most,
      `${change.running} jobs run in a queue for ${change.most} at once`,
    )
  } else if (was === 'running') {
    // A job that is handed back keeps the error that it had, and its attempt does not count.
    const over = change.error.includes('its lease ran out') && is !== 'done' && nextAttempt === attempt
    diary.check(
      !over || leaseUntil <= at,
      `job ${guid} was taken away ${leaseUntil - at} ms before its lease ran out`,
    )
  } else diary.check(was === is, `job ${guid} went from ${was} to ${is}`)
}

/** A worker that was told that it ended a job owned it at that moment. */
function checkFence(diary: Diary, { history, notes }: JobEvidence): void {
  const left = new Map<string, number>()
  const results = { complete: ['done'], fail: ['waiting', 'dead'], release: ['waiting'] }
  const key = (how: string, by: { guid: string; owner: string; attempt: number }) =>
    `${how} ${attemptKey(by)}`
  for (const change of history) {
    if (change.was !== 'running') continue
    for (const [how, states] of Object.entries(results))
      if (states.includes(change.is)) left.set(key(how, change), (left.get(key(how, change)) ?? 0) + 1)
  }
  for (const end of notes.ends) {
    const count = left.get(key(end.how, end)) ?? 0
    diary.check(
      count > 0,
      `${end.owner} ended (${end.how}) job ${end.guid}, which it did not have at attempt ${end.attempt}`,
    )
    left.set(key(end.how, end), count - 1)
  }
}
