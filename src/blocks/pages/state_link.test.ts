import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_link.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([
  [{ label: 'a' }, 'is empty'],
  [{ url: '/a' }, 'is empty'],
  [{ label: 'a', url: ' javascript:alert(1)' }, 'must be a path'],
  [{ label: 'a', url: 'data:text/html,a' }, 'must be a path'],
])('%j is refused: it %s', async (inputs, problem) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(problem)
})

test.each([
  [
    { label: 'Tasks', url: '/tasks' },
    { kind: 'link', label: 'Tasks', href: '/tasks' },
  ],
  [
    { label: 'Mail', url: 'mailto:a@b.example' },
    { kind: 'link', label: 'Mail', href: 'mailto:a@b.example' },
  ],
])('%j adds %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs: { ...inputs, state: above } })
  expect(outputs).toEqual({ state: { before: above, node } })
})
