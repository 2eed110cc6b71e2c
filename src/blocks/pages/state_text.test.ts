import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_text.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([
  [{ text: {} }, 'must be text'],
  [{ text: 'a', look: 'large' }, 'must be one of normal, lead, muted, code'],
])('%j is refused: it %s', async (inputs, problem) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(problem)
})

test.each([
  [{}, { kind: 'text', text: '', variant: 'normal' }],
  [{ text: '<b>a</b>' }, { kind: 'text', text: '<b>a</b>', variant: 'normal' }],
  [
    { text: 7, look: 'muted' },
    { kind: 'text', text: '7', variant: 'muted' },
  ],
])('%j adds %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs: { ...inputs, state: above } })
  expect(outputs).toEqual({ state: { before: above, node } })
})
