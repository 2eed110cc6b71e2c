import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Session } from '../../storage/database.ts'
import { TransparentSession } from '../../storage/wrapped-session.ts'

/** A session that tells of each commit once it is durable. */
export class CommittingSession extends TransparentSession {
  readonly #committed: () => void

  constructor(session: Session, committed: () => void) {
    super(session)
    this.#committed = committed
  }

  override commit(): MaybePromise<void> {
    return andThen(super.commit(), () => this.#committed())
  }
}
