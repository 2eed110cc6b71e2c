import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { parseJsonBody, syntaxErrorAt } from './json-body.ts'

const bytes = (text: string) => Buffer.from(text)
const namesOf = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')

describe('a JSON body', () => {
  it.each([
    ['broken UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22]), /not UTF-8/],
    ['a value that is no JSON', bytes('{"a": x}'), /line 1, column 7 \(position 6\): a value was expected/],
    ['a mistake in the third line', bytes('{\n "a": 1,\n "b" 2}'), /line 3, column 6 .*a colon was expected/],
    ['a body that was cut off', bytes('{"a": [1, 2'), /position 11\): the text ends too early/],
    ['two values', bytes('{} {}'), /position 3\): nothing was expected after the value/],
    ['a comma at the end', bytes('[1,]'), /a value was expected/],
    ['__proto__', bytes('{"a":{"__proto__":{"admin":true}}}'), /prototype/],
    ['__proto__ in escapes', bytes('{"\\u005f_proto__":{}}'), /prototype/],
    ['constructor.prototype', bytes('{"constructor":{"prototype":{"a":1}}}'), /prototype/],
    ['65 levels', bytes(`${'['.repeat(65)}${']'.repeat(65)}`), /deeper than 64/],
    ['40,000 levels', bytes(`${'[{"a":'.repeat(20_000)}1${'}]'.repeat(20_000)}`), /deeper than 64/],
    [
      '65 levels behind brackets in a text',
      bytes(`{"a":"${']'.repeat(99)}\\\\","b":${'['.repeat(64)}${']'.repeat(64)}}`),
      /deeper than 64/,
    ],
    [
      '65 levels behind a quote in a text',
      bytes(`{"a":"\\"${']'.repeat(99)}","b":${'['.repeat(64)}${']'.repeat(64)}}`),
      /deeper than 64/,
    ],
    ['50,001 empty objects', bytes(`[${'{},'.repeat(50_000)}1]`), /more than 50,000 objects and lists/],
    [
      '50,001 lists in lists',
      bytes(`{"a":[${'[[]],'.repeat(25_000)}1]}`),
      /more than 50,000 objects and lists/,
    ],
    [
      '25,001 names in one object',
      bytes(`{"a":{${namesOf(25_001)}}}`),
      /an object with more than 25,000 names/,
    ],
    [
      '25,001 names around another object',
      bytes(`{${namesOf(13_000)},"o":{"a":[{"b":1}]},${namesOf(12_001)}}`),
      /an object with more than 25,000 names/,
    ],
    ['U+0000', bytes('{"a":"\\u0000"}'), /U\+0000/],
    ['U+0000 in a name', bytes('{"a\\u0000":1}'), /U\+0000/],
    ['half of a surrogate pair', bytes('["\\ud800"]'), /surrogate/],
    ['a number with too large an exponent', bytes('[1e999]'), /holds the number .* at 0/],
    ['a number with too small an exponent', bytes('[1e-999]'), /holds the number 1e-999 at 0/],
    [
      'an id beyond 2^53',
      bytes('{"lines":[{"id":750727362669608961}]}'),
      /750727362669608961 at lines\.0\.id/,
    ],
    ['a number with 400 digits', bytes(`[${'9'.repeat(400)}]`), /holds the number .* at 0/],
  ])('refuses %s', (_name, body, message) => {
    expect(() => parseJsonBody(body)).toThrow(expect.objectContaining({ code: 'INVALID_BODY' }))
    expect(() => parseJsonBody(body)).toThrow(message)
  })

  it.each([
    ['nothing', '', undefined],
    ['a value that is no object', '5', 5],
    ['64 levels', '['.repeat(64) + ']'.repeat(64), JSON.parse('['.repeat(64) + ']'.repeat(64))],
    ['brackets in a text', `["${'['.repeat(100)}",[]]`, ['['.repeat(100), []]],
    ['many brackets side by side', `[${'{},'.repeat(100)}1]`, JSON.parse(`[${'{},'.repeat(100)}1]`)],
    ['50,000 objects and lists', `[${'{},'.repeat(49_999)}1]`, JSON.parse(`[${'{},'.repeat(49_999)}1]`)],
    [
      '60,000 objects that hold something',
      `[${'{"name":"a name of some length"},'.repeat(60_000)}1]`,
      JSON.parse(`[${'{"name":"a name of some length"},'.repeat(60_000)}1]`),
    ],
    [
      'many names in several objects',
      `[{${namesOf(25_000)}},{${namesOf(25_000)}}]`,
      JSON.parse(`[{${namesOf(25_000)}},{${namesOf(25_000)}}]`),
    ],
    ['colons and brackets in a text', `["${'{:'.repeat(60_000)}"]`, ['{:'.repeat(60_000)]],
    ['escapes of whole characters', '"\\ud83d\\ude00\\u00e9"', '😀é'],
    ['large and small exponents', '[1e-300, 1e300]', [1e-300, 1e300]],
    ['text that looks like an exponent', '"1e999"', '1e999'],
    ['constructor without prototype', '{"constructor":"Bob"}', { constructor: 'Bob' }],
  ])('takes %s', (_name, body, value) => {
    expect(parseJsonBody(bytes(body))).toEqual(value)
  })

  it('never quotes the body in an error', () => {
    expect(() => parseJsonBody(bytes('{"password": hunter2}'))).toThrow(/^(?!.*hunter).*$/s)
  })
})

describe('where text stops being JSON', () => {
  const isJson = (text: string) => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }

  /** JSON with one character changed is nearly JSON, which plain random text never is. */
  const nearlyJson = fc
    .tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', '"', '}', ']', ',', ':', '0', '-', '\\', '\n', 'e', '.', ' '),
    )
    .map(([text, at, put]) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + put + text.slice(place + 1)
    })

  it('agrees with the parser on what is JSON', () => {
    fc.assert(
      fc.property(fc.oneof(nearlyJson, fc.json({ stringUnit: 'binary' }), fc.string()), (text) => {
        expect(syntaxErrorAt(text) === undefined).toBe(isJson(text))
      }),
      { numRuns: 3000 },
    )
  })
})

test('a body with more values than a flow takes is refused before it is parsed; commas in texts are none', () => {
  const list = Buffer.from(`[${'1,'.repeat(700_000)}1]`)
  expect(() => parseJsonBody(list)).toThrow(
    expect.objectContaining({ code: 'INVALID_BODY', message: 'The body holds more than 600,000 values.' }),
  )
  const text = ','.repeat(700_000)
  expect(parseJsonBody(Buffer.from(JSON.stringify({ text })))).toEqual({ text })
})
