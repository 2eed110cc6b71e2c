import { expect, test } from 'vitest'
import type { JsonValue } from './json.ts'
import { jsonStart } from './json-start.ts'

test.each<JsonValue>([null, 0, '', 'a"b\n', [], {}, [1, [null, 'x'], { a: { b: [] }, c: false }]])(
  '%j is whole within the bound, and as JSON.stringify writes it',
  (value) => {
    const text = JSON.stringify(value)
    expect(jsonStart(value, text.length)).toEqual({ text, whole: true })
  },
)

test.each<[string, JsonValue]>([
  ['a text', 'x'.repeat(1_000)],
  ['a list', Array.from({ length: 1_000 }, (_, at) => at)],
  ['an object', Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`n${at}`, at]))],
  ['a list in a list', [[['x'.repeat(1_000)]]]],
  ['what is one character too long', 'x'.repeat(99)],
])('of %s only the beginning is given', (_, value) => {
  const text = JSON.stringify(value)
  expect(jsonStart(value, 100)).toEqual({ text: text.slice(0, 100), whole: false })
})

test('nothing is null', () => {
  expect(jsonStart(undefined, 10)).toEqual({ text: 'null', whole: true })
})
