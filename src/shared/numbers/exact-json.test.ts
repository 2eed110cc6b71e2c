import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { atOnce } from '../cooperative.ts'
import { keepsDigits, longNumberIn, longNumbersAsTexts, readJson, readJsonInSteps } from './exact-json.ts'

test.each([
  '9007199254740993',
  '-750727362669608961',
  '1152921504606846977',
  '0.1234567890123456789',
  '12345678901234567.8',
  '0.12345678901234567',
  '1e400',
  '1e-400',
  '1E400',
  '-1.5E-400',
  '1.2345678901234567891e30',
  '9'.repeat(400),
])('%s would be another number', (text) => {
  expect(keepsDigits(text)).toBe(false)
})

test.each([
  '0',
  '-0.0',
  '12.50',
  '9007199254740991',
  '9007199254740992',
  '750727362669609000',
  '1e21',
  '1E+308',
  '5e-324',
  '100000000000000000000000000',
  '0.10000000000000001',
  '3.1415926535897931',
  '0.1000000000000000000000',
])('%s stays what it is', (text) => {
  expect(keepsDigits(text)).toBe(true)
})

test('what a double is written as keeps its digits', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      expect(keepsDigits(JSON.stringify(number))).toBe(true)
    }),
  )
})

test.each([
  ['9007199254740993', ''],
  ['{"id":9007199254740993}', 'id'],
  [
    '{ "a": {"x": [1, {"b":2}]}, "lines": [ {"id":1}, {"q":"9007199254740993,", "id" : 9007199254740993} ] }',
    'lines.1.id',
  ],
  ['[[],[1,[2,"]",9007199254740993]]]', '1.1.2'],
  ['{"a\\"b":9007199254740993}', 'a"b'],
])('a number that would change is found with its field: %s', (json, field) => {
  expect(longNumberIn(json)).toEqual({ text: '9007199254740993', field })
})

test('digits in texts and names are no numbers', () => {
  const json = '{"9007199254740993":"9007199254740993","b":"\\"9007199254740993","c":1}'
  expect([longNumberIn(json), longNumbersAsTexts(json)]).toEqual([undefined, json])
})

test('numbers that would change become texts, and others stay', () => {
  const json = '{"id": 9007199254740993, "list":[1,-0.1234567890123456789,2.5], "text":"9007199254740993"}'
  expect(JSON.parse(longNumbersAsTexts(json))).toEqual({
    id: '9007199254740993',
    list: [1, '-0.1234567890123456789', 2.5],
    text: '9007199254740993',
  })
})

test.each([
  ['{', 'is not JSON'],
  ['"\\u0000"', 'holds the character U+0000'],
  [
    '{"a":[1e999]}',
    'holds the number 1e999 at a.0, which JSON numbers cannot keep digit by digit: send it as a text',
  ],
])('%s is a problem and no value', (text, problem) => {
  expect(readJson(text)).toMatchObject({ problem })
})

test('a number that is too long is named by its field, and only where it has one', () => {
  expect(readJson('{"a":[1e999]}')).toMatchObject({ field: 'a.0' })
  expect(readJson('1e999')).not.toHaveProperty('field')
})

test('where each number of many is looked at, the first long one is found', () => {
  const ones = '1,'.repeat(10_000)
  expect(longNumberIn(`[${ones}1e100,0.10000000000000001,-1.50e2,9007199254740993]`)).toEqual({
    text: '9007199254740993',
    field: '10003',
  })
})

test('a number of more than a thousand characters is not looked at: it is refused', () => {
  const zeros = (count: number) => `[1.${'0'.repeat(count)}]`
  expect([longNumberIn(zeros(900)), longNumberIn(zeros(1_000))?.field]).toEqual([undefined, '0'])
})

test('an exponent is found wherever a long text is cut', () => {
  for (let before = 1_048_568; before < 1_048_582; before++)
    expect(longNumberIn(`["${'x'.repeat(before - 3)}",1e-999]`)?.text).toBe('1e-999')
})

test('a run of digits is found wherever it stands', () => {
  for (let before = 0; before < 40; before++)
    for (const digits of ['1234567890123456789', '0.12345678901234567', '12345678901234567.5']) {
      const json = `["${' '.repeat(before)}",1,23.5,${digits},1]`
      expect(longNumberIn(json)?.text).toBe(digits)
    }
  expect(longNumberIn(`[${'123456789012345,'.repeat(1_000)}1]`)).toBeUndefined()
})

test('a long text of 65 levels is refused before it is parsed, and one of 64 is not', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${'[],'.repeat(50_000)}1${']'.repeat(levels)}`
  const parse = vi.spyOn(JSON, 'parse')
  expect(atOnce(readJsonInSteps(nested(65)))).toEqual({ problem: 'is nested deeper than 64 levels' })
  expect(parse).not.toHaveBeenCalled()
  parse.mockRestore()
  expect(atOnce(readJsonInSteps(nested(63)))).toHaveProperty('value')
})
