import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import { isTimeField, type PatternPart, readParsingParts } from '../language/literals/date-pattern.ts'
import { checkZone } from '../language/literals/literals.ts'
import { halfOfDay, monthName, weekdayName } from './format-date.ts'
import { inZone, momentText } from './moment.ts'

/** All names of months of a locale are compared with the text: 15 µs. */
const WORK_OF_PART = 150

/** Longer than every name of the IANA. */
const LONGEST_ZONE = 64

/** What was read, by letter of the pattern; Z for every kind of offset, in minutes. */
type Fields = Map<string, number>

interface Reader {
  readonly context: FunctionContext
  readonly text: string
  readonly locale: string
  at: number
  /** The zone that the text names. */
  zone?: string
}

/** Date text by a pattern of Unicode TR 35: a day if the pattern has no time, else an instant. */
export function parsedDate(
  context: FunctionContext,
  text: string,
  pattern: string,
  zone: string,
  locale: string,
): string {
  const parts = readParsingParts(pattern)
  context.spend(0, parts.length * WORK_OF_PART)
  const reader: Reader = { context, text, locale, at: 0 }
  const fields: Fields = new Map()
  const isRead = parts.every((part, i) => isPartRead(reader, part, parts[i + 1], fields))
  const date = isRead && reader.at === text.length ? dateOf(fields) : undefined
  if (date === undefined) throw new ArgumentError('text', `must be a date of the form ${pattern}`)
  const hasTime = parts.some((part) => 'letter' in part && isTimeField(part.letter))
  return momentText('text', hasTime ? instantOf(date, fields, reader.zone ?? zone) : date.toPlainDate())
}

function isPartRead(
  reader: Reader,
  part: PatternPart,
  next: PatternPart | undefined,
  fields: Fields,
): boolean {
  if ('text' in part) {
    if (!reader.text.startsWith(part.text, reader.at)) return false
    reader.at += part.text.length
    return true
  }
  const { letter, width } = part
  if (letter === 'V') return isZoneRead(reader)
  const value = named(reader, letter, width) ?? numeric(reader, letter, width, next)
  if (value === undefined) return false
  fields.set(fieldName(letter), letter === 'y' && width === 2 ? 2000 + value : value)
  return true
}

function isZoneRead(reader: Reader): boolean {
  const [name = ''] = /^[A-Za-z][\w+/-]*/.exec(reader.text.slice(reader.at, reader.at + LONGEST_ZONE)) ?? []
  try {
    checkZone(name)
  } catch {
    return false
  }
  reader.at += name.length
  reader.zone = name
  return true
}

function fieldName(letter: string): string {
  if (letter === 'L') return 'M'
  return letter === 'X' || letter === 'x' ? 'Z' : letter
}

/** A field that is a word; undefined for one that is a number. */
function named(reader: Reader, letter: string, width: number): number | undefined {
  const { context, locale } = reader
  if ('ML'.includes(letter) && width > 2) {
    const month = oneOf(reader, 12, (i) =>
      monthName(context, locale, Date.UTC(2024, i, 1), width, letter === 'L'),
    )
    return month === undefined ? undefined : month + 1
  }
  // 1 January 2024 is a Monday.
  if (letter === 'E')
    return oneOf(reader, 7, (i) => weekdayName(context, locale, Date.UTC(2024, 0, i + 1), width))
  if (letter === 'a') return oneOf(reader, 2, (i) => halfOfDay(context, locale, i * 12 * 3_600_000))
  return 'XxZ'.includes(letter) ? offsetMinutes(reader, letter) : undefined
}

/** Which of the names comes next, the longest one first: May is not the start of another month. */
function oneOf(reader: Reader, count: number, name: (index: number) => string): number | undefined {
  const names = Array.from({ length: count }, (_, index) => ({ index, name: name(index) }))
  names.sort((a, b) => b.name.length - a.name.length)
  const found = names.find(({ name }) => {
    const input = reader.text.slice(reader.at, reader.at + name.length)
    return name !== '' && input.toLowerCase() === name.toLowerCase()
  })
  if (found === undefined) return undefined
  reader.at += found.name.length
  return found.index
}

