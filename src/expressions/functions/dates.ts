import type { dateFunctions } from '../language/declared/dates.ts'
import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import type { BodiesOf } from './body-of.ts'
import { spendOnDate } from './bounded.ts'
import { formattedDate } from './format-date.ts'
import { asInstant, isDay, type Moment, momentText, readMoment, zonedAt } from './moment.ts'
import { endOfUnit, movedBy, startOfUnit, unitsBetween } from './move-date.ts'
import { parsedDate } from './parse-date.ts'
import { timesOfDay } from './times-of-day.ts'

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
    const given = moment(context, 'day', date, zone)
    const day = isDay(given) ? given : given.toPlainDate()
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
