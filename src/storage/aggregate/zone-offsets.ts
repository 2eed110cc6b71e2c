/** When the clocks of a time zone change, from 1900 to 2200. Earlier and later dates have the first and the last offset. */
import { boundedMap } from '../../shared/bounded-map.ts'

export interface ZoneOffsets {
  /** Seconds since 1970, ascending. */
  readonly changes: readonly number[]
  /** Seconds east of UTC: before the first change, and from each change on. */
  readonly offsets: readonly number[]
}

const FIRST = '1900-01-01T00:00:00Z'
/** 2200. */
const LAST = 7_258_118_400_000
const NANOSECONDS = 1_000_000_000
const known = boundedMap<string, ZoneOffsets>(50)

/** Throws RangeError for what is no time zone. */
export function zoneOffsets(zone: string): ZoneOffsets {
  const read = known.get(zone)
  if (read) return read
  const made = readZone(zone)
  known.set(zone, made)
  return made
}

export function offsetAt({ changes, offsets }: ZoneOffsets, seconds: number): number {
  let from = 0
  let to = changes.length
  while (from < to) {
    const middle = (from + to) >> 1
    if ((changes[middle] ?? 0) <= seconds) from = middle + 1
    else to = middle
  }
  return offsets[from] ?? 0
}

function readZone(zone: string): ZoneOffsets {
  const start = Temporal.Instant.from(FIRST).toZonedDateTimeISO(zone)
  const changes: number[] = []
  const offsets = [start.offsetNanoseconds / NANOSECONDS]
  for (
    let change = start.getTimeZoneTransition('next');
    change && change.epochMilliseconds < LAST;
    change = change.getTimeZoneTransition('next')
  ) {
    changes.push(change.epochMilliseconds / 1000)
    offsets.push(change.offsetNanoseconds / NANOSECONDS)
  }
  return { changes, offsets }
}
