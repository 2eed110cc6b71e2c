import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_card.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([
  [{ title: 'a', url: 'vbscript:a' }, 'must be a path'],
  [{ title: {} }, 'must be text'],
])('%j is refused: it %s', async (inputs, problem) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(problem)
})

test.each([
  [{}, { kind: 'card', content: [] }],
  [
    { title: 'Open orders', figure: 42, note: 'since Monday', url: '/orders', content: above },
    {
      kind: 'card',
      title: 'Open orders',
      figure: '42',
      note: 'since Monday',
      href: '/orders',
      content: [above.node],
    },
  ],
  [
    { figure: 1644.5, kind: 'currency', currency: 'EUR' },
    { kind: 'card', content: [], figure: '1644.5', format: 'currency', currency: 'EUR' },
  ],
])('%j adds %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs: { ...inputs, state: above } })
  expect(outputs).toEqual({ state: { before: above, node } })
})
