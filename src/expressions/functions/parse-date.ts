import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import { isTimeField, type PatternPart, readPatternParts } from '../language/literals/date-pattern.ts'
import { halfOfDay, monthName, weekdayName } from './date-names.ts'
import { inZone, momentText } from './moment.ts'

/** All names of months of a locale are compared with the text: 15 µs. */
const WORK_OF_PART = 150

/** What was read, by letter of the pattern; Z for every kind of offset, in minutes. */
type Fields = Map<string, number>

interface Reader {
  readonly context: FunctionContext
  readonly text: string
  readonly locale: string
  at: number
}

/** Date text by a pattern of Unicode TR 35: a day if the pattern has no time, else an instant. */
export function parsedDate(
  context: FunctionContext,
  text: string,
  pattern: string,
  zone: string,
  locale: string,
): string {
  const parts = readPatternParts(pattern)
  context.spend(0, parts.length * WORK_OF_PART)
  const reader: Reader = { context, text, locale, at: 0 }
  const fields: Fields = new Map()
  const isRead = parts.every((part, i) => isPartRead(reader, part, parts[i + 1], fields))
  const date = isRead && reader.at === text.length ? dateOf(fields) : undefined
  if (date === undefined) throw new ArgumentError('text', `must be a date of the form ${pattern}`)
  const hasTime = parts.some((part) => 'letter' in part && isTimeField(part.letter))
  return momentText('text', hasTime ? instantOf(date, fields, zone) : date.toPlainDate())
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
  const value = named(reader, letter, width) ?? numeric(reader, letter, width, next)
  if (value === undefined) return false
  fields.set(fieldName(letter), letter === 'y' && width === 2 ? 2000 + value : value)
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
    const given = reader.text.slice(reader.at, reader.at + name.length)
    return name !== '' && given.toLowerCase() === name.toLowerCase()
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
  if (!'yMLdHhKkmsS'.includes(letter) || (width > 2 && 'ML'.includes(letter))) return undefined
  const isExact = width > 1 || letter === 'S' || (next !== undefined && 'letter' in next)
  const most = isExact ? width : letter === 'y' ? 4 : 2
  const digits = /^\d*/.exec(reader.text.slice(reader.at, reader.at + most))?.[0] ?? ''
  if (digits.length < (isExact ? width : 1)) return undefined
  reader.at += digits.length
  return letter === 'S' ? Math.floor(Number(`0.${digits}`) * 1000) : Number(digits)
}

/** Undefined for a date that does not exist. */
function dateOf(fields: Fields): Temporal.PlainDateTime | undefined {
  const [year, hour] = [fields.get('y'), hourOf(fields)]
  if (year === undefined || hour === undefined) return undefined
  const [month = 1, day = 1] = [fields.get('M'), fields.get('d')]
  const [minute = 0, second = 0, millisecond = 0] = [fields.get('m'), fields.get('s'), fields.get('S')]
  try {
    return new Temporal.PlainDateTime(year, month, day, hour, minute, second, millisecond)
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
