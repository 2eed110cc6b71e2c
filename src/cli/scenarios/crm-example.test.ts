/** The tests of the example `examples/crm`, as `quoin test` runs them: they pass, and take nine of ten ways. */
import { expect, test } from 'vitest'
import { quoinCommand } from '../../../test/recording-terminal.ts'

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
