/** The control of the part `slow-suites`: one test that must fail, so that a failure is seen to be counted. */
import { expect, test } from 'vitest'

test('two is three', () => {
  expect(2).toBe(3)
})
