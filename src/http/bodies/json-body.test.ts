import fc from 'fast-check'
import { afterEach, describe, expect, it, test, vi } from 'vitest'
import { slowSteps, turnsDuring } from '../../../test/turns-during.ts'
import { atOnce } from '../../shared/cooperative.ts'
import { jsonBodyInSteps, parseJsonBody, readDocumentBody, readJsonBody, syntaxErrorAt } from './json-body.ts'

const bytes = (text: string) => Buffer.from(text)
const inSteps = (body: Buffer) => atOnce(jsonBodyInSteps(body, { isDocument: false }))
function refusalOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof Error) return error.message
  }
  throw new Error('It was not refused.')
}
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
    expect(refusalOf(() => inSteps(body))).toBe(refusalOf(() => parseJsonBody(body)))
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
    if (body !== '') expect(inSteps(bytes(body))).toEqual(value)
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

describe('a body of more than a megabyte is read in turns', () => {
  afterEach(() => vi.restoreAllMocks())
  const SIZE = 2_000_000
  const times = (text: string) => text.repeat(SIZE / text.length)
  // Of each 65,536 characters of these, at the most, something else has its turn.
  const TURNS = SIZE / 65_536

  test.each([
    ['that breaks off', `{"a":"${times('x')}`, /the text ends too early|a value was expected/],
    ['with a mistake behind a long text', `["${times('é')}" 1]`, /a comma or the closing bracket/],
    ['with a mistake behind line ends', `[1${times('\n')}x]`, /line 2000001, column 1 /],
    ['with a mistake behind many numbers', `[${times('1.5,')}x]`, /position 2000001/],
    ['with a bad escape at its end', `["${times('\\n')}\\x"]`, /a value or ] was expected/],
    ['with a prototype', `{"a":"${times('x')}","constructor":{"prototype":{}}}`, /prototype of objects/],
    ['with __proto__', `{"__proto__":"${times('x')}"}`, /prototype of objects/],
    ['with a long number', `{"a":"${times('x')}","b":[9007199254740993]}`, /9007199254740993 at b\.0/],
    ['with U+0000', `{"a":"${times('x')}\\u0000"}`, /U\+0000/],
    ['nested too deep', `{"a":"${times('x')}","b":${'['.repeat(64)}${']'.repeat(64)}}`, /deeper than 64/],
  ])('one %s is refused as a short one is', async (_name, text, message) => {
    slowSteps()
    const read = async () => await readJsonBody(bytes(text))
    expect(await turnsDuring(() => expect(read()).rejects.toThrow(message))).toBeGreaterThan(TURNS)
    expect(refusalOf(() => parseJsonBody(bytes(text)))).toMatch(message)
  })

  test.each([
    ['letters', `{"a":"${times('x')}"}`],
    ['two bytes a character', `{"a":"${times('é')}"}`],
    ['escapes', `{"a":"${times('\\n')}"}`],
    ['quotes in a text', `{"a":"${times('\\"')}"}`],
    ['backslashes', `{"a":"${times('\\\\')}"}`],
    ['blanks', `{"a":${times(' ')}1}`],
    ['blanks around it', `${times(' ')}[]${times('\n')}`],
    ['a long name', `{"${times('x')}":1}`],
    ['texts', `[${times('"abcdefg",')}"x"]`],
  ])('one of %s', async (_name, text) => {
    slowSteps()
    let value: unknown
    const read = async () => {
      value = await readJsonBody(bytes(text))
    }
    expect(await turnsDuring(read)).toBeGreaterThan(TURNS)
    expect(value).toEqual(JSON.parse(text))
  })

  test('the fields of a document are counted before it is parsed', async () => {
    const text = `{"a":"${times('x')}",${namesOf(10_001)}}`
    const read = async () => await readDocumentBody(bytes(text))
    await expect(read()).rejects.toThrow('The document has more than 10,000 fields')
    expect(await readJsonBody(bytes(text))).toEqual(JSON.parse(text))
  })
})
