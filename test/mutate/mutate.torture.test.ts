/** All breaks that the scenarios of their blocks once did not see: about 15 s of processor time. */
import { expect, test } from 'vitest'
import { chosenMutants } from './chosen-mutants.ts'
import { runProgram } from './run-program.ts'

test('every break is seen by the scenario of its block', async () => {
  const { code, output } = await runProgram('--deliberate')
  expect(output).toContain(`${chosenMutants(true).length} mutants`)
  expect([code, output]).toEqual([0, expect.stringContaining(' 0 survived,')])
})
