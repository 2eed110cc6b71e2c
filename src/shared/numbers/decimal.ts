/** Exact calculations with JSON numbers: each counts as the decimal that JSON writes, and the result is rounded once. */

/** `digits` times ten to the power of minus `places`. */
export interface Decimal {
  readonly digits: bigint
  readonly places: number
}

export const ZERO: Decimal = { digits: 0n, places: 0 }

/** From `-12.50`, `5e-324`, `1e+21`. */
export function decimalOf(text: string): Decimal {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = BigInt(whole + fraction)
  const places = fraction.length - Number(exponent)
  return places >= 0 ? { digits, places } : { digits: digits * 10n ** BigInt(-places), places: 0 }
}

export function add(a: Decimal, b: Decimal): Decimal {
  const places = Math.max(a.places, b.places)
  return { digits: scaled(a, places) + scaled(b, places), places }
}

/** The nearest double; null beyond the largest. */
export function nearestNumber({ digits, places }: Decimal): number | null {
  const number = Number(`${digits}e-${places}`)
  return Number.isFinite(number) ? number + 0 : null
}

/** The double that is nearest to the exact quotient; null beyond the largest. */
export function average({ digits, places }: Decimal, count: number): number | null {
  const divisor = BigInt(count) * 10n ** BigInt(places)
  const size = digits < 0n ? -digits : digits
  // A quotient of 64 bits or more, whose last bit stands for all that is cut off: the conversion then rounds rightly, once.
  const shift = Math.max(0, 64 + bits(divisor) - bits(size))
  const dividend = size << BigInt(shift)
  const quotient = dividend / divisor
  const whole = dividend % divisor === 0n ? quotient : quotient | 1n
  const number = Number(whole) / 2 ** Math.min(shift, 1_000) / 2 ** Math.max(0, shift - 1_000)
  if (!Number.isFinite(number)) return null
  return digits < 0n ? -number : number
}

function scaled({ digits, places }: Decimal, requested: number): bigint {
  return places === requested ? digits : digits * 10n ** BigInt(requested - places)
}

function bits(number: bigint): number {
  return number.toString(16).length * 4
}

/** Integers that a double adds exactly. */
const EXACT = 2 ** 52
/** With their sign. Longer ones, of up to 21 digits, are added in two parts. */
const MOST_DIGITS = 15
const LOW_DIGITS = 9

/** A sum to which many numbers are added one by one. */
export class DecimalSum {
  /** Of integers in units of ten to the power of minus the key, as long as doubles add them exactly. */
  readonly #fast = new Map<number, number>()
  #slow = ZERO

  add(number: number): void {
    const text = String(number)
    if (text.includes('e')) {
      this.#slow = add(this.#slow, decimalOf(text))
      return
    }
    const point = text.indexOf('.')
    const places = point < 0 ? 0 : text.length - point - 1
    const digits = point < 0 ? text : text.slice(0, point) + text.slice(point + 1)
    if (digits.length <= MOST_DIGITS) this.#addUnits(Number(digits), places)
    else {
      const sign = number < 0 ? -1 : 1
      this.#addUnits(Number(digits.slice(0, -LOW_DIGITS)), places - LOW_DIGITS)
      this.#addUnits(sign * Number(digits.slice(-LOW_DIGITS)), places)
    }
  }

  #addUnits(units: number, places: number): void {
    const before = this.#fast.get(places) ?? 0
    const sum = before + units
    if (Math.abs(sum) < EXACT) this.#fast.set(places, sum)
    else {
      this.#slow = add(this.#slow, { digits: BigInt(before), places })
      this.#fast.set(places, units)
    }
  }

  get value(): Decimal {
    let sum = this.#slow
    for (const [places, digits] of this.#fast) sum = add(sum, { digits: BigInt(digits), places })
    return sum
  }
}

/** The exact sum of many numbers, rounded once; infinite beyond the largest number. */
export function exactSum(numbers: readonly number[]): number {
  return nearestNumber(sumOf(numbers)) ?? Number.POSITIVE_INFINITY
}

/** The exact average of at least one number, rounded once; infinite beyond the largest number. */
export function exactAverage(numbers: readonly number[]): number {
  return average(sumOf(numbers), numbers.length) ?? Number.POSITIVE_INFINITY
}

function sumOf(numbers: readonly number[]): Decimal {
  const sum = new DecimalSum()
  for (const number of numbers) sum.add(number)
  return sum.value
}

/** Doubles of up to so many digits are written as the decimal that they came from, and no other one of so few. */
const WRITTEN = 10 ** MOST_DIGITS
/** Units in which two decimals may be whole numbers. All are exact as doubles, and so is each division by one, but for its rounding. */
const UNITS = [1e2, 1e4, 1e8, 1e15, 1e22]
/**
 * `a + b` of the decimals that are written: 0.1 + 0.2 is 0.3. For up to 15 digits on both sides; longer ones are results of divisions and
 * the like, and add up as doubles do. Takes 2 to 80 ns.
 */
export function addNumbers(a: number, b: number): number {
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) return a + b
  for (const unit of UNITS) {
    const [left, right] = [unitsOf(a, unit), unitsOf(b, unit)]
    if (left !== undefined && right !== undefined) return (left + right) / unit
  }
  return a + b
}

/** Products of two of them are exact doubles. */
const UNITS_OF_FACTORS = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10]

/** `a * b` of the decimals that are written: 1.15 * 100 is 115. For products of up to 15 digits; takes 2 to 80 ns. */
export function multiplyNumbers(a: number, b: number): number {
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) return a * b
  const left = factorUnit(a)
  const right = left === undefined ? undefined : factorUnit(b)
  if (left === undefined || right === undefined) return a * b
  const product = Math.round(a * left) * Math.round(b * right)
  return Number.isSafeInteger(product) ? product / (left * right) : a * b
}

function factorUnit(number: number): number | undefined {
  return UNITS_OF_FACTORS.find((unit) => unitsOf(number, unit) !== undefined)
}

function unitsOf(number: number, unit: number): number | undefined {
  const units = Math.round(number * unit)
  return units / unit === number && Math.abs(units) < WRITTEN ? units : undefined
}
