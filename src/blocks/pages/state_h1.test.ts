import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_h1.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([[{}], [{ text: 'a', level: 0 }], [{ text: 'a', level: 5 }], [{ text: {} }]])(
  '%j is refused',
  async (inputs) => {
    await expect(runBlock(block, { inputs })).rejects.toThrow()
  },
)

test.each([
  [{ text: '<b>' }, { level: 1, text: '<b>' }],
  [
    { text: 12, level: '3' },
    { level: 3, text: '12' },
  ],
])('%j adds %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs: { ...inputs, state: above } })
  expect(outputs).toEqual({ state: { before: above, node: { kind: 'heading', ...node } } })
})
