import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import { setFields } from '../../shared/mutation.ts'
import type { Session } from '../../storage/database.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { waitJob } from '../run/store-wait.ts'
import { givesText, type WaitRecord } from '../run/wait-record.ts'

/** Has the run continue with what its block gives, in the session's transaction. False: the wait has changed since it was read. */
export function endWait(
  session: Session,
  wait: WaitRecord,
  gives: Readonly<Record<string, unknown>>,
): MaybePromise<boolean> {
  return andThen(session.enqueue(waitJob(wait)), (job = '') => {
    const fields = setFields({ state: 'resumed', job, gives: givesText(gives) })
    const { updateHash } = wait
    const written = session.update(systemStorages.waits, wait.guid, fields, { updateHash })
    return andThen(written, ({ outcome }) => outcome === 'written')
  })
}
