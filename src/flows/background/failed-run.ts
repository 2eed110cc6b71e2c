import { QuoinError } from '../../shared/errors.ts'
import type { Failure } from '../../shared/failure.ts'
import { textIn } from '../../storage/document-fields.ts'
import type { FailedIn, Job } from '../../storage/job.ts'
import { BlockFailure } from '../compile/block-failure.ts'
import { drawnBlock } from '../compile/expand-resources.ts'
import type { RunLogEntry } from '../run/run-environment.ts'

/** What failed: guids of the blueprint and of the trigger's block. */
interface FailedFlow {
  readonly blueprint: string
  readonly trigger: string
}

/** What a job has failed with whose run failed: the true reason, for users who may read the queue; a client never sees it. */
export class FailedRun extends Error {
  readonly run: string
  readonly blueprint: string
  readonly code: string
  readonly trigger: string
  readonly block: string
  readonly pin: string

  constructor(run: string, error: QuoinError, { blueprint, trigger }: FailedFlow) {
    const cause = error.cause instanceof Error ? error.cause : error
    super(`${cause.message} (run ${run})`, { cause: error })
    this.name = 'FailedRun'
    this.run = run
    this.blueprint = blueprint
    this.code = error.code
    this.trigger = drawnBlock(trigger)
    const failure = cause instanceof BlockFailure ? cause : undefined
    this.block = failure ? drawnBlock(failure.block) : ''
    this.pin = failure?.pin ?? ''
  }
}

/** Where a job failed; undefined if no run of it did. */
export function failedIn(error: unknown): FailedIn | undefined {
  if (!(error instanceof FailedRun)) return undefined
  const { run, blueprint, block } = error
  return { run, blueprint, block }
}

/** A run that failed, of its log entry. */
export function failedRun(
  { failed, message, run, blueprint, block = '', pin = '' }: RunLogEntry,
  time: number,
): Failure {
  const { code = '', trigger = '', job = '' } = failed ?? {}
  const event = job === '' ? 'on_run_failed' : 'on_attempt_failed'
  return { event, blueprint, block, pin, trigger, code, message, run, job, time }
}

/**
 * A job that has become a dead letter; undefined if no flow is to be told of it. `error`: what its last attempt failed with;
 * undefined when its worker stopped answering.
 */
export function deadJob(
  { guid, payload, lastError }: Job,
  error: unknown,
  time: number,
): Failure | undefined {
  if (payload.after_failure === true) return undefined
  const run = error instanceof FailedRun ? error : undefined
  const code = error instanceof QuoinError ? error.code : 'INTERNAL'
  const message = error instanceof Error ? error.message : (lastError ?? String(error))
  return {
    event: 'on_job_dead',
    blueprint: textIn(payload.blueprint),
    block: run?.block ?? '',
    pin: run?.pin ?? '',
    trigger: run?.trigger ?? textIn(payload.block),
    code: run?.code ?? code,
    ...{ message, run: run?.run ?? '', job: guid, time },
  }
}

export function missedSchedule(blueprint: string, block: string, message: string, time: number): Failure {
  const about = { block: '', pin: '', trigger: drawnBlock(block), code: 'MISSED', message, run: '', job: '' }
  return { event: 'on_schedule_missed', blueprint, ...about, time }
}