function offsetMinutes(reader: Reader, letter: string): number | undefined {
  const match = /^(?:(Z)|([+-])(\d{2}):?(\d{2})?)/.exec(reader.text.slice(reader.at, reader.at + 6))
  if (!match || (match[1] !== undefined && letter !== 'X')) return undefined
  const [whole, , sign, hours = '0', minutes = '0'] = match
  reader.at += whole.length
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

/** Two letters take two digits, one letter takes one or two (a year up to four). Right before digits the width is exact. */
function numeric(
  reader: Reader,
  letter: string,
  width: number,
  next: PatternPart | undefined,
): number | undefined {
  if (!'yYMLdQwHhKkmsS'.includes(letter) || (width > 2 && 'ML'.includes(letter))) return undefined
  const isExact = width > 1 || letter === 'S' || (next !== undefined && 'letter' in next)
  const most = isExact ? width : letter === 'y' || letter === 'Y' ? 4 : 2
  const digits = /^\d*/.exec(reader.text.slice(reader.at, reader.at + most))?.[0] ?? ''
  if (digits.length < (isExact ? width : 1)) return undefined
  reader.at += digits.length
  return letter === 'S' ? Math.floor(Number(`0.${digits}`) * 1000) : Number(digits)
}

/** Undefined for a date that does not exist. */
function dateOf(fields: Fields): Temporal.PlainDateTime | undefined {
  const hour = hourOf(fields)
  const day = fields.has('w') ? dayOfWeek(fields) : dayOfMonth(fields)
  if (day === undefined || hour === undefined) return undefined
  const [minute = 0, second = 0, millisecond = 0] = [fields.get('m'), fields.get('s'), fields.get('S')]
  return existing(() =>
    day.toPlainDateTime(
      Temporal.PlainTime.from({ hour, minute, second, millisecond }, { overflow: 'reject' }),
    ),
  )
}

function dayOfMonth(fields: Fields): Temporal.PlainDate | undefined {
  const [year, quarter = 1] = [fields.get('y'), fields.get('Q')]
  if (year === undefined || quarter < 1 || quarter > 4) return undefined
  const [month = quarter * 3 - 2, day = 1] = [fields.get('M'), fields.get('d')]
  if (fields.has('Q') && Math.ceil(month / 3) !== quarter) return undefined
  return existing(() => new Temporal.PlainDate(year, month, day))
}

/** The weekday that the text names, else Monday. */
function dayOfWeek(fields: Fields): Temporal.PlainDate | undefined {
  const [year, week = 1, weekday = 0] = [fields.get('Y'), fields.get('w'), fields.get('E')]
  if (year === undefined || week < 1) return undefined
  // 4 January is always in the first week.
  const fourth = new Temporal.PlainDate(year, 1, 4)
  const day = fourth.add({ days: (week - 1) * 7 + weekday + 1 - fourth.dayOfWeek })
  return day.yearOfWeek === year ? day : undefined
}

function existing<T>(date: () => T): T | undefined {
  try {
    return date()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function hourOf(fields: Fields): number | undefined {
  const ofTwelve = fields.get('h') ?? fields.get('K')
  if (ofTwelve === undefined) return (fields.get('H') ?? fields.get('k') ?? 0) % (fields.has('k') ? 24 : 100)
  const isInRange = fields.has('h') ? ofTwelve >= 1 && ofTwelve <= 12 : ofTwelve <= 11
  return isInRange ? (ofTwelve % 12) + 12 * (fields.get('a') ?? 0) : undefined
}

function instantOf(date: Temporal.PlainDateTime, fields: Fields, zone: string): Temporal.ZonedDateTime {
  const offset = fields.get('Z')
  if (offset === undefined) return inZone(zone, () => date.toZonedDateTime(zone))
  return date.toZonedDateTime('UTC').subtract({ minutes: offset })
}
