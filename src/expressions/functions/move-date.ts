import type { JsonObject } from '../../shared/json.ts'
import { ArgumentError } from '../language/function-declaration.ts'
import { readUnit, unitPlural, unitsOfDay } from '../language/literals/date-unit.ts'
import { asInstant, isDay, type Moment } from './moment.ts'

/** Years and months first: 31 January and one month is the last day of February. Days keep the time of the clock. */
export function movedBy(moment: Moment, amounts: JsonObject): Moment {
  const duration: Temporal.DurationLike = {}
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
    return moment.add(duration)
  } catch (error) {
    if (!(error instanceof RangeError) && !(error instanceof TypeError)) throw error
    throw new ArgumentError('amounts', 'gives a date outside the years 0 to 9999')
  }
}

/** Whole units from one to the other, negative when the second is earlier. */
export function unitsBetween(a: Moment, b: Moment, unitText: string, zone: string): number {
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
export function startOfUnit(moment: Moment, unitText: string): Moment {
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
export function endOfUnit(moment: Moment, unitText: string): Moment {
  const next = { [unitPlural(readUnit('unit', unitText))]: 1 }
  const start = startOfUnit(moment, unitText)
  if (isDay(start)) return start.add(next).subtract({ days: 1 })
  return start.add(next).subtract({ milliseconds: 1 })
}

function firstDay(day: Temporal.PlainDate, unit: string): Temporal.PlainDate {
  if (unit === 'year') return day.with({ month: 1, day: 1 })
  if (unit === 'month') return day.with({ day: 1 })
  return unit === 'week' ? day.subtract({ days: day.dayOfWeek - 1 }) : day
}
