/**
 * Times of day as people type and read them, in a time zone. A time that a change of clocks skips is moved on by as much as the
 * clocks are (02:30 becomes 03:30); of one that is there twice it is the first. So do `Temporal` and most calendars.
 */
const LOCAL = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)$/

/** Milliseconds since 1970 of a time without a zone; undefined for another text, or a day or time that does not exist. */
export function readLocalTime(text: string, zone: string): number | undefined {
  const [, day, time] = LOCAL.exec(text) ?? []
  if (day === undefined || time === undefined) return undefined
  try {
    const local = Temporal.PlainDateTime.from(`${day}T${time}`, { overflow: 'reject' })
    return local.toZonedDateTime(zone).epochMilliseconds
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** `2026-03-10T08:00:00` */
export function localTime(milliseconds: number, zone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(milliseconds)
    .toZonedDateTimeISO(zone)
    .toPlainDateTime()
  return local.toString({ smallestUnit: 'second' })
}

/** `2026-03-10T08:00:00+01:00`; with Z and milliseconds in UTC. */
export function timeWithOffset(milliseconds: number, zone: string): string {
  if (zone === 'UTC') return new Date(milliseconds).toISOString()
  const zoned = Temporal.Instant.fromEpochMilliseconds(milliseconds).toZonedDateTimeISO(zone)
  return zoned.toString({ smallestUnit: 'second', timeZoneName: 'never' })
}
