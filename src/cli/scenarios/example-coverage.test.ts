/** The tests of the examples take the ways of their flows. That they pass is tested by example-tests.test.ts. */
import { expect, test } from 'vitest'
import { quoinCommand } from '../../../test/recording-terminal.ts'

test.each([
  ['inventory', 7, ['Coverage: 31 of 31 ways, 100 %.']],
  ['webhooks', 3, ['Coverage: 14 of 14 ways, 100 %.']],
  ['tasks', 4, ['Coverage: 21 of 21 ways, 100 %.']],
  ['cities', 2, ['Coverage: 8 of 8 ways, 100 %.']],
  ['booking', 5, ['Coverage: 40 of 40 ways, 100 %.']],
  // A stream does not end, so no test can ask for it.
  ['board', 1, ['Coverage: 10 of 12 ways, 83.3 %.', 'moves.flow', 'subscribe']],
])('the tests of the example %s pass, and take its ways', async (name, count, ways) => {
  const words = ['test', `examples/${name}`, '--coverage']
  const { code, printed, complained } = await quoinCommand(words)
  expect(printed).toMatch(new RegExp(`^${count} tests, 0 failed, `, 'm'))
  const lines = complained.split('\n')
  expect(lines).toHaveLength(ways.length)
  for (const [at, way] of ways.entries()) expect(lines[at]).toContain(way)
  expect(code).toBe(0)
})

test('the tests of the CRM pass, and take over nine of ten ways', async () => {
  const words = ['test', 'examples/crm', '--min-coverage', '90']
  const { code, printed, complained } = await quoinCommand(words)
  expect(printed.split('\n').filter((line) => line.startsWith('FAIL'))).toEqual([])
  expect(printed).toMatch(/^80 tests, 0 failed, /m)
  expect([code, complained.split('\n')[0]]).toEqual([
    0,
    expect.stringMatching(/^Coverage: \d+ of 129 ways, /),
  ])
}, 240_000)
