/** Values that programs get wrong: as text, as JSON, as headers, as bodies that are hardly JSON. */
import fc from 'fast-check'
import type { JsonValue } from '../../../src/shared/json.ts'

/** None of them holds what `judge-reply.ts` takes for a leak: an error may quote the request. */
const words = [
  '',
  ' ',
  '.',
  '..',
  '../../etc/passwd',
  "' OR 1=1 --",
  '"; DROP TABLE doc_1; --',
  '%s%n%d',
  '$'.concat('{7*7}'),
  '{{7*7}}',
  '<script>alert(1)</script>',
  '\r\nset-cookie: a=b',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '$where',
  '_meta',
  '_meta.guid',
  '_users',
  '*',
  '*public',
  'null',
  'true',
  'NaN',
  'Infinity',
  '-0',
  '1e400',
  '0x10',
  '9007199254740993',
  '-1',
  '99999999999999999999',
  '2026-02-30T25:61:61Z',
  '+275760-09-13T00:00:00.001Z',
  'now-1d/d',
  'a~2 b~2 c~2 "d e"~100 f*',
  '((((((((',
  '"',
  '\\',
  '*'.repeat(50),
  '(a|'.repeat(40),
  '\u202e\u200b\ufeff',
  'İstanbul ﬀ ß ǅ',
  '👨‍👩‍👧‍👦',
  'x'.repeat(300),
  'é'.repeat(5_000),
  'ab '.repeat(3_000),
] as const

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...words) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
)

const hostileNumber: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, 5e-324, 1e21),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

export const hostileJson: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  { weight: 2, arbitrary: hostileNumber },
  { weight: 2, arbitrary: fc.constantFrom<JsonValue>(null, true, false, [], {}, [[]], [null], { a: null }) },
  { weight: 1, arbitrary: fc.array(hostileText, { maxLength: 5 }) },
  { weight: 1, arbitrary: fc.dictionary(hostileText, hostileText, { maxKeys: 5, noNullPrototype: true }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 70 }).map(nested) },
  { weight: 1, arbitrary: fc.constant(Array.from({ length: 2_000 }, (_, number) => number)) },
)

function nested(depth: number): JsonValue {
  let value: JsonValue = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

/** Bytes in place of a JSON body. */
export const hostileBody: fc.Arbitrary<Buffer> = fc.oneof(
  fc
    .constantFrom(
      '',
      'null',
      '"x"',
      '[]',
      '{',
      '{"a":1}{"a":2}',
      '{"a":NaN}',
      '{"a":1e999}',
      '{"__proto__":{"admin":true}}',
      '{"constructor":{"prototype":{"a":1}}}',
      '{"a":"\\u0000"}',
      '{"a":"\\ud800"}',
      '{"a":"x","a":"y"}',
      '\ufeff{}',
      `{"a":${'['.repeat(3_000)}${']'.repeat(3_000)}}`,
      `{${Array.from({ length: 5_000 }, (_, number) => `"k${number}":0`).join()}}`,
      `{"a":"${'x'.repeat(1_200_000)}"}`,
    )
    .map((text) => Buffer.from(text)),
  fc.constantFrom('{"title":"\xff\xfe"}', '{"title":"\xc0\xaf"}').map((text) => Buffer.from(text, 'latin1')),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
)

/** Header → value. What a client may not set itself (host, length) is not among them. */
export const hostileHeaders: fc.Arbitrary<Readonly<Record<string, string>>> = fc.oneof(
  fc.constantFrom<Readonly<Record<string, string>>>(
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-type': 'application/json;, text/html' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'multipart/form-data' },
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-encoding': 'gzip' },
    { 'accept-encoding': 'br;q=9, gzip;q=-1, *;q=x' },
    { accept: 'text/html;q=0, */*;q=0' },
    { 'if-none-match': `${'"x",'.repeat(500)}*` },
    { 'if-modified-since': 'never' },
    { range: 'bytes=9999999999-0, -1' },
    { cookie: `access_token=${'x'.repeat(43)}; a=b; ;;=` },
    { 'x-token': 'a', 'x-authtoken': 'b' },
    { authorization: 'Basic Og==' },
    { authorization: `Bearer ${'x'.repeat(2_000)}` },
    { 'x-forwarded-for': '::1, 256.256.256.256, <script>' },
    { 'x-http-method-override': 'DELETE' },
    { 'x-request-id': 'x'.repeat(500) },
    { traceparent: '00-00000000000000000000000000000000-0000000000000000-ff' },
    { 'idempotency-key': 'x'.repeat(300) },
    { 'idempotency-key': 'one key' },
    { 'x-quoin-sender': '{"ip":"127.0.0.1"}' },
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
  ),
  fc
    .tuple(
      fc.constantFrom('accept-language', 'idempotency-key', 'x-request-id', 'if-none-match', 'user-agent'),
      fc.string({ maxLength: 60 }),
    )
    .map(([name, value]) => ({ [name]: value.trim() })),
)
