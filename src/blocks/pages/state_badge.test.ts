import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_badge.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([
  [{}, 'is empty'],
  [{ text: 'a', tone: 'pink' }, 'must be one of neutral, info, success, warning, danger'],
])('%j is refused: it %s', async (inputs, problem) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(problem)
})

test.each([
  [{ text: 'new' }, { kind: 'badge', text: 'new', tone: 'neutral' }],
  [
    { text: 'won', tone: 'success' },
    { kind: 'badge', text: 'won', tone: 'success' },
  ],
])('%j adds %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs: { ...inputs, state: above } })
  expect(outputs).toEqual({ state: { before: above, node } })
})
