import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { numberInText } from './scalar-text.ts'

describe('numberInText', () => {
  test.each([
    '',
    ' ',
    ' 5',
    '5 ',
    '+5',
    '05',
    '007',
    '.5',
    '5.',
    '1e',
    '0x10',
    '1_000',
    '1,000',
    'NaN',
    'Infinity',
    '1e999',
    '--1',
  ])('%j is only text', (text) => {
    expect(numberInText(text)).toBeUndefined()
  })

  test.each(['9007199254740992', '-9007199254740993', '4111111111111111222', '1e20'])(
    '%s is a whole number that would be rounded',
    (text) => {
      expect(numberInText(text)).toBeUndefined()
    },
  )

  test.each([
    ['0', 0],
    ['-0.5', -0.5],
    ['10.50', 10.5],
    ['5e3', 5000],
    ['1E-2', 0.01],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('%s is %d', (text, number) => {
    expect(numberInText(text)).toBe(number)
  })

  test('reads every number as JSON does', () => {
    const numbers = fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, min: -1e9, max: 1e9 }))
    fc.assert(fc.property(numbers, (number) => numberInText(JSON.stringify(number)) === number))
  })
})
