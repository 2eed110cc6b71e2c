import { expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { appendNode } from '../../shared/pages/page-content.ts'
import block from './state_chart.ts'

const above = appendNode(undefined, { kind: 'text', text: 'above' })

test.each([
  [{ title: 'a' }, 'is empty'],
  [{ title: 'a', items: [], values: [] }, 'must name one to 6 fields'],
  [{ title: 'a', items: [], values: [1] }, 'must contain names of fields'],
  [{ title: 'a', items: [], label: 'constructor' }, 'may not use constructor'],
  [{ title: 'a', items: [], type: 'cake' }, 'must be one of bar, line, pie'],
  [{ title: 'a', items: Array.from({ length: 501 }, () => 1) }, 'must be at most 500'],
])('%j is refused: it %s', async (inputs, problem) => {
  await expect(runBlock(block, { inputs })).rejects.toThrow(problem)
})

test.each([
  [
    {
      title: 'Sold',
      items: [{ label: 'Mon', value: 3 }, { label: 'Tue' }, { label: 'Wed', value: '4.5' }, 'odd'],
    },
    {
      kind: 'chart',
      id: 'chart',
      type: 'bar',
      title: 'Sold',
      labels: ['Mon', 'Tue', 'Wed', ''],
      series: [{ name: 'Value', values: [3, null, 4.5, null] }],
      format: 'number',
    },
  ],
  [
    {
      title: 'Sold',
      type: 'line',
      chart_id: 'sold',
      kind: 'currency',
      currency: 'EUR',
      label: 'day.name',
      items: [{ day: { name: 'Mon' }, rye: 1, spelt_bread: 2 }],
      values: ['spelt_bread', { field: 'rye', label: 'Rye' }],
    },
    {
      kind: 'chart',
      id: 'sold',
      type: 'line',
      title: 'Sold',
      heading: 'Name',
      labels: ['Mon'],
      series: [
        { name: 'Spelt bread', values: [2] },
        { name: 'Rye', values: [1] },
      ],
      format: 'currency',
      currency: 'EUR',
    },
  ],
])('%j adds %j', async (inputs, node) => {
  const { outputs } = await runBlock(block, { inputs: { ...inputs, state: above } })
  expect(outputs).toEqual({ state: { before: above, node } })
})
