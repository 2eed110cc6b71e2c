/** Steers paused runs from any node: they stand still in the memory of theirs. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../storage/database.ts'
import type { Steering } from './run-brake.ts'
import type { RunNews } from './run-news.ts'

export interface RunSteering {
  /** Resolves when the run has come to a pause again or has ended, or after a second. */
  steer(run: string, steering: Steering): Promise<void>
  close(): void
}

/** What nodes tell each other under; no storage has such a name. */
const TOPIC = 'paused runs'
const PATIENCE = 1_000

export function openRunSteering(
  database: Database,
  news: RunNews,
  steerHere: (run: string, steering: Steering) => boolean,
): RunSteering {
  const unwatch = database.capabilities.changes.watch(TOPIC, (messages = []) => {
    for (const message of messages) {
      const [run = '', steering = ''] = message.split(' ')
      if (steering === 'step' || steering === 'resume' || steering === 'stop') steerHere(run, steering)
    }
  })
  return {
    async steer(run, steering) {
      const { promise: changed, resolve } = Promise.withResolvers<void>()
      const unlisten = news.listen(({ guid }) => guid === run && resolve())
      const given = new AbortController()
      try {
        if (!steerHere(run, steering))
          await database.capabilities.cluster?.tell(TOPIC, [`${run} ${steering}`])
        await Promise.race([changed, pause(PATIENCE, undefined, { signal: given.signal })])
      } finally {
        given.abort()
        unlisten()
      }
    },
    close: unwatch,
  }
}
