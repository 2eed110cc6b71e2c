import type { AlertFigure } from '../../shared/alerts/alert-figures.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Database } from '../../storage/database.ts'
import { readFigures } from '../figures/read-figures.ts'

export interface AlertParts {
  readonly database: Database
  readonly clock: Clock
  /** MiB that are free where this node keeps its data. */
  readonly diskFree: () => Promise<number>
}

/** Gives the figure of this moment; null where nothing is known of it. */
export type Measure = (figure: AlertFigure, minutes: number) => Promise<number | null>

/** Of fewer requests a share says little: one failed request at night would wake people. */
const LEAST_REQUESTS = 20

/** Each figure is read once, however many rules ask for it. */
export function openMeasures({ database, clock, diskFree }: AlertParts): Measure {
  const minutesRead = once(async () => {
    // The minute that has just begun is not stored yet.
    const until = Math.floor(clock() / 1000) - 60
    return (await readFigures(database, { range: 'hour', until })).points
  })
  const queues = once(async () => database.capabilities.queues.list())
  const free = once(diskFree)
  return async (figure, minutes) => {
    switch (figure) {
      case 'error_share': {
        const points = (await minutesRead()).slice(-minutes)
        const requests = points.reduce((sum, point) => sum + point.requests, 0)
        const failed = points.reduce((sum, point) => sum + point.failed, 0)
        if (requests < LEAST_REQUESTS) return failed === 0 ? 0 : null
        return (100 * failed) / requests
      }
      case 'dead_letters':
        return (await queues()).reduce((sum, { dead }) => sum + dead, 0)
      case 'queue_age': {
        const since = Math.min(...(await queues()).map(({ oldest }) => oldest ?? clock()), clock())
        return Math.floor((clock() - since) / 1000)
      }
      case 'disk_free':
        return free()
    }
  }
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined
  return () => {
    known ??= read()
    return known
  }
}
