/** The tests of the examples pass, as `quoin test` runs them, and take the ways of their flows. */
import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { quoinCommand } from '../../../test/recording-terminal.ts'

/** How many tests each has, so that none is left out, and what is said of its ways. */
const examples = [
  ['inventory', 7, ['Coverage: 31 of 31 ways, 100 %.']],
  ['webhooks', 3, ['Coverage: 14 of 14 ways, 100 %.']],
  ['tasks', 4, ['Coverage: 21 of 21 ways, 100 %.']],
  ['cities', 2, ['Coverage: 8 of 8 ways, 100 %.']],
  ['booking', 5, ['Coverage: 40 of 40 ways, 100 %.']],
  // A stream does not end, so no test can ask for it.
  ['board', 1, ['Coverage: 10 of 12 ways, 83.3 %.', 'moves.flow', 'subscribe']],
] as const

const lineOf = (count: number) => expect.stringMatching(`^${count} tests, 0 failed, `)
const notOk = (printed: string) => printed.split('\n').filter((line) => !line.startsWith('ok  '))

test.each(examples)('the tests of the example %s pass, and take its ways', async (name, count, ways) => {
  const { code, printed, complained } = await quoinCommand(['test', `examples/${name}`, '--coverage'])
  expect(notOk(printed)).toEqual([lineOf(count)])
  const lines = complained.split('\n')
  expect(lines).toHaveLength(ways.length)
  for (const [at, way] of ways.entries()) expect(lines[at]).toContain(way)
  expect(code).toBe(0)
})

test('they pass where their ways are not asked for, too', async () => {
  const { code, printed } = await quoinCommand(['test', 'examples/booking'])
  expect([code, notOk(printed)]).toEqual([0, [lineOf(5)]])
})

test('the tests of the CRM pass, and take over nine of ten ways', async () => {
  const words = ['test', 'examples/crm', '--min-coverage', '90']
  const { code, printed, complained } = await quoinCommand(words)
  expect(notOk(printed)).toEqual([lineOf(80)])
  expect([code, complained.split('\n')[0]]).toEqual([
    0,
    expect.stringMatching(/^Coverage: \d+ of 129 ways, /),
  ])
})

test('no example is left out', async () => {
  const folders = (await readdir('examples', { withFileTypes: true })).filter((entry) => entry.isDirectory())
  const files = await Promise.all(folders.map(({ name }) => readdir(`examples/${name}`)))
  const withTests = folders.flatMap(({ name }, at) => (files[at]?.includes('tests') ? [name] : []))
  expect(withTests.toSorted()).toEqual(['crm', ...examples.map(([name]) => name)].toSorted())
})
