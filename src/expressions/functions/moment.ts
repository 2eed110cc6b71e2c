import { readIsoDate } from '../../shared/dates/dates.ts'
import { ArgumentError } from '../language/function-declaration.ts'
import { noZone } from '../language/literals/literals.ts'

/** A date as an argument: a day, which never meets a time zone, or an instant as the clocks of a zone show it. */
export type Moment = Temporal.PlainDate | Temporal.ZonedDateTime

const FIRST = Date.parse('0000-01-01T00:00:00Z')
const AFTER_LAST = Date.parse('+010000-01-01T00:00:00Z')

export function isDay(moment: Moment): moment is Temporal.PlainDate {
  return moment instanceof Temporal.PlainDate
}

/** ISO 8601 text without a time is a day; any other, and Unix seconds, is an instant. */
export function readMoment(parameter: string, value: string | number, zone: string): Moment {
  const milliseconds = typeof value === 'number' ? Math.round(value * 1000) : readIsoDate(value)
  if (milliseconds === undefined || Number.isNaN(milliseconds))
    throw new ArgumentError(parameter, 'must be a date such as 2026-01-31 or 2026-01-31T09:00Z')
  if (typeof value === 'string' && value.length === 10) return Temporal.PlainDate.from(value)
  return zonedAt(parameter, milliseconds, zone)
}

export function zonedAt(parameter: string, milliseconds: number, zone: string): Temporal.ZonedDateTime {
  checkYears(parameter, milliseconds)
  return inZone(zone, () => Temporal.Instant.fromEpochMilliseconds(milliseconds).toZonedDateTimeISO(zone))
}

/** A day as its first instant in the zone. */
export function asInstant(moment: Moment, zone: string): Temporal.ZonedDateTime {
  return isDay(moment) ? inZone(zone, () => moment.toZonedDateTime(zone)) : moment
}

/** Runs what fails for only one reason: there is no such zone. */
export function inZone<T>(zone: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw noZone(zone)
  }
}

/** As documents hold it: `2026-01-31`, or `2026-01-31T09:00:00.000Z`, in the order of time. */
export function momentText(parameter: string, moment: Moment): string {
  if (isDay(moment)) {
    if (moment.year < 0 || moment.year > 9999) throw outside(parameter)
    return moment.toString()
  }
  checkYears(parameter, moment.epochMilliseconds)
  return new Date(moment.epochMilliseconds).toISOString()
}

function checkYears(parameter: string, milliseconds: number): void {
  if (!(milliseconds >= FIRST && milliseconds < AFTER_LAST)) throw outside(parameter)
}

function outside(parameter: string): ArgumentError {
  return new ArgumentError(parameter, 'gives a date outside the years 0 to 9999')
}
