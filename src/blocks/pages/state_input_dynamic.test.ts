import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import block from './state_input_dynamic.ts'

test.each([
  [{}],
  [{ field: '_csrf' }],
  [{ field: 'a..b' }],
  [{ field: 'a', type: 'telepathy' }],
  [{ field: 'a', storage: '_users' }],
  [{ field: 'a', options: [[1]] }],
  [{ field: 'a', options: [{ label: 'x' }] }],
  [{ field: 'a', options: Array.from({ length: 1_001 }, (_, i) => i) }],
])('%j is refused', async (inputs) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow()
})

test.each([
  [{ field: 'first_name' }, { name: 'first_name', label: 'First name', type: 'auto' }],
  [
    { field: 'owner.e-mail', type: 'e-mail' },
    { name: 'owner.e-mail', label: 'E mail', type: 'email' },
  ],
  [
    { field: 'a', label: 'A', type: 'number', required: true, min: 1, max: '9', value: 0 },
    { name: 'a', label: 'A', type: 'number', required: true, min: 1, max: '9', value: 0 },
  ],
  [
    { field: 'a', options: ['x', 2, { value: true, label: 'Yes' }] },
    {
      name: 'a',
      label: 'A',
      type: 'choice',
      options: [
        { value: 'x', label: 'x' },
        { value: '2', label: '2' },
        { value: 'true', label: 'Yes' },
      ],
    },
  ],
])('%j draws %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs })
  expect(outputs).toEqual({ state: { before: undefined, node: { kind: 'input', ...node } } })
})
