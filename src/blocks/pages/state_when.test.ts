import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode, nodesOf, type PageContent } from '../../shared/pages/page-content.ts'
import block from './state_when.ts'

const text = (words: string) => appendNode(undefined, { kind: 'heading', level: 1, text: words })

test.each([
  [{}, []],
  [{ content: text('a') }, []],
  [{ content: text('a'), condition: true }, ['a']],
  [{ content: text('a'), otherwise: text('b'), condition: false }, ['b']],
  [{ state: text('above'), content: text('a'), condition: true }, ['above', 'a']],
  [{ state: text('above'), content: text('a'), condition: false }, ['above']],
])('%j', async (inputs, words) => {
  const { outputs } = await runBlock(block, { inputs })
  const content = outputs.state as PageContent | undefined
  expect(nodesOf(content)).toMatchObject(words.map((one) => ({ text: one })))
})

test('what is shown elsewhere is not changed', async () => {
  const state = text('above')
  await runBlock(block, { inputs: { state, content: text('a'), condition: true } })
  expect(nodesOf(state)).toHaveLength(1)
})
