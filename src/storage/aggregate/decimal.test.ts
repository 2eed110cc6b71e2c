import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { add, average, DecimalSum, decimalOf, nearestNumber, ZERO } from './decimal.ts'

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
