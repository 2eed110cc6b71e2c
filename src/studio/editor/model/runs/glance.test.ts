import { expect, test } from 'vitest'
import { glance } from './glance.ts'

test.each([
  [undefined, 'nothing'],
  [null, 'null'],
  [true, 'true'],
  [0, '0'],
  ['', '""'],
  ['Buy milk', '"Buy milk"'],
  ['Buy milk and bread and butter', '"Buy milk and brea…"'],
  ['two\nlines', '"two\\nlines"'],
  ['(evaluated once for each item)', 'for each item'],
  [[], '0 items'],
  [[1], '1 item'],
  [[1, 2], '2 items'],
  [{}, '{}'],
  [{ _meta: {}, title: 'x' }, '{title, _meta}'],
  [{ title: 1, status: 2, description: 3 }, '{title, status, de…}'],
  [{ $cut: '[1,2', bytes: 12_288 }, '12.0 KB'],
  [{ $cut: 'a field of that name' }, '{$cut}'],
])('%j is %s', (value, text) => {
  expect(glance(value)).toBe(text)
})
