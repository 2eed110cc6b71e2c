import fc from 'fast-check'
import { expect, test } from 'vitest'
import { callFunction } from '../../../test/call-function.ts'
import { functionContext } from '../../../test/function-context.ts'
import { wideKeysIn } from './conversion.ts'

const million = 'a'.repeat(1_000_000)
const notJson = 'text must be JSON without keys that change the prototype of objects'

test.each<[string, unknown[], unknown]>([
  ['urlEncode', ['\ud800'], 'text holds half of a surrogate pair'],
  ['urlEncode', ["/?#[]@'ü"], "%2F%3F%23%5B%5D%40'%C3%BC"],
  ['text', [true], 'true'],
  ['text', [{ a: 1 }], '{"a":1}'],
  ['number', ['007'], 7],
  ['number', ['-.5'], -0.5],
  ['number', ['abc'], 'value must be a number; got "abc"'],
  ['number', ['0x10'], 'value must be a number; got "0x10"'],
  ['number', ['1e999'], 'value must be a number; got "1e999"'],
  ['number', ['  '], undefined],
  ['number', [true], 1],
  ['condition', ['Off'], false],
  ['condition', [1], true],
  ['condition', ['maybe'], 'value must be true or false; got "maybe"'],
  ['condition', [''], undefined],
  ['jsonParse', ['null'], null],
  ['jsonParse', ['{"__proto__": 1}'], notJson],
  ['jsonParse', ['{"\\u005f_proto__": 1}'], notJson],
  ['jsonParse', ['{"constructor": {"prototype": 1}}'], notJson],
  ['jsonParse', ['{'], notJson],
  ['jsonParse', ['['.repeat(65) + ']'.repeat(65)], 'text is nested deeper than 64 levels'],
  ['jsonParse', ['{"a":1e999}'], expect.stringContaining('holds the number 1e999 at a')],
  ['jsonParse', ['{"id":9007199254740993}', 'text'], { id: '9007199254740993' }],
  ['number', ['9007199254740993'], expect.stringContaining('has more digits than a number keeps')],
  ['jsonParse', ['"\\u0000"'], 'text holds the character U+0000'],
  ['jsonText', [undefined], 'null'],
  ['jsonText', [{ a: 1 }, 2], '{\n  "a": 1\n}'],
  ['jsonText', [1, 11], 'indent must be from 0 to 10'],
  ['jsonText', [million], 'value gives a text of more than 1,000,000 characters'],
  ['base64', [''], ''],
  ['base64', [million], 'text gives a text of more than 1,000,000 characters'],
  ['fromBase64', ['Wm_Dqw'], 'Zoë'],
  ['fromBase64', ['/w=='], 'text must be base64 of a text in UTF-8'],
  ['fromBase64', ['!'], 'text must be base64 of a text in UTF-8'],
  ['fromHex', ['5A'], 'Z'],
  ['fromHex', ['5'], 'text must be hexadecimal digits of a text in UTF-8'],
  ['fromHex', ['ff'], 'text must be hexadecimal digits of a text in UTF-8'],
  ['urlDecode', ['%zz'], 'text must be a part of a web address: % and two hexadecimal digits'],
  ['parseUrl', ['/relative'], 'text must be a complete web address'],
  ['parseUrl', ['https://u:p@example.com?__proto__=1'], 'text gives a key named __proto__'],
  [
    'parseUrl',
    ['http://[::1]/a%20b'],
    { protocol: 'http', host: '[::1]', port: null, path: '/a%20b', query: {}, fragment: '' },
  ],
  ['parseUrl', [`https://a/?${'a&'.repeat(10_001)}`], 'text gives a list of more than 10,000 elements'],
  ['queryText', [{ a: null, b: [], c: [1, null, true] }], 'c=1&c=true'],
  ['queryText', [{ a: {} }], 'object must hold texts, numbers, conditions and lists of them only'],
  ['queryText', [{ a: [million, 'b'] }], 'object gives a text of more than 1,000,000 characters'],
  ['isEmpty', [undefined], true],
  ['isEmpty', [0], false],
  ['isEmpty', [[]], true],
  ['isEmpty', [{}], true],
  ['isNumber', ['1e999'], false],
  ['isNumber', [''], false],
  ['isNumber', [5], true],
  ['isDate', ['2026-01-31T25:00Z'], false],
  ['isDate', [5], false],
  ['isEmail', ['a@b'], false],
  ['isEmail', ['a b@c.de'], false],
  ['isEmail', [undefined], false],
  ['isEmail', [`a@${'b'.repeat(400)}.de`], false],
  ['isUrl', ['javascript:alert(1)'], false],
  ['isUrl', ['example.com'], false],
  ['isUrl', ['http://a b'], false],
  ['isGuid', ['F47AC10B-58CC-4372-A567-0E02B2C3D479'], true],
  ['isGuid', ['f47ac10b58cc4372a5670e02b2c3d479'], false],
])('%s(%j)', (name, input, expected) => {
  expect(callFunction(name, input)).toEqual(expected)
})

