import type { JsonObject } from '../../shared/json.ts'
import type { dateFunctions } from '../language/declared/dates.ts'
import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import { readUnit, unitPlural, unitsOfDay } from '../language/literals/literals.ts'
import type { BodiesOf } from './body-of.ts'
import { spendOnDate, spendOnNew } from './bounded.ts'
import { formattedDate } from './format-date.ts'
import { asInstant, inZone, isDay, type Moment, momentText, readMoment, zonedAt } from './moment.ts'
import { parsedDate } from './parse-date.ts'

const CLOCK = /^(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/
const MINUTE = 60_000

/**
 * Instants from one time of the day up to, and without, another one, each a step of real minutes after the one before: on the
 * day on which clocks go forward the hour that does not exist is left out, on the day on which they go back it comes twice.
 */
function timesOfDay(
  context: FunctionContext,
  day: Temporal.PlainDate,
  {
    from,
    to,
    step,
    zone,
  }: { readonly from: string; readonly to: string; readonly step: number; readonly zone: string },
): string[] {
  if (step < 1) throw new ArgumentError('step', 'must be at least 1 minute')
  const start = instantOf(clockTime('from', day, from), zone)
  const end = endOf(clockTime('to', day, to), zone)
  if (to < from) throw new ArgumentError('to', 'must not be earlier than from')
  const length = Math.max(0, Math.ceil((end - start) / (step * MINUTE)))
  spendOnNew(context, 'step', length)
  // Texts of instants cost more than elements.
  context.spend(9 * length)
  return Array.from({ length }, (_, i) => new Date(start + i * step * MINUTE).toISOString())
}

function clockTime(parameter: string, day: Temporal.PlainDate, text: string): Temporal.PlainDateTime {
  const match = CLOCK.exec(text)
  if (!match) throw new ArgumentError(parameter, 'must be a time of the day such as 09:30')
  const [, hour, minute] = match
  const date = hour === undefined ? day.add({ days: 1 }) : day
  return date.toPlainDateTime(new Temporal.PlainTime(Number(hour ?? 0), Number(minute ?? 0)))
}

/** A time that clocks leave out is as long after the last one that they show. */
function instantOf(time: Temporal.PlainDateTime, zone: string): number {
  const zoned = inZone(zone, () => time.toZonedDateTime(zone))
  momentText('day', zoned)
  return zoned.epochMilliseconds
}

/** What is before a time that clocks leave out ends where they are put forward. */
function endOf(time: Temporal.PlainDateTime, zone: string): number {
  const end = instantOf(time, zone)
  const shown = Temporal.Instant.fromEpochMilliseconds(end).toZonedDateTimeISO(zone)
  if (shown.toPlainDateTime().equals(time)) return end
  // A millisecond later, because the change may be at this instant.
  return shown.add({ milliseconds: 1 }).getTimeZoneTransition('previous')?.epochMilliseconds ?? end
}

export const dateBodies: BodiesOf<typeof dateFunctions> = {
  now: (context) => momentText('now', zonedAt('now', context.now(), 'UTC')),
  today: (context, zone = context.timeZone) =>
    momentText('now', zonedAt('now', context.now(), zone).toPlainDate()),
  addTo: (context, date, amounts, zone = context.timeZone) =>
    momentText('amounts', movedBy(moment(context, 'date', date, zone), amounts)),
  between: (context, a, b, unit, zone = context.timeZone) =>
    unitsBetween(moment(context, 'from', a, zone), moment(context, 'to', b, zone), unit, zone),
  startOf: (context, date, unit, zone = context.timeZone) =>
    momentText('unit', startOfUnit(moment(context, 'date', date, zone), unit)),
  endOf: (context, date, unit, zone = context.timeZone) =>
    momentText('unit', endOfUnit(moment(context, 'date', date, zone), unit)),
  timesOfDay: (context, date, from, to, step, zone = context.timeZone) => {
    const input = moment(context, 'day', date, zone)
    const day = isDay(input) ? input : input.toPlainDate()
    return timesOfDay(context, day, { from, to, step, zone })
  },
  format: (context, date, pattern, zone = context.timeZone, locale = context.locale) =>
    formattedDate(context, moment(context, 'date', date, zone), pattern, locale),
  parseDate: (context, text, pattern, zone = context.timeZone, locale = context.locale) =>
    pattern === undefined
      ? momentText('text', moment(context, 'text', text, zone))
      : parsedDate(context, text, pattern, zone, locale),
  year: (context, date, zone = context.timeZone) => moment(context, 'date', date, zone).year,
  month: (context, date, zone = context.timeZone) => moment(context, 'date', date, zone).month,
  day: (context, date, zone = context.timeZone) => moment(context, 'date', date, zone).day,
  weekday: (context, date, zone = context.timeZone) => moment(context, 'date', date, zone).dayOfWeek,
  hour: (context, date, zone = context.timeZone) => clockOf(moment(context, 'date', date, zone)).hour,
  minute: (context, date, zone = context.timeZone) => clockOf(moment(context, 'date', date, zone)).minute,
  isBefore: (context, a, b, zone = context.timeZone) =>
    milliseconds(context, 'a', a, zone) < milliseconds(context, 'b', b, zone),
  isAfter: (context, a, b, zone = context.timeZone) =>
    milliseconds(context, 'a', a, zone) > milliseconds(context, 'b', b, zone),
  unixSeconds: (context, date, zone = context.timeZone) =>
    Math.floor(milliseconds(context, 'date', date, zone) / 1000),
  fromUnix: (context, seconds) => momentText('seconds', moment(context, 'seconds', seconds, 'UTC')),
}

/** A date of an argument, which costs the budget. */
function moment(context: FunctionContext, parameter: string, value: string | number, zone: string): Moment {
  spendOnDate(context)
  return readMoment(parameter, value, zone)
}

function milliseconds(
  context: FunctionContext,
  parameter: string,
  value: string | number,
  zone: string,
): number {
  return asInstant(moment(context, parameter, value, zone), zone).epochMilliseconds
}

function clockOf(moment: Moment): Temporal.ZonedDateTime {
  if (isDay(moment)) throw new ArgumentError('date', `must have a time; ${moment} is a day`)
  return moment
}

/** By the plural of its unit. */
type Amounts = Partial<Record<ReturnType<typeof unitPlural>, number>>

/** Years and months first: 31 January and one month is the last day of February. Days keep the time of the clock. */
function movedBy(moment: Moment, amounts: JsonObject): Moment {
  const duration: Amounts = {}
  for (const [name, amount] of Object.entries(amounts)) {
    const unit = readUnit('amounts', name)
    if (amount === null) continue
    if (typeof amount !== 'number' || !Number.isInteger(amount))
      throw new ArgumentError('amounts', `must have whole numbers; ${name} is not one`)
    if (isDay(moment) && unitsOfDay(unit) !== undefined)
      throw new ArgumentError('amounts', `has ${name}, but ${moment} is a day without a time`)
    duration[unitPlural(unit)] = amount
  }
  if (Object.keys(duration).length === 0) return moment
  try {
    return inOneDirection(duration).reduce<Moment>((at, one) => at.add(one), moment)
  } catch (error) {
    if (!(error instanceof RangeError) && !(error instanceof TypeError)) throw error
    throw new ArgumentError('amounts', 'gives a date outside the years 0 to 9999')
  }
}

/** A duration that goes forth and back at once is none for Temporal: its months, days and hours are then added one after the other. */
function inOneDirection(duration: Amounts): readonly Amounts[] {
  const { years = 0, months = 0, weeks = 0, days = 0, ...clock } = duration
  const signs = new Set(Object.values(duration).map(Math.sign))
  if (!signs.has(1) || !signs.has(-1)) return [duration]
  const { hours = 0, minutes = 0, seconds = 0, milliseconds = 0 } = clock
  const ofClock = ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds
  return [
    { months: years * 12 + months },
    { days: weeks * 7 + days },
    ...(ofClock === 0 ? [] : [{ milliseconds: ofClock }]),
  ]
}

/** Whole units from one to the other, negative when the second is earlier. */
function unitsBetween(a: Moment, b: Moment, unitText: string, zone: string): number {
  const unit = readUnit('unit', unitText)
  const ofDay = unitsOfDay(unit)
  if (isDay(a) && isDay(b)) {
    if (ofDay !== undefined) return a.until(b, { largestUnit: 'day' }).days * ofDay + 0
    if (unit === 'year' || unit === 'month' || unit === 'week' || unit === 'day')
      return a.until(b, { largestUnit: unit, smallestUnit: unit })[unitPlural(unit)] + 0
  }
  const [from, to] = [asInstant(a, zone), asInstant(b, zone)]
  return from.until(to, { largestUnit: unit, smallestUnit: unit })[unitPlural(unit)] + 0
}

/** The first day or instant of the unit that holds the moment. Weeks start on Monday. */
function startOfUnit(moment: Moment, unitText: string): Moment {
  const unit = readUnit('unit', unitText)
  if (isDay(moment)) {
    if (unitsOfDay(unit) !== undefined)
      throw new ArgumentError('unit', `is ${unitText}, but ${moment} is a day without a time`)
    return firstDay(moment, unit)
  }
  if (unit === 'hour' || unit === 'minute' || unit === 'second' || unit === 'millisecond')
    return moment.round({ smallestUnit: unit, roundingMode: 'floor' })
  return firstDay(moment.toPlainDate(), unit).toZonedDateTime(moment.timeZoneId)
}

/** The last day or millisecond of the unit that holds the moment. */
function endOfUnit(moment: Moment, unitText: string): Moment {
  const unit = readUnit('unit', unitText)
  const next = { [unitPlural(unit)]: 1 }
  const start = startOfUnit(moment, unitText)
  if (isDay(start)) return start.add(next).subtract({ days: 1 })
  // A day that begins at 1 o'clock, as clocks leave out its midnight, is over at the midnight of the next one.
  const after =
    unitsOfDay(unit) === undefined
      ? start.toPlainDate().add(next).toZonedDateTime(start.timeZoneId)
      : start.add(next)
  return after.subtract({ milliseconds: 1 })
}

function firstDay(day: Temporal.PlainDate, unit: string): Temporal.PlainDate {
  if (unit === 'year') return day.with({ month: 1, day: 1 })
  if (unit === 'month') return day.with({ day: 1 })
  return unit === 'week' ? day.subtract({ days: day.dayOfWeek - 1 }) : day
}
