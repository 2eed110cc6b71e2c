import { expect, test } from 'vitest'
import { matches } from '../../../storage/search/evaluate-query.ts'
import { comparedQuery } from './compile-where.ts'

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

test.each<['<' | '<=' | '>' | '>=', readonly string[]]>([
  ['<=', ['2026-03-30T10:00:00Z', '2026-03-31', '2026-03-31T00:00:00Z', '2026-03-31T23:59:59.999Z']],
  ['<', ['2026-03-30T10:00:00Z']],
  ['>', ['2026-04-01', '2026-04-01T00:00:00Z']],
  [
    '>=',
    ['2026-03-31', '2026-03-31T00:00:00Z', '2026-03-31T23:59:59.999Z', '2026-04-01', '2026-04-01T00:00:00Z'],
  ],
])('a day is compared as a whole: doc.at %s 2026-03-31', (operator, found) => {
  const part = { kind: 'literal', value: '2026-03-31', start: 0, end: 0 } as const
  const query = comparedQuery(
    { kind: 'compared', field: 'at', operator, value: { part, maybe: false }, negated: false },
    '2026-03-31',
    () => undefined,
  )
  if (typeof query === 'string') throw new Error(query)
  const all = [
    '2026-03-30T10:00:00Z',
    '2026-03-31',
    '2026-03-31T00:00:00Z',
    '2026-03-31T23:59:59.999Z',
    '2026-04-01',
    '2026-04-01T00:00:00Z',
  ]
  expect(all.filter((at) => matches(query, { at }))).toEqual(found)
})
