import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_navigation.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([
  [{ links: [{ label: 'a' }] }, 'must be a list of objects with label and href'],
  [{ links: ['a'] }, 'must be a list of objects with label and href'],
  [{ links: [{ label: 'a', href: 'javascript:a' }] }, 'must be a path'],
])('%j is refused: it %s', async (inputs, problem) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(problem)
})

test.each([
  [
    { links: [{ label: 'Deals', href: '/deals', current: true }], label: 'Customer' },
    { kind: 'navigation', label: 'Customer', links: [{ label: 'Deals', href: '/deals', current: true }] },
  ],
  [
    { links: [{ label: 'Deals', href: '/deals', other: 1 }] },
    { kind: 'navigation', links: [{ label: 'Deals', href: '/deals' }] },
  ],
])('%j adds %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs: { ...inputs, state: above } })
  expect(outputs).toEqual({ state: { before: above, node } })
})
