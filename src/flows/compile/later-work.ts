import type { LaterCall } from '../../blocks/context.ts'
import type { Mail } from '../../shared/mail/mail.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { JobRetries } from '../../storage/job.ts'
import type { ManyChange } from '../../storage/many/many-change.ts'

/** Jobs that a run stores in its transaction. Each gives the job's guid, as `Session.enqueue` does. */
export interface LaterWork {
  /** A call of a custom function. */
  call(call: LaterCall): MaybePromise<string | undefined>
  /** A change of many documents. */
  change(change: ManyChange): MaybePromise<string | undefined>
  mail(mail: Mail, retries?: JobRetries): MaybePromise<string | undefined>
}
