import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_tabs.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([[{ tabs_id: 'a b' }, 'must be 1 to 64 letters']])(
  '%j is refused: it %s',
  async (inputs, problem) => {
    await expect(runBlock(block, { inputs })).rejects.toThrow(problem)
  },
)

test('each name is a tab, in their order; one without content is empty', async () => {
  const { outputs } = await runBlock(block, {
    fields: { tabs: ['Notes', 'Terms'] },
    inputs: { state: above, label: 'Parts' },
    more: { Terms: above },
  })
  const tabs = [
    { label: 'Notes', content: [] },
    { label: 'Terms', content: [above.node] },
  ]
  expect(outputs).toEqual({
    state: { before: above, node: { kind: 'tabs', id: 'tabs', label: 'Parts', tabs } },
  })
})

test('each name is a pin', () => {
  expect(Object.keys(block.moreIn?.({ tabs: ['Notes', 'Terms'] }) ?? {})).toEqual(['Notes', 'Terms'])
})
