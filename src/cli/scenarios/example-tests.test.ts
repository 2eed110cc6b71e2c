/** The tests of the examples pass, as `quoin test` runs them. */
import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { quoinCommand } from '../../../test/recording-terminal.ts'

/** How many tests each has, so that none is left out. */
const examples = [
  ['board', 1],
  ['booking', 5],
  ['cities', 2],
  ['crm', 80],
  ['inventory', 7],
  ['tasks', 4],
  ['webhooks', 3],
] as const

test.each(examples)('the tests of the example %s pass', async (name, count) => {
  const { code, printed } = await quoinCommand(['test', `examples/${name}`])
  expect(printed.split('\n').filter((line) => !line.startsWith('ok  '))).toEqual([
    expect.stringMatching(`^${count} tests, 0 failed, `),
  ])
  expect(code).toBe(0)
})

test('no example is left out', async () => {
  const folders = (await readdir('examples', { withFileTypes: true })).filter((entry) => entry.isDirectory())
  const files = await Promise.all(folders.map(({ name }) => readdir(`examples/${name}`)))
  const withTests = folders.flatMap(({ name }, at) => (files[at]?.includes('tests') ? [name] : []))
  expect(withTests.toSorted()).toEqual(examples.map(([name]) => name))
})
