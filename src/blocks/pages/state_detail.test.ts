import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_detail.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([
  [{}, 'is empty'],
  [{ document: {}, fields: [1] }, 'must contain names of fields'],
  [{ document: {}, fields: ['a..b'] }, 'has an empty part'],
  [{ document: {}, fields: [{ field: 'a', kind: 'huge' }] }, 'has an unknown kind'],
])('%j is refused: it %s', async (inputs, problem) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(problem)
})

test.each([
  [
    { document: { _meta: {}, first_name: 'Ann', open: true } },
    {
      kind: 'detail',
      items: [
        { label: 'First name', value: 'Ann', format: 'auto' },
        { label: 'Open', value: true, format: 'auto' },
      ],
    },
  ],
  [
    {
      document: { customer: 'c 1', total: 5, at: { city: 'Ulm' } },
      fields: [
        'at.city',
        { field: 'total', label: 'Sum', kind: 'currency', currency: 'EUR' },
        { field: 'customer', link: '/customers/{customer}' },
        { field: 'missing', link: '/customers/{missing}' },
      ],
    },
    {
      kind: 'detail',
      items: [
        { label: 'City', value: 'Ulm', format: 'auto' },
        { label: 'Sum', value: 5, format: 'currency', currency: 'EUR' },
        { label: 'Customer', value: 'c 1', format: 'auto', href: '/customers/c%201' },
        { label: 'Missing', value: null, format: 'auto' },
      ],
    },
  ],
])('%j adds %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs: { ...inputs, state: above } })
  expect(outputs).toEqual({ state: { before: above, node } })
})
