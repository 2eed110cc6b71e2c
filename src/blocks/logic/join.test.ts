import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './join.ts'

test('it only continues: who arrives is counted by the run', async () => {
  expect(await runBlock(block)).toMatchObject({ next: 'flow', outputs: {} })
})
