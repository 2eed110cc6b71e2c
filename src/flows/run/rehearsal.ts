/**
 * A run that goes as far as its first effect: a write, a job, a commit, anything outside. Nothing of it remains. It finds out whether a
 * request passes the checks of a flow (a signature, a header, a scope) before it gets what the flow replied to an equal one.
 */
import type { Reply } from '../../blocks/reply.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import type { Session } from '../../storage/database.ts'
import { WrappedSession } from '../../storage/wrapped-session.ts'
import { RunStopped } from '../compile/block-failure.ts'
import { heldEffects } from './held-effects.ts'
import { Run } from './run.ts'
import type { RunEnvironment } from './run-environment.ts'
import type { RunEnd, RunStart } from './run-start.ts'

/** Who is not known, or may not. Other refusals may come from what the flow has done since: "taken already". */
const REFUSED: readonly number[] = [401, 403]

/**
 * The end of a run that has refused its request, whose reply is sent; undefined when it passes. `start` is as for the run itself.
 */
export async function rehearse(environment: RunEnvironment, start: RunStart): Promise<RunEnd | undefined> {
  const sessions: RehearsalSession[] = []
  const silent = { ...environment, ...heldEffects(environment), publish: () => undefined }
  const end = await new Run(silent, {
    ...start,
    noting(session) {
      const rehearsing = new RehearsalSession(session)
      sessions.push(rehearsing)
      return rehearsing
    },
    beforeReply(_session, { code }: Reply) {
      if (!REFUSED.includes(code)) throw effectReached()
      for (const session of sessions) session.refused = true
    },
    beforeEnd: () => {
      throw effectReached()
    },
  }).execute(start)
  if (end.replied) return end
  return end.error && REFUSED.includes(end.error.status) ? end : undefined
}

/** No `error` pin hears of it, and no log. */
function effectReached(): RunStopped {
  return new RunStopped('stopped', 'The request passes the checks of its flow.')
}

class RehearsalSession extends WrappedSession {
  /** A reply that refuses the request is about to be sent: there is nothing to commit. */
  refused = false

  constructor(session: Session) {
    super(session)
  }

  /** So that blocks that touch the world outside commit first, and stop there. */
  override get hasWritten(): boolean {
    return !this.refused
  }

  override create(): never {
    throw effectReached()
  }

  override createAll(): never {
    throw effectReached()
  }

  override update(): never {
    throw effectReached()
  }

  override setRemoved(): never {
    throw effectReached()
  }

  override delete(): never {
    throw effectReached()
  }

  override hold(): never {
    throw effectReached()
  }

  override numbers(): never {
    throw effectReached()
  }

  override enqueue(): never {
    throw effectReached()
  }

  override commit(): MaybePromise<void> {
    if (!this.refused) throw effectReached()
    return this.rollback()
  }
}
