import { andThen, type MaybePromise } from '../../shared/maybe-promise.ts'
import type { Database, Origin, Session } from '../../storage/database.ts'
import { TransparentSession } from '../../storage/wrapped-session.ts'
import type { RunUnit } from './run-unit.ts'

/** The session of one try of a run that may begin again. */
export function unitSession(
  database: Pick<Database, 'session'>,
  unit: RunUnit,
  origin: Origin,
  committed: () => void,
): Session {
  const own = unit.holdsReads ? { ...origin, unit } : { ...origin, optimistic: unit.attempt === 1 }
  return new CommittingSession(database.session(own), () => {
    unit.committed = true
    unit.onCommit?.()
    committed()
  })
}

/** A session that tells of each commit once it is durable. */
class CommittingSession extends TransparentSession {
  readonly #committed: () => void

  constructor(session: Session, committed: () => void) {
    super(session)
    this.#committed = committed
  }

  override commit(): MaybePromise<void> {
    return andThen(super.commit(), () => this.#committed())
  }
}
