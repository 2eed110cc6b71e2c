import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_breadcrumb.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([
  [{ links: [{ href: '/a' }] }, 'must be a list of objects with label and href'],
  [{ links: [{ label: 'a', href: '//elsewhere.example' }] }, 'must be a path'],
])('%j is refused: it %s', async (inputs, problem) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(problem)
})

test.each([
  [
    {
      links: [
        { label: 'Start', href: '/' },
        { label: 'Tasks', href: '/tasks' },
      ],
    },
    {
      kind: 'breadcrumb',
      links: [
        { label: 'Start', href: '/' },
        { label: 'Tasks', href: '/tasks' },
      ],
    },
  ],
])('%j adds %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs: { ...inputs, state: above } })
  expect(outputs).toEqual({ state: { before: above, node } })
})
