import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_list.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([
  [{ items: Array.from({ length: 1_001 }, () => 'a') }, 'must hold at most 1,000 items'],
  [{ items: ['a', Array.from({ length: 1_001 }, () => 'a')] }, 'holds an object or list that is too large'],
])('%j is refused: it %s', async (inputs, problem) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(problem)
})

test.each([
  [{}, { kind: 'list', ordered: false, items: [] }],
  [
    { items: ['a', 2, null, { b: 1 }], ordered: true, empty: 'none' },
    {
      kind: 'list',
      ordered: true,
      empty: 'none',
      items: ['a', '2', '', '{"b":1}'].map((text) => [{ kind: 'text', text }]),
    },
  ],
])('%j adds %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs: { ...inputs, state: above } })
  expect(outputs).toEqual({ state: { before: above, node } })
})

test('each item is drawn by what is wired to content', async () => {
  const content = ({ item, index }: { item: string; index: number }) =>
    appendNode(undefined, { kind: 'text', text: `${index} ${item}` })
  const { outputs } = await runBlock(block, { inputs: { items: ['a', 'b'], content } })
  const items = ['0 a', '1 b'].map((text) => [{ kind: 'text', text }])
  expect(outputs).toMatchObject({ state: { node: { items } } })
})
