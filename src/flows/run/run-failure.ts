import { setTimeout as wait } from 'node:timers/promises'
import { QuoinError } from '../../shared/errors.ts'
import { Unconfirmed } from '../../storage/unit-of-work.ts'
import { BlockFailure, RunStopped } from '../compile/block-failure.ts'
import type { UnhandledOutcome } from '../compile/frame.ts'
import type { RunLogEntry } from './run-environment.ts'

/** The error that a failed run gives its caller, and its log entry; undefined when nothing is logged. */
export interface RunFailure {
  readonly reported: QuoinError
  readonly entry: Pick<RunLogEntry, 'level' | 'message' | 'block' | 'pin'> | undefined
}

/** `requested`: a client waits for the reply. A job has no client. */
export function explainFailure(error: unknown, requested: boolean): RunFailure {
  if (error instanceof RunStopped) {
    const entry = { level: 'error', message: error.message } as const
    if (error.reason === 'depth')
      return { reported: new QuoinError('INTERNAL', 'internal error', { cause: error }), entry }
    // A builder stopped it at a breakpoint: nothing to log.
    if (error.reason === 'stopped') {
      return { reported: new QuoinError('CONFLICT', error.message, { cause: error }), entry: undefined }
    }
    const message = error.reason === 'shutdown' ? 'the run was stopped' : 'the request took too long'
    return { reported: new QuoinError('UNAVAILABLE', message, { cause: error }), entry }
  }
  const failure = error instanceof BlockFailure ? error : undefined
  const client = failure?.clientError() ?? (error instanceof QuoinError ? error : undefined)
  const reported = client ?? new QuoinError('INTERNAL', 'internal error', { cause: error })
  const message = error instanceof Error ? error.message : String(error)
  const place = { message, block: failure?.block, pin: failure?.pin }
  if (requested && failure?.isMadeLine) return { reported, entry: { level: 'warn', ...place } }
  // A request that did not fit is the requester's affair and would only fill the log.
  if (reported.status < 500 && requested && !failure?.isOutdated) return { reported, entry: undefined }
  return { reported, entry: { level: 'error', ...place } }
}

/** The stop of a node has ended the run: that is no failure of its flow. A job is tried again, and a client asks again. */
export function isShutdown(error: unknown): boolean {
  return error instanceof RunStopped && error.reason === 'shutdown'
}

/** What a request gets whose flow took a way that leads nowhere, and replied nothing. */
export function missedError(
  way: UnhandledOutcome,
  taken: readonly string[],
  retryAfter?: number,
): QuoinError {
  if (way === 'not_found') return new QuoinError('NOT_FOUND', 'not found')
  if (way === 'exceeded')
    return new QuoinError('RATE_LIMITED', 'Too many requests. Wait and try again.', { retryAfter })
  if (taken.length > 0)
    return new QuoinError(
      'CONFLICT',
      `Another document has the same ${taken.join(', ')}. Use another value.`,
      {
        fields: taken,
      },
    )
  return new QuoinError(
    'CONFLICT',
    way === 'conflict'
      ? 'The document was changed meanwhile. Read it again.'
      : 'The document does not allow this change now.',
  )
}

/** Usually a commit takes milliseconds; one that takes longer is as good as lost to the caller. */
const COMMIT_GRACE_MS = 250

/**
 * What the commit under way has failed with; undefined when it is durable. It is waited for; when the time of the run is over
 * (`late`), a moment longer: then nothing is known of it.
 */
export async function commitFailure(committing: Promise<void>, late: boolean): Promise<unknown> {
  const over = committing.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!late) return over
  return Promise.race([over, wait(COMMIT_GRACE_MS, new Unconfirmed(), { ref: false })])
}
