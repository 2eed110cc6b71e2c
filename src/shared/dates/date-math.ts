/**
 * Dates relative to now or to another date, in the words of Elasticsearch: an anchor (`now`, or an ISO date and `||`),
 * then any number of steps from left to right. `+7d` and `-1M` move by an amount, `/d` rounds to the unit.
 *
 * Units: s, m (minutes), h or H, d, w (weeks start on Monday), M (months), y. All in UTC. A month or year later is the
 * same day of the month, or the month's last day where there is none: 31 January and `+1M` is 28 February.
 */
import { readIsoDate } from './dates.ts'

export type DateMath =
  /** Since 1970. */
  | { readonly milliseconds: number }
  /** Words that finish the sentence "the date …". */
  | { readonly problem: string }

const MAX_LENGTH = 100
const SECOND = 1000
const DAY = 86_400 * SECOND

const sizes: Readonly<Record<string, number>> = {
  s: SECOND,
  m: 60 * SECOND,
  h: 3600 * SECOND,
  H: 3600 * SECOND,
  d: DAY,
  w: 7 * DAY,
}
/** The first Monday after the start of 1970, which was a Thursday: whole weeks are counted from a Monday. */
const FIRST_MONDAY = 4 * DAY

/** Whether text is meant as date maths: starts with `now` and a step, or is a date before `||`. */
export function isDateMath(text: string): boolean {
  return /^now(?:[+\-/]|$)/.test(text) || /^\d{4}-\d{2}-\d{2}[^|]*\|\|/.test(text)
}

/**
 * Works it out. Rounding `down` goes to the first millisecond of the unit, `up` to its last, so that "until /d" includes
 * the day.
 */
export function evaluateDateMath(text: string, now: number, rounding: 'down' | 'up' = 'down'): DateMath {
  if (text.length > MAX_LENGTH) return { problem: `is longer than ${MAX_LENGTH} characters` }
  const bars = text.indexOf('||')
  const anchor = bars < 0 ? 'now' : text.slice(0, bars)
  let time = bars < 0 ? now : readIsoDate(anchor)
  if (time === undefined || (bars < 0 && !text.startsWith('now')))
    return { problem: 'must start with now, or with a date and ||, such as 2026-01-31||' }

  const steps = text.slice(bars < 0 ? anchor.length : bars + 2)
  const step = /([+-])(\d{0,9})([smhHdwMy])|\/([smhHdwMy])/y
  while (step.lastIndex < steps.length) {
    const from = step.lastIndex
    const match = step.exec(steps)
    if (!match)
      return { problem: `cannot continue with "${steps.slice(from)}": use steps such as +7d, -1M or /d` }
    const [, sign, amount, unit = '', roundTo] = match
    if (roundTo !== undefined) time = rounded(time, roundTo, rounding)
    else time = moved(time, (sign === '-' ? -1 : 1) * (amount === '' ? 1 : Number(amount)), unit)
    // Four digits for the year, so that dates as text stand in the order of time.
    if (!(time >= YEAR_0 && time < YEAR_10000)) return { problem: 'is outside the years 0 to 9999' }
  }
  return { milliseconds: time }
}

const YEAR_0 = Date.parse('0000-01-01T00:00:00Z')
const YEAR_10000 = Date.parse('+010000-01-01T00:00:00Z')

function moved(time: number, amount: number, unit: string): number {
  const size = sizes[unit]
  if (size !== undefined) return time + amount * size
  const date = new Date(time)
  const day = date.getUTCDate()
  // From the first of the month: the month must not run over before the day is made to fit.
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + amount * (unit === 'y' ? 12 : 1))
  const lastDay = new Date(date)
  lastDay.setUTCMonth(lastDay.getUTCMonth() + 1, 0)
  date.setUTCDate(Math.min(day, lastDay.getUTCDate()))
  return date.getTime()
}

function rounded(time: number, unit: string, rounding: 'down' | 'up'): number {
  const start = startOf(time, unit)
  return rounding === 'down' ? start : moved(start, 1, unit) - 1
}

function startOf(time: number, unit: string): number {
  const size = sizes[unit]
  const origin = unit === 'w' ? FIRST_MONDAY : 0
  if (size !== undefined) return Math.floor((time - origin) / size) * size + origin
  const date = new Date(time)
  date.setUTCHours(0, 0, 0, 0)
  if (unit === 'y') date.setUTCMonth(0, 1)
  else date.setUTCDate(1)
  return date.getTime()
}
