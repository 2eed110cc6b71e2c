import type { JsonValue } from '../../shared/json.ts'
import { lruCache } from '../../shared/lru-cache.ts'
import { addNumbers, exactAverage, exactSum } from '../../shared/numbers/decimal.ts'
import { keepsDigits } from '../../shared/numbers/exact-json.ts'
import type { numberFunctions } from '../language/declared/numbers.ts'
import { ArgumentError, type FunctionContext } from '../language/function-declaration.ts'
import { checkLocale } from '../language/literals/literals.ts'
import type { BodiesOf } from './body-of.ts'
import { spendOn, spendOnFormat, spendOnSum } from './bounded.ts'

/** As many digits as make a difference to a double. */
const MOST_ROUNDED = 20

/** Whole numbers from here on have no digits after the point. */
const WHOLE_FROM = 2 ** 53

/**
 * Rounds the decimal number that is written, not the double behind it: 1.005 is 1.01 with two digits, although its double is a
 * little less. `whole` rounds a positive number.
 */
export function roundTo(value: number, digits: number, whole: (positive: number) => number): number {
  if (Math.abs(digits) > MOST_ROUNDED)
    throw new ArgumentError('digits', `must be from -${MOST_ROUNDED} to ${MOST_ROUNDED}`)
  const moved = moveDecimalPoint(Math.abs(value), digits)
  if (moved >= WHOLE_FROM) return value
  const rounded = moveDecimalPoint(whole(moved), -digits)
  return value < 0 && rounded !== 0 ? -rounded : rounded
}

/** Exact, which multiplying by a power of ten is not. */
function moveDecimalPoint(value: number, digits: number): number {
  const [mantissa, exponent = '0'] = String(value).split('e')
  return Number(`${mantissa}e${Number(exponent) + digits}`)
}

function halfToEven(positive: number): number {
  const below = Math.floor(positive)
  if (positive - below !== 0.5) return Math.round(positive)
  return below % 2 === 0 ? below : below + 1
}

/** A format costs 20 to 50 µs to make. Some settings of some locales are in use at one time. */
const formats = lruCache<string, Intl.NumberFormat>(200)

const MOST_DIGITS = 20

/** `digits`: exactly so many after the point; undefined: as the style has it. */
function numberFormat(
  context: FunctionContext,
  locale: string,
  digits: number | undefined,
  style: { readonly style?: 'percent' | 'currency'; readonly currency?: string } = {},
): Intl.NumberFormat {
  const key = `${locale} ${digits} ${style.style} ${style.currency}`
  const known = formats.get(key)
  if (known) return known
  if (digits !== undefined && !(digits >= 0 && digits <= MOST_DIGITS))
    throw new ArgumentError('digits', `must be from 0 to ${MOST_DIGITS}`)
  checkLocale(locale)
  spendOnFormat(context)
  const exactly = digits === undefined ? {} : { minimumFractionDigits: digits, maximumFractionDigits: digits }
  const format = new Intl.NumberFormat(locale, { ...style, ...exactly })
  formats.set(key, format)
  return format
}

/** Of one number of 10,000. */
const WORK_OF_SORTED = 10

export const numberBodies: BodiesOf<typeof numberFunctions> = {
  round: (_, value, digits = 0) => roundTo(value, digits, Math.round),
  roundHalfEven: (_, value, digits = 0) => roundTo(value, digits, halfToEven),
  // Adding 0 makes 0 of -0.
  floor: (_, value) => Math.floor(value) + 0,
  ceil: (_, value) => Math.ceil(value) + 0,
  abs: (_, value) => Math.abs(value),
  min: (context, ...values) => least(numbersOf(context, 'values', values.flat()), Math.min),
  max: (context, ...values) => least(numbersOf(context, 'values', values.flat()), Math.max),
  clamp: (_, value, lowest, highest) => {
    if (lowest > highest) throw new ArgumentError('most', 'must not be smaller than least')
    return Math.min(Math.max(value, lowest), highest)
  },
  sum: (context, list) => {
    const numbers = numbersOf(context, 'list', list)
    spendOnSum(context, numbers)
    return bounded('list', exactSum(numbers))
  },
  average: (context, list) => {
    const numbers = numbersOf(context, 'list', list)
    spendOnSum(context, numbers)
    return numbers.length === 0 ? undefined : bounded('list', exactAverage(numbers))
  },
  median: (context, list) => {
    context.spend(0, list.length * WORK_OF_SORTED)
    const numbers = numbersOf(context, 'list', list).sort((a, b) => a - b)
    const [below, above] = [numbers[(numbers.length - 1) >> 1], numbers[numbers.length >> 1]]
    if (below === undefined || above === undefined) return undefined
    if (below === above) return below
    const both = addNumbers(below, above)
    return Number.isFinite(both) ? exactAverage([below, above]) : below / 2 + above / 2
  },
  parseNumber: (context, text, locale = context.locale) => writtenNumber(context, text, locale),
  formatNumber: (context, value, digits, locale = context.locale) =>
    numberFormat(context, locale, digits).format(decimalOf(value, digits)),
  currency: (context, value, code, locale = context.locale) => {
    if (!/^[A-Za-z]{3}$/.test(code)) throw new ArgumentError('code', 'must be three letters such as EUR')
    const format = numberFormat(context, locale, undefined, {
      style: 'currency',
      currency: code.toUpperCase(),
    })
    return format.format(decimalOf(value, format.resolvedOptions().maximumFractionDigits))
  },
  percent: (context, value, digits = 0, locale = context.locale) =>
    numberFormat(context, locale, digits, { style: 'percent' }).format(decimalOf(value, digits + 2)),
}

