import { expect, test } from 'vitest'
import { matches } from '../../../storage/search/evaluate-query.ts'
import { comparedQuery } from './value-query.ts'

const texts = [
  '',
  'a',
  'ab',
  'b',
  '\u{d7ff}',
  '\u{d7ff}x',
  '\ue000',
  '\uffff',
  '\uffffz',
  '\u{103ff}',
  '\u{103ff}a',
]
const more = [
  '\u{10400}',
  '\u{1f600}',
  '\u{1f600}a',
  '\u{1f601}',
  '\u{10ffff}',
  '\u{10ffff}\u{10ffff}',
  'a\u{10ffff}',
  'a\u{10ffff}b',
]

test.each([...texts, ...more])('startsWith as a range: %j', (prefix) => {
  const part = { kind: 'literal', value: prefix, start: 0, end: 0 } as const
  const query = comparedQuery(
    { kind: 'startsWith', field: 'x', value: { part, maybe: false }, negated: false },
    prefix,
    () => undefined,
  )
  if (typeof query === 'string') throw new Error(query)
  const all = [...texts, ...more]
  expect(all.filter((x) => matches(query, { x }))).toEqual(all.filter((x) => x.startsWith(prefix)))
  expect([1, null, [prefix], true].filter((x) => matches(query, { x }))).toEqual([])
})
