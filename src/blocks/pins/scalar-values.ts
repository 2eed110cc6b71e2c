import { readIsoDate } from '../../shared/dates/dates.ts'
import { isLargerThan, type JsonValue } from '../../shared/json.ts'
import { keepsDigits } from '../../shared/numbers/exact-json.ts'
import { PinError } from '../block.ts'

/** At this size a number is taken for milliseconds: as seconds it would be the year 5138. */
const MILLISECONDS_FROM = 1e11

/** A Date, ISO 8601 text (UTC when it names no zone), or Unix seconds; undefined for anything else. */
export function readDate(value: unknown): Date | undefined {
  if (value instanceof Date) return valid(value)
  if (typeof value === 'number')
    return valid(new Date(Math.abs(value) >= MILLISECONDS_FROM ? value : value * 1000))
  if (typeof value !== 'string') return undefined
  const milliseconds = readIsoDate(value.trim())
  return milliseconds === undefined ? undefined : new Date(milliseconds)
}

function valid(date: Date): Date | undefined {
  return Number.isNaN(date.getTime()) ? undefined : date
}

const SECOND = 1000
const sizes: Readonly<Record<string, number>> = {
  s: SECOND,
  m: 60 * SECOND,
  h: 3600 * SECOND,
  d: 86_400 * SECOND,
}

/** Milliseconds of `30s`, `5m`, `2h` or `1d`, or of a plain number of seconds; undefined for anything else. */
export function readDuration(text: string): number | undefined {
  const [, amount, unit = 's'] = /^(\d{1,10}) ?([smhd])?$/.exec(text.trim()) ?? []
  const size = sizes[unit]
  return amount === undefined || size === undefined ? undefined : Number(amount) * size
}

/** The grammar of a JSON number. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * The number that text spells exactly as JSON would, else undefined: not for "007" or " 5", nor for whole numbers so
 * large that a double would round them to another one (long ids, card numbers).
 */
export function numberInText(text: string): number | undefined {
  if (!NUMBER.test(text) || !keepsDigits(text)) return undefined
  const number = Number(text)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? undefined : number
}

/** Far more than a line of a page, for a list that may have a thousand of them. */
const MOST_VALUES = 1_000
const MOST_CHARACTERS = 100_000

/** A value as the text of a page: JSON for an object or a list. Throws PinError for one that is too large to be read. */
export function textOf(pin: string, value: JsonValue | undefined): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'object') return String(value)
  if (isLargerThan(value, MOST_VALUES, MOST_CHARACTERS))
    throw new PinError(pin, 'holds an object or list that is too large to be shown as text')
  return JSON.stringify(value)
}
