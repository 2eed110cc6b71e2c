/**
 * What a run leaves nothing with: its sessions never commit, and with them go the jobs, events and history that their
 * writes would cause. It has a cache of its own, writes no log and publishes nothing.
 */
import { runCache } from '../run/run-cache.ts'
import type { RunEnvironment } from '../run/run-environment.ts'
import { DiscardingSession } from './discarding-session.ts'

/** In place of the same parts of an environment. */
export interface DiscardingEnvironment
  extends Pick<RunEnvironment, 'database' | 'cache' | 'limits' | 'log' | 'publish'> {
  /** Undoes what was written. To be called whatever happens: on SQLite a session that has written holds the one writer. */
  discard(): Promise<void>
}

/** `deadline`: milliseconds at most, for the same reason. */
export function discardingEnvironment(
  { database, clock, limits }: Pick<RunEnvironment, 'database' | 'clock' | 'limits'>,
  deadline: number,
): DiscardingEnvironment {
  const sessions: DiscardingSession[] = []
  return {
    database: {
      session(origin) {
        const session = new DiscardingSession(database.session(origin))
        sessions.push(session)
        return session
      },
    },
    cache: runCache(clock),
    limits: { ...limits, deadline: Math.min(deadline, limits.deadline) },
    log: () => undefined,
    publish: () => undefined,
    async discard() {
      for (const session of sessions) await session.transaction.rollback()
    },
  }
}
