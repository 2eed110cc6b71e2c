import { describe, expect, test } from 'vitest'
import { changeOf, comparedReports, percent, readReport } from './test-report.ts'

const evaluation = (name: string, scores: Record<string, number>) => {
  const cases = Object.entries(scores).map(([one, score]) => ({ case: one, score }))
  return { name, failures: [], score: cases.reduce((sum, { score }) => sum + score, 0) / cases.length, cases }
}
const report = (...tests: object[]) => readReport(JSON.stringify(tests))

describe('what is no report', () => {
  test.each(['', '{', '{}', '[]', 'null', '[1]', '[{ "score": 1 }]', '[{ "name": "a" }, null]'])(
    '%s',
    (text) => {
      expect(() => readReport(text)).toThrow('no report')
    },
  )
})

test('without another report nothing is better or worse, and the lowest case is first', () => {
  const [only] = comparedReports(report(evaluation('Sorted', { a: 1, b: 0, c: 0.5 })), [])
  expect(only?.cases.map(({ name, score, before }) => [name, score, before])).toEqual([
    ['b', 0, undefined],
    ['c', 0.5, undefined],
    ['a', 1, undefined],
  ])
  expect([only?.score, only?.before, only && changeOf(only)]).toEqual([0.5, undefined, 'same'])
})

test('what is worse than in the other release is first, in tests and in cases; new cases are compared with nothing', () => {
  const before = report(evaluation('Better', { a: 0, b: 0 }), evaluation('Worse', { a: 1, b: 0, c: 1 }), {
    name: 'Gone',
    failures: [],
  })
  const now = report(
    { name: 'Plain', failures: [] },
    { name: 'Failed', failures: ['step 1: status 500'] },
    evaluation('Better', { a: 1, b: 0 }),
    evaluation('Worse', { a: 0, b: 1, c: 1, d: 0 }),
  )
  const found = comparedReports(now, before)
  expect(found.map((one) => [one.name, changeOf(one)])).toEqual([
    ['Worse', 'worse'],
    ['Better', 'better'],
    ['Failed', 'same'],
    ['Plain', 'same'],
  ])
  expect(found[0]?.cases.map((one) => [one.name, changeOf(one)])).toEqual([
    ['a', 'worse'],
    ['b', 'better'],
    ['d', 'same'],
    ['c', 'same'],
  ])
})

test.each([
  [0, '0 %'],
  [1, '100 %'],
  [0.8333, '83.3 %'],
])('%d is %s', (score, words) => expect(percent(score)).toBe(words))
