/** The guard against requests that come to do more: `npm run bench -- --check`, as part of the tests. */
import { beforeAll, describe, expect, test } from 'vitest'
import { exceededLimits, workTable } from '../bench/check/compare-work.ts'
import { countCalls } from '../bench/check/count-calls.ts'
import { countWork, type WorkRow } from '../bench/check/count-work.ts'
import { type WorkLimits, workLimits } from '../bench/check/work-limits.ts'

let rows: readonly WorkRow[]
beforeAll(async () => {
  rows = await countWork()
}, 60_000)

test('no request does more than it may', () => {
  expect(exceededLimits(rows, workLimits), workTable(rows, workLimits)).toEqual([])
})

describe('a limit that is lower by one than what is counted is reported', () => {
  const limits = Object.entries(workLimits).flatMap(([id, row]) =>
    Object.entries(row)
      .filter(([, limit]) => limit > 0)
      .map(([measure, limit]) => [id, measure, limit] as const),
  )
  test.each(limits)('%s: %s', (id, measure, limit) => {
    const lowered: WorkLimits = { ...workLimits, [id]: { ...workLimits[id], [measure]: limit - 1 } }
    const title = rows.find((row) => row.id === id)?.title ?? 'not counted'
    expect(exceededLimits(rows, lowered)).toEqual([expect.stringContaining(`"${title}": ${limit} `)])
  })
})

const some: WorkRow = { id: 'a', title: 'a thing', counted: { statements: 1 } }
const wrong: readonly (readonly [string, WorkLimits, RegExp])[] = [
  ['counted and not limited', { a: {} }, /no limit for SQL statements of "a thing": 1 were counted/],
  ['limited and not counted', { a: { statements: 1, commits: 1 } }, /limit for commits of "a thing"/],
  ['a limit of nothing', { a: { statements: 1 }, b: {} }, /limit for b, which is not counted/],
]

test.each(wrong)('%s is reported', (_name, limits, sentence) => {
  expect(exceededLimits([some], limits)).toEqual([expect.stringMatching(sentence)])
})

test('counting ends, and leaves everything as it was', () => {
  const { parse } = JSON
  const counter = countCalls()
  expect(JSON.parse('[1]')).toEqual([1])
  expect(counter.calls().parsed).toEqual([3])
  counter.reset()
  expect(counter.calls().parsed).toEqual([])
  counter.stop()
  expect(JSON.parse).toBe(parse)
})
