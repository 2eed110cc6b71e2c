import { expect, test } from 'vitest'
import { StoredJson } from '../../storage/stored-json.ts'
import { replyText } from './request-and-reply.ts'

const shared = Array.from({ length: 2_000 }, (_, n) => n)

test.each([
  [
    'lists that share their items: 50 KB of memory, 8 MB of text',
    Array.from({ length: 1_000 }, () => shared),
  ],
  ['one long text, many times', Array.from({ length: 65 }, () => 'x'.repeat(1024 * 1024))],
])('too large to be written: %s', (_, value) => {
  expect(() => replyText({ code: 200, value, headers: {} })).toThrow(/more than 1000000 values or/)
})

test.each([
  [204, 'ignored', undefined],
  [304, 'ignored', undefined],
  [200, undefined, undefined],
  [200, null, 'null'],
  [200, { a: [1, 'b'] }, '{"a":[1,"b"]}'],
  [200, new StoredJson('{"as": "stored"}'), '{"as": "stored"}'],
])('%i with %j is %j', (code, value, text) => {
  expect(replyText({ code, value, headers: {} })).toBe(text)
})
