import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_columns.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([
  [{ widths: [0] }, 'must be a list of whole numbers from 1 to 4'],
  [{ widths: ['wide'] }, 'must be a list of whole numbers from 1 to 4'],
  [{ widths: [1.5] }, 'must be a list of whole numbers from 1 to 4'],
])('%j is refused: it %s', async (inputs, problem) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(problem)
})

test.each([
  [{}, { kind: 'columns', columns: [], widths: [] }],
  [
    { columns: [above, appendNode(above, { kind: 'text', text: 'b' })], widths: [2, 1] },
    {
      kind: 'columns',
      columns: [[above.node], [above.node, { kind: 'text', text: 'b' }]],
      widths: [2, 1],
    },
  ],
])('%j adds %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs: { ...inputs, state: above } })
  expect(outputs).toEqual({ state: { before: above, node } })
})
