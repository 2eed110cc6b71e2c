import type { CellRoom } from '../../blocks/table-cells.ts'
import type { RunEnvironment } from '../../flows/run/run-environment.ts'
import type { SystemLog } from '../../records/system-log.ts'
import { boundedMap } from '../../shared/bounded-map.ts'
import type { Clock } from '../../shared/clock.ts'

/** Failures that have been logged in the last hour. */
const MOST_TOLD = 1_000
const HOUR = 3_600_000

interface CellRoomParts {
  readonly values: Pick<RunEnvironment['values'], 'timeZone' | 'locale'>
  readonly clock: Clock
  readonly log: Pick<SystemLog, 'write'>
}

/** What cells of tables on pages are calculated with. The log hears of each failure once an hour: every visit has it again. */
export function cellRooms({ values, clock, log }: CellRoomParts): () => CellRoom {
  const told = boundedMap<string, true>(MOST_TOLD)
  let hour = 0
  return () => {
    const now = clock()
    return {
      ...{ timeZone: values.timeZone, locale: values.locale, now },
      failed({ block, column, message }) {
        const present = Math.floor(now / HOUR)
        if (present !== hour) told.clear()
        hour = present
        const key = `${block} ${column}`
        if (told.get(key)) return
        told.set(key, true)
        log.write({ level: 'warn', message, ...(block !== '' && { block }), pin: 'columns' })
      },
    }
  }
}
