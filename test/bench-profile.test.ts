/** Profiles of rows and results of wrk: how they are read, and put into the report. */
import { expect, test } from 'vitest'
import { type RowProfile, sharesIn } from '../bench/profile.ts'
import { profilesSection } from '../bench/report-profiles.ts'
import { rows } from '../bench/rows.ts'
import { resultOf } from '../bench/wrk/wrk.ts'

test('shares are of the time in which the thread was not idle, the largest first', () => {
  const answered = [
    { name: '(idle)', microseconds: 900 },
    { name: 'little', microseconds: 25 },
    { name: 'much', microseconds: 75 },
    ...Array.from({ length: 10 }, (_, number) => ({ name: `none ${number}`, microseconds: 0 })),
  ]
  const shares = sharesIn(answered)
  expect(shares.slice(0, 2)).toEqual([
    { name: 'much', share: 0.75 },
    { name: 'little', share: 0.25 },
  ])
  expect(shares).toHaveLength(10)
})

test('a profile replaces the line of the same row and engine, and leaves the others', () => {
  const [first, second] = rows
  if (first === undefined || second === undefined) throw new Error('There are two rows.')
  const titles = rows.map(({ title }) => title)
  const profile = (row: typeof first, name: string): RowProfile => ({
    engine: 'embedded engine',
    row,
    functions: [{ name, share: 0.5 }],
  })
  const about = { date: '2026-01-01', commit: 'abc' }
  const both = profilesSection([profile(second, 'b'), profile(first, 'a')], '# Benchmarks\n', titles, about)
  const again = profilesSection([profile(first, 'c')], `# Benchmarks\n\n${both}\n## Last\n`, titles, about)
  const lines = again.split('\n').filter((line) => line.startsWith('| embedded'))
  expect(lines).toEqual([
    `| embedded engine | ${first.title} | \`c\` 50.0 % | 2026-01-01, abc |`,
    `| embedded engine | ${second.title} | \`b\` 50.0 % | 2026-01-01, abc |`,
  ])
})

const percentiles = Array.from({ length: 99 }, (_, place) => (place + 1) * 1_000).join(' ')

test('a result of wrk has its rate and its latencies', () => {
  const result = resultOf(`Running 2s test\nRESULT 3000 2000000 0 0 0 0 0 ${percentiles}\n`)
  expect(result).toMatchObject({ replies: 3_000, rate: 1_500, errors: 0, firstError: undefined })
  expect(result.latencies.within(0.5)).toBeCloseTo(50, 0)
  expect(result.latencies.within(0.98)).toBeCloseTo(98, 0)
})

test('errors that wrk counts void a row, and no result is an error', () => {
  expect(resultOf(`RESULT 3000 2000000 0 0 0 0 7 ${percentiles}`)).toMatchObject({
    errors: 7,
    firstError: 'a reply was neither 2xx nor 3xx',
  })
  expect(() => resultOf('unable to connect')).toThrow(/unable to connect/)
})
