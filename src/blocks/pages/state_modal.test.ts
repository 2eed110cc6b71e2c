import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_modal.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([
  [{ label: 'a' }, 'is empty'],
  [{ modal_id: 'a' }, 'is empty'],
  [{ modal_id: '1', label: 'a' }, 'must be 1 to 64 letters'],
])('%j is refused: it %s', async (inputs, problem) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(problem)
})

test.each([
  [
    { modal_id: 'note', label: 'Add' },
    { kind: 'modal', id: 'note', label: 'Add', title: 'Add', content: [] },
  ],
  [
    { modal_id: 'note', label: 'Add', title: 'New note', content: above },
    { kind: 'modal', id: 'note', label: 'Add', title: 'New note', content: [above.node] },
  ],
])('%j adds %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs: { ...inputs, state: above } })
  expect(outputs).toEqual({ state: { before: above, node } })
})
