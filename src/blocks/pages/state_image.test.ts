import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_image.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([
  [{}, 'is empty'],
  [{ url: 'javascript:alert(1)' }, 'must be a path'],
  [{ url: '//elsewhere.example/a.png' }, 'must be a path'],
  [{ url: '/a.png', width: 0 }, 'must be a whole number'],
])('%j is refused: it %s', async (inputs, problem) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(problem)
})

test.each([
  [{ url: '/a.png' }, { kind: 'image', src: '/a.png', alt: '' }],
  [
    { url: '/a.png', alt: 'Bread', caption: 'Rye', width: '320', height: 200 },
    { kind: 'image', src: '/a.png', alt: 'Bread', caption: 'Rye', width: 320, height: 200 },
  ],
])('%j adds %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs: { ...inputs, state: above } })
  expect(outputs).toEqual({ state: { before: above, node } })
})
