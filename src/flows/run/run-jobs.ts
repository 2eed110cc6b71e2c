import type { LaterCall } from '../../blocks/context.ts'
import { mailJob } from '../../records/mail/mail-job.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Mail } from '../../shared/mail/mail.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { Session } from '../../storage/database.ts'
import type { JobRetries } from '../../storage/job.ts'
import type { ManyChange } from '../../storage/many/many-change.ts'
import type { LaterWork } from '../compile/later-work.ts'
import { laterJob, manyChangeJob } from './job-payload.ts'
import { originPayload } from './run-origin.ts'

/** Jobs that a run stores, on behalf of the user that it runs for. Most runs store none, and have none of these. */
export class RunJobs implements LaterWork {
  readonly #session: Session
  readonly #blueprint: string
  readonly #clock: Clock

  constructor(session: Session, blueprint: string, clock: Clock) {
    this.#session = session
    this.#blueprint = blueprint
    this.#clock = clock
  }

  call(call: LaterCall): MaybePromise<string | undefined> {
    return this.#session.enqueue(laterJob(call, this.#blueprint, this.#session.origin, this.#clock()))
  }

  change(change: ManyChange): MaybePromise<string | undefined> {
    return this.#session.enqueue(manyChangeJob(change, this.#session.origin, this.#blueprint))
  }

  mail(mail: Mail, retries?: JobRetries): MaybePromise<string | undefined> {
    const about = { blueprint: this.#blueprint, ...originPayload(this.#session.origin) }
    return this.#session.enqueue(mailJob(mail, about, retries))
  }
}
