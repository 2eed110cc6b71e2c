import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  add,
  addNumbers,
  average,
  DecimalSum,
  decimalOf,
  exactAverage,
  exactSum,
  multiplyNumbers,
  nearestNumber,
  ZERO,
} from './decimal.ts'

const numbers = fc.array(
  fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer({ min: -1e9, max: 1e9 }).map((cents) => cents / 100),
  ),
  { minLength: 1, maxLength: 30 },
)

function sumOf(list: readonly number[]) {
  return list.reduce((so, number) => add(so, decimalOf(String(number))), ZERO)
}

/** In 800 decimal places, which JavaScript reads as the nearest double. */
function quotientText(digits: bigint, divisor: bigint): string {
  const places = 800
  const size = (digits < 0n ? -digits : digits) * 10n ** BigInt(places)
  return `${digits < 0n ? '-' : ''}${size / divisor}${size % divisor === 0n ? '' : '1'}e-${places + (size % divisor === 0n ? 0 : 1)}`
}

describe('exact sums', () => {
  test.each([
    ['0.1', 1n, 1],
    ['-12.50', -1250n, 2],
    ['5e-324', 5n, 324],
    ['1.5e+21', 1_500_000_000_000_000_000_000n, 0],
  ])('%s is read as it is written', (text, digits, places) => {
    expect(decimalOf(text)).toEqual({ digits, places })
  })

  test.each([
    [[0.1, 0.2], 0.3],
    [[1e17, 1, -1e17], 1],
    [[9_007_199_254_740_992, 1, 1], 9_007_199_254_740_994],
    [[1.7e308, 1.7e308], null],
    [[1.7e308, 1.7e308, -1.7e308], 1.7e308],
    [[5e-324, -5e-324], 0],
    [[-123_456_789_012_345_680_000, 44.12345678901234, -44.12345678901234, 123_456_789_012_345_680_000], 0],
    [[-0.12345678901234566, -44.12345678901234], -44.24691357802469],
  ])('the sum of %j is %j', (list, sum) => {
    expect(nearestNumber(sumOf(list))).toBe(sum)
    const one = new DecimalSum()
    for (const number of list) one.add(number)
    expect(nearestNumber(one.value)).toBe(sum)
  })

  test('adding one by one gives the same in any order', () => {
    fc.assert(
      fc.property(numbers, (list) => {
        const [forwards, backwards] = [new DecimalSum(), new DecimalSum()]
        for (const number of list) forwards.add(number)
        for (const number of list.toReversed()) backwards.add(number)
        const sum = nearestNumber(sumOf(list))
        expect([nearestNumber(forwards.value), nearestNumber(backwards.value)]).toEqual([sum, sum])
      }),
    )
  })

  test('an average is the double that is nearest to the exact quotient', () => {
    const small = fc.array(
      fc.integer({ min: -1e12, max: 1e12 }).map((cents) => cents / 10_000),
      { minLength: 1, maxLength: 30 },
    )
    fc.assert(
      fc.property(small, (list) => {
        const { digits, places } = sumOf(list)
        const exact = Number(quotientText(digits, BigInt(list.length) * 10n ** BigInt(places)))
        expect(average({ digits, places }, list.length)).toBe(exact + 0)
      }),
      { numRuns: 1_000 },
    )
  })

  test('control: doubles added one after the other differ', () => {
    expect([0.1, 0.2].reduce((a, b) => a + b)).not.toBe(nearestNumber(sumOf([0.1, 0.2])))
  })
})

describe('two numbers', () => {
  test.each([
    [0.1, 0.2, 0.3],
    [6.5, -4.1, 2.4],
    [19.99, -0.1, 19.89],
    [1e-10, 2e-10, 3e-10],
    [1e15, 0.1, 1_000_000_000_000_000.1],
    [-0.1, 0.1, 0],
    [2 ** 53, 1, 2 ** 53],
    // Fifteen decimal places; doubles give …381 and …101.
    [0.287964035147978, 0.57152737405816, 0.859491409206138],
    [0.648531583114716, 0.096328760276794, 0.74486034339151],
    [1e308, 1e308, Number.POSITIVE_INFINITY],
    [1e300, 5e-324, 1e300],
  ])('%d and %d add up as decimals to %d', (a, b, sum) => {
    expect([addNumbers(a, b), addNumbers(b, a)]).toEqual([sum, sum])
  })

  test.each([
    [1.15, 100, 115],
    [0.1, 3, 0.3],
    [-1.1, 1.1, -1.21],
    [0.07, 100, 7],
    // Ten decimal places, the most that a factor has.
    [1.0000000003, 1.1, 1.10000000033],
    [0, -1.5, 0],
    [1e308, 10, Number.POSITIVE_INFINITY],
  ])('%d times %d is %d', (a, b, product) => {
    expect([multiplyNumbers(a, b) + 0, multiplyNumbers(b, a) + 0]).toEqual([product, product])
  })

  const written = fc
    .tuple(fc.integer({ min: -9e6, max: 9e6 }), fc.integer({ min: 0, max: 7 }))
    .map(([digits, places]) => Number(`${digits}e-${places}`))

  test('of up to 15 digits are calculated exactly', () => {
    fc.assert(
      fc.property(written, written, (a, b) => {
        expect(addNumbers(a, b)).toBe(nearestNumber(add(decimalOf(String(a)), decimalOf(String(b)))))
        const [left, right] = [decimalOf(String(a)), decimalOf(String(b))]
        const product = { digits: left.digits * right.digits, places: left.places + right.places }
        expect(multiplyNumbers(a, b) + 0).toBe(nearestNumber(product))
      }),
    )
  })

  test('products of fifteen digits are exact for each number of places', () => {
    const placed = (most: number) =>
      fc
        .tuple(fc.integer({ min: -most, max: most }), fc.integer({ min: 0, max: 10 }))
        .map(([digits, places]) => Number(`${digits}e-${places}`))
    fc.assert(
      fc.property(placed(9_999_999_999), placed(99_999), (a, b) => {
        const [left, right] = [decimalOf(String(a)), decimalOf(String(b))]
        const product = { digits: left.digits * right.digits, places: left.places + right.places }
        expect(multiplyNumbers(a, b) + 0).toBe(nearestNumber(product))
      }),
      { numRuns: 2_000 },
    )
  })

  test('lists add up in any order', () => {
    fc.assert(
      fc.property(fc.array(written), (list) => {
        expect(exactSum(list)).toBe(exactSum(list.toReversed()))
      }),
    )
    expect([exactSum([0.1, 0.7, 0.2]), exactAverage([0.1, 0.2]), exactSum([])]).toEqual([1, 0.15, 0])
  })
})
