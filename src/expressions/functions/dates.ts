import type { dateFunctions } from '../language/declared/dates.ts'
import { ArgumentError } from '../language/function-declaration.ts'
import type { BodiesOf } from './body-of.ts'
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
    momentText('amounts', movedBy(readMoment('date', date, zone), amounts)),
  between: (context, a, b, unit, zone = context.timeZone) =>
    unitsBetween(readMoment('from', a, zone), readMoment('to', b, zone), unit, zone),
  startOf: (context, date, unit, zone = context.timeZone) =>
    momentText('unit', startOfUnit(readMoment('date', date, zone), unit)),
  endOf: (context, date, unit, zone = context.timeZone) =>
    momentText('unit', endOfUnit(readMoment('date', date, zone), unit)),
  timesOfDay: (context, date, from, to, step, zone = context.timeZone) => {
    const moment = readMoment('day', date, zone)
    const day = isDay(moment) ? moment : moment.toPlainDate()
    return timesOfDay(context, day, { from, to, step, zone })
  },
  format: (context, date, pattern, zone = context.timeZone, locale = context.locale) =>
    formattedDate(readMoment('date', date, zone), pattern, locale),
  parseDate: (context, text, pattern, zone = context.timeZone, locale = context.locale) =>
    pattern === undefined
      ? momentText('text', readMoment('text', text, zone))
      : parsedDate(text, pattern, zone, locale),
  year: (context, date, zone = context.timeZone) => readMoment('date', date, zone).year,
  month: (context, date, zone = context.timeZone) => readMoment('date', date, zone).month,
  day: (context, date, zone = context.timeZone) => readMoment('date', date, zone).day,
  weekday: (context, date, zone = context.timeZone) => readMoment('date', date, zone).dayOfWeek,
  hour: (context, date, zone = context.timeZone) => clockOf(readMoment('date', date, zone)).hour,
  minute: (context, date, zone = context.timeZone) => clockOf(readMoment('date', date, zone)).minute,
  isBefore: (context, a, b, zone = context.timeZone) =>
    milliseconds('a', a, zone) < milliseconds('b', b, zone),
  isAfter: (context, a, b, zone = context.timeZone) =>
    milliseconds('a', a, zone) > milliseconds('b', b, zone),
  unixSeconds: (context, date, zone = context.timeZone) =>
    Math.floor(milliseconds('date', date, zone) / 1000),
  fromUnix: (_, seconds) => momentText('seconds', readMoment('seconds', seconds, 'UTC')),
}

function milliseconds(parameter: string, value: string | number, zone: string): number {
  return asInstant(readMoment(parameter, value, zone), zone).epochMilliseconds
}

function clockOf(moment: Moment): Temporal.ZonedDateTime {
  if (isDay(moment)) throw new ArgumentError('date', `must have a time; ${moment} is a day`)
  return moment
}
