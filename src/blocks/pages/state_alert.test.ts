import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_alert.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([
  [{}, 'is empty'],
  [{ text: 'a', tone: 'loud' }, 'must be one of neutral, info, success, warning, danger'],
])('%j is refused: it %s', async (inputs, problem) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(problem)
})

test.each([
  [{ text: 'a' }, { kind: 'alert', tone: 'info', text: 'a' }],
  [
    { text: 'a', title: 'b', tone: 'danger' },
    { kind: 'alert', tone: 'danger', title: 'b', text: 'a' },
  ],
])('%j adds %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs: { ...inputs, state: above } })
  expect(outputs).toEqual({ state: { before: above, node } })
})