/** What is formatted is rounded as {@link numberBodies.round} does; Intl would round the double: 1.005 to 1.00. */
function decimalOf(value: number, digits: number | undefined): number {
  return digits === undefined ? value : roundTo(value, Math.min(digits, 20), Math.round)
}

function least(numbers: readonly number[], of: (...numbers: number[]) => number): number | undefined {
  return numbers.length === 0 ? undefined : of(...numbers)
}

/** The numbers of a list; what is nothing is left out, as databases do. */
function numbersOf(context: FunctionContext, parameter: string, list: readonly JsonValue[]): number[] {
  spendOn(context, parameter, list)
  return list.filter((item) => {
    if (item !== null && item !== undefined && typeof item !== 'number')
      throw new ArgumentError(parameter, 'must hold numbers only')
    return typeof item === 'number'
  })
}

function bounded(parameter: string, sum: number): number {
  if (!Number.isFinite(sum)) throw new ArgumentError(parameter, 'has a sum that is too large')
  return sum
}

const LONGEST_NUMBER = 100

function writtenNumber(context: FunctionContext, text: string, locale: string): number | undefined {
  const written = text.trim()
  if (written === '') return undefined
  const { group, decimal } = separatorsOf(context, locale)
  // A client may send a megabyte of digits, which is gone through several times.
  const [head = '', fraction, ...more] = (written.length > LONGEST_NUMBER ? '' : written)
    .replace(/^[+−-]/, '')
    .split(decimal)
  const whole = ungrouped(head, group)
  const isNumber = more.length === 0 && /^\d+$/.test(whole) && /^\d*$/.test(fraction ?? '')
  if (!isNumber)
    throw new ArgumentError(
      'text',
      `is not a number as ${locale} writes it, such as ${sample(context, locale)}`,
    )
  const plain = `${/^[−-]/.test(written) ? '-' : ''}${whole}.${fraction ?? 0}`
  if (!keepsDigits(plain)) throw new ArgumentError('text', 'has more digits than a number keeps')
  return Number(plain) + 0
}

function sample(context: FunctionContext, locale: string): string {
  return numberFormat(context, locale, 2).format(12_345.5)
}

function separatorsOf(
  context: FunctionContext,
  locale: string,
): { readonly group: string; readonly decimal: string } {
  const parts = numberFormat(context, locale, 1).formatToParts(12_345_678.5)
  const partOf = (type: string) => parts.find((part) => part.type === type)?.value
  return { group: partOf('group') ?? ',', decimal: partOf('decimal') ?? '.' }
}

/** Without separators of thousands where they may be; else as it is, which is no number then: 1,5 in English is not 15. */
function ungrouped(text: string, group: string): string {
  const isAlike = (a: string, b: string) => [/^\s$/, /^['’]$/].some((kind) => kind.test(a) && kind.test(b))
  const [first = '', ...others] = text.split(/[\s.,'’]/)
  const separators = [...text.replace(/\d/g, '')]
  const fits = separators.every((one) => one === group || isAlike(one, group))
  const isGrouped = /^\d{1,3}$/.test(first) && others.every((part) => /^\d{3}$/.test(part))
  return others.length > 0 && fits && isGrouped ? first + others.join('') : text
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const LONGEST = 400

/** The finite number that a text spells, with spaces around it; undefined for any other text. */
export function numberFromText(text: string): number | undefined {
  const written = text.trim()
  if (written.length > LONGEST || !NUMBER.test(written)) return undefined
  const number = Number(written)
  return Number.isFinite(number) ? number + 0 : undefined
}