const hostile = fc.string({ unit: 'binary', maxLength: 50 })

test.each([
  ['base64', 'fromBase64'],
  ['hex', 'fromHex'],
  ['urlEncode', 'urlDecode'],
])('%s and %s are each other back', (there, back) => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(callFunction(back, [callFunction(there, [text])])).toBe(text)
    }),
  )
})

test('JSON and queries are read as they were written', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
      const text = String(callFunction('jsonText', [value]))
      if (!text.includes('\\u') && !text.includes('__proto__'))
        expect(callFunction('jsonText', [callFunction('jsonParse', [text])])).toBe(text)
    }),
  )
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.string()), (fields) => {
      const query = callFunction('queryText', [fields])
      const expected = Object.hasOwn(fields, '__proto__') ? 'text gives a key named __proto__' : fields
      const url = callFunction('parseUrl', [`https://a/?${query}`])
      expect(typeof url === 'string' ? url : Reflect.get(Object(url), 'query')).toEqual(expected)
    }),
  )
})

// RFC 4231, test cases 2, 3 and 6; RFC 2202, case 2.
test.each([
  [
    'sha256',
    'Jefe',
    'what do ya want for nothing?',
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  [
    'SHA-384',
    'Jefe',
    'what do ya want for nothing?',
    'af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649',
  ],
  [
    'sha512',
    'Jefe',
    'what do ya want for nothing?',
    '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
  ],
  ['sha1', 'Jefe', 'what do ya want for nothing?', 'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79'],
  [
    'sha256',
    '\u000b'.repeat(20),
    'Hi There',
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  ],
  ['sha999', 'a', 'b', 'algorithm must be one of sha256, sha384, sha512, sha1, md5; got "sha999"'],
  ['constructor', 'a', 'b', 'algorithm must be one of sha256, sha384, sha512, sha1, md5; got "constructor"'],
])('hmac(%s, %j, %j)', (algorithm, key, text, expected) => {
  expect(callFunction('hmac', [algorithm, key, text])).toBe(expected)
})

test.each([
  ['a', 'a', true],
  ['a', 'ab', false],
  ['', undefined, false],
  ['', '', true],
])('equalInConstantTime(%j, %j)', (a, b, expected) => {
  expect(callFunction('equalInConstantTime', [a, b])).toBe(expected)
})

test('random values have their form and are other ones each time', () => {
  const context = functionContext()
  const twice = (name: string) => [callFunction(name, [], context), callFunction(name, [], context)]
  const inOrder = functionContext()
  const guids = Array.from({ length: 20 }, () => String(callFunction('uuid', [], inOrder)))
  expect(guids).toEqual([...guids].sort())
  for (const guid of twice('uuid')) expect(callFunction('isGuid', [guid])).toBe(true)
  for (const token of twice('randomToken')) expect(token).toMatch(/^[\w-]{43}$/)
  expect(new Set([...twice('uuid'), ...twice('randomToken')]).size).toBe(4)
})

test('random numbers are within their bounds, and each of them comes', () => {
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
  const context = functionContext({ random })
  const drawn = Array.from({ length: 2_000 }, () => callFunction('randomNumber', [-1, 2], context))
  expect(new Set(drawn)).toEqual(new Set([-1, 0, 1, 2]))
  expect(callFunction('randomNumber', [5, 5], context)).toBe(5)
  expect(callFunction('randomNumber', [6, 5], context)).toBe('to must not be smaller than from')
  expect(callFunction('randomNumber', [0, 2 ** 53], context)).toMatch(/^to is too far from from/)
})

test('a number beyond the last whole multiple of the span is drawn again', () => {
  const bytes = [new Uint8Array(7).fill(255), Uint8Array.from([0, 0, 0, 0, 0, 0, 5])]
  const context = functionContext({ random: () => bytes.shift() ?? new Uint8Array(7) })
  expect(callFunction('randomNumber', [0, 2], context)).toBe(2)
})

const wide = (count: number, value: unknown = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, value]))

test.each<[string, unknown, number]>([
  ['few keys', wide(1_000), 0],
  ['many keys', wide(1_001), 1_001],
  ['many objects of few keys', Array.from({ length: 2_000 }, () => ({ a: 1, b: { c: 2 } })), 0],
  ['colons and braces in texts', Array.from({ length: 2_000 }, () => '{":{":":"}'), 0],
  ['quotes and backslashes in texts', { a: '\\', b: '"{:', c: '\\"', ...wide(2_000, '\\\\":') }, 2_003],
  ['many keys inside others', [{ one: wide(1_500), two: [wide(1_500)] }], 3_000],
])('%s', (_, value, keys) => {
  expect(wideKeysIn(JSON.stringify(value))).toBe(keys)
  expect(wideKeysIn(JSON.stringify(value, undefined, 2))).toBe(keys)
})

test.each(['', '"', '{', '}', '}:{', ':', '"\\', '{"a":1', '"\\"', '::::'])(
  '%j is no JSON and does no harm',
  (text) => {
    expect(wideKeysIn(text)).toBe(0)
  },
)
