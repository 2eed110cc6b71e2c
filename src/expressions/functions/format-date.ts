import { lruCache } from '../../shared/lru-cache.ts'
import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import {
  type DateField,
  isTimeField,
  type PatternPart,
  readPatternParts,
} from '../language/literals/date-pattern.ts'
import { checkLocale } from '../language/literals/literals.ts'
import { spendOnFormat } from './bounded.ts'
import { isDay, type Moment } from './moment.ts'

/** A format costs 20 to 100 µs to make. Some settings of some locales are in use at one time. */
const formats = lruCache<string, Intl.DateTimeFormat>(200)

type NamedPart = 'month' | 'weekday' | 'dayPeriod' | 'timeZoneName'

/** The name that the locale has for one part of a date: of its month, weekday, half of the day or zone. */
function dateName(
  context: FunctionContext,
  locale: string,
  part: NamedPart,
  milliseconds: number,
  options: Intl.DateTimeFormatOptions,
): string {
  const key = `${locale} ${JSON.stringify(options)}`
  let format = formats.get(key)
  if (format === undefined) {
    checkLocale(locale)
    spendOnFormat(context)
    format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options })
    formats.set(key, format)
  }
  return format.formatToParts(milliseconds).find(({ type }) => type === part)?.value ?? ''
}

const lengths = { 3: 'short', 4: 'long', 5: 'narrow' } as const

function lengthOf(width: number): 'short' | 'long' | 'narrow' {
  return width === 4 || width === 5 ? lengths[width] : 'short'
}

/** `isAlone`: as a title (LLLL); else as within a date (MMMM), which is another word in some languages. */
export function monthName(
  context: FunctionContext,
  locale: string,
  milliseconds: number,
  width: number,
  isAlone: boolean,
): string {
  const within = isAlone ? {} : { day: 'numeric' as const }
  return dateName(context, locale, 'month', milliseconds, { ...within, month: lengthOf(width) })
}

export function weekdayName(
  context: FunctionContext,
  locale: string,
  milliseconds: number,
  width: number,
): string {
  return dateName(context, locale, 'weekday', milliseconds, { weekday: lengthOf(width) })
}

export function halfOfDay(context: FunctionContext, locale: string, milliseconds: number): string {
  return dateName(context, locale, 'dayPeriod', milliseconds, { hour: 'numeric', hour12: true })
}

/** Names of a locale take 5 µs, numbers and texts 0.4. */
function workOfPart(part: PatternPart): number {
  if ('text' in part) return 4
  return 'az'.includes(part.letter) || ('MLE'.includes(part.letter) && part.width > 2) ? 50 : 4
}

/** By a pattern of Unicode TR 35. Numbers are written with the digits 0 to 9 in every locale. */
export function formattedDate(
  context: FunctionContext,
  moment: Moment,
  pattern: string,
  locale: string,
): string {
  const parts = readPatternParts(pattern)
  context.spend(
    0,
    parts.reduce((sum, part) => sum + workOfPart(part), 0),
  )
  return parts.map((part) => ('text' in part ? part.text : field(context, moment, part, locale))).join('')
}

function field(context: FunctionContext, moment: Moment, part: DateField, locale: string): string {
  const { letter, width } = part
  const padded = (value: number) => String(value).padStart(width, '0')
  if (isTimeField(letter)) {
    if (!isDay(moment)) return timeField(context, moment, part, locale)
    throw new ArgumentError('pattern', `has ${letter.repeat(width)}, but ${moment} is a day without a time`)
  }
  switch (letter) {
    case 'y':
      return width === 2 ? String(moment.year % 100).padStart(2, '0') : padded(moment.year)
    case 'Y':
      return padded(moment.yearOfWeek ?? moment.year)
    case 'M':
    case 'L':
      if (width <= 2) return padded(moment.month)
      return monthName(context, locale, dayMilliseconds(moment), width, letter === 'L')
    case 'd':
      return padded(moment.day)
    case 'Q':
      return padded(Math.ceil(moment.month / 3))
    case 'w':
      return padded(moment.weekOfYear ?? 0)
    default:
      return weekdayName(context, locale, dayMilliseconds(moment), width)
  }
}

function timeField(
  context: FunctionContext,
  moment: Temporal.ZonedDateTime,
  { letter, width }: DateField,
  locale: string,
): string {
  const padded = (value: number) => String(value).padStart(width, '0')
  switch (letter) {
    case 'H':
      return padded(moment.hour)
    case 'h':
      return padded(moment.hour % 12 || 12)
    case 'K':
      return padded(moment.hour % 12)
    case 'k':
      return padded(moment.hour || 24)
    case 'm':
      return padded(moment.minute)
    case 's':
      return padded(moment.second)
    case 'S':
      return String(moment.millisecond).padStart(3, '0').padEnd(width, '0').slice(0, width)
    case 'a':
      return (
        halfOfDay(context, locale, dayMilliseconds(moment) + moment.hour * 3_600_000) ||
        (moment.hour < 12 ? 'AM' : 'PM')
      )
    case 'V':
      return moment.timeZoneId
    case 'z':
      return dateName(context, locale, 'timeZoneName', moment.epochMilliseconds, {
        timeZone: moment.timeZoneId,
        timeZoneName: width === 4 ? 'long' : 'short',
      })
    default:
      return offset(moment.offset.slice(0, 6), letter, width)
  }
}

/** `+01:00` as X (+01), XX (+0100) or XXX (+01:00); Z for 0 with X, and Z in the pattern as xx. */
function offset(written: string, letter: string, width: number): string {
  if (letter === 'X' && written === '+00:00') return 'Z'
  if (letter === 'Z' || width === 2) return written.replace(':', '')
  return width === 3 ? written : written.replace(/:?(00)?$/, '').replace(':', '')
}

/** Midnight of the day that clocks show, as if it were UTC: for names, which know no zone. */
function dayMilliseconds(moment: Moment): number {
  const day = isDay(moment) ? moment : moment.toPlainDate()
  return Date.parse(`${day}T00:00:00Z`)
}
