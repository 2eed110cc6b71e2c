import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './state_button.ts'

test.each([
  [{ kind: 'submit' }],
  [{ label: 'a', kind: 'jump' }],
  [{ label: 'a', kind: 'link' }],
  [{ label: 'a', kind: 'link', url: 'javascript:alert(1)' }],
  [{ label: 'a', kind: 'link', url: 'data:text/html,x' }],
  [{ label: 'a', kind: 'link', url: '//evil.example' }],
])('%j is refused', async (inputs) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow()
})

test.each([
  [{ label: 'Go' }, { action: 'submit', block: '' }],
  [
    { label: 'Go', kind: 'action', value: 7, tone: 'danger' },
    { action: 'action', block: '', value: '7', tone: 'danger' },
  ],
  [
    { label: 'Go', kind: 'link', url: '/a' },
    { action: 'link', href: '/a' },
  ],
])('%j makes %j', async (inputs, button) => {
  const { outputs } = await runBlock(block, { inputs })
  expect(outputs).toEqual({ state: { before: undefined, node: { kind: 'button', label: 'Go', ...button } } })
})

test('a submit button whose click leads nowhere is nothing of its own', async () => {
  const { outputs } = await runBlock(block, { inputs: { label: 'Go' }, wired: ['state'] })
  expect(outputs).toEqual({
    state: { before: undefined, node: { kind: 'button', label: 'Go', action: 'submit' } },
  })
})
