import { ArgumentError } from '../language/function-declaration.ts'

/** As many digits as make a difference to a double. */
const MOST_DIGITS = 20

/** Whole numbers from here on have no digits after the point. */
const WHOLE_FROM = 2 ** 53

/**
 * Rounds the decimal number that is written, not the double behind it: 1.005 is 1.01 with two digits, although its double is a
 * little less. `whole` rounds a positive number.
 */
export function roundTo(value: number, digits: number, whole: (positive: number) => number): number {
  if (Math.abs(digits) > MOST_DIGITS)
    throw new ArgumentError('digits', `must be from -${MOST_DIGITS} to ${MOST_DIGITS}`)
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

export function halfToEven(positive: number): number {
  const below = Math.floor(positive)
  if (positive - below !== 0.5) return Math.round(positive)
  return below % 2 === 0 ? below : below + 1
}
