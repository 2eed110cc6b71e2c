import { setTimeout as wait } from 'node:timers/promises'
import { unconfirmed } from '../../storage/unconfirmed.ts'

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
  return Promise.race([over, wait(COMMIT_GRACE_MS, unconfirmed(), { ref: false })])
}
