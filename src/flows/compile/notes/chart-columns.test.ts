import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FlowFixture, openFlowFixture } from '../../../../test/run-flow.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

const page = { type: 'state_page', in: { url: 'p' } }

test.each<[string, Record<string, unknown>, string, readonly (readonly [string, RegExp])[]]>([
  ['names of the columns', { label: 'month', values: ['total'] }, '@sums.rows', []],
  [
    'the field in place of its part',
    { label: 'start', values: ['total'] },
    '@sums.rows',
    [['label', /names start, which is no column of the items. They have month, total./]],
  ],
  [
    'nothing',
    {},
    '@sums.rows',
    [
      ['label', /names label/],
      ['values', /names value/],
    ],
  ],
  [
    'one of two values',
    { label: 'month', values: ['total', { field: 'amount' }] },
    '@sums.rows',
    [['values', /names amount/]],
  ],
  ['a label that only a run knows', { label: '=params.by', values: ['total'] }, '@sums.rows', []],
  [
    'items of an expression',
    { label: 'day', values: ['n'] },
    '=[{ day: "a", m: 1 }]',
    [['values', /They have day, m/]],
  ],
  ['items that only a run knows', { label: 'x', values: ['y'] }, '=params.items', []],
])('a chart with %s', (_what, more, items, found) => {
  const group = [{ field: 'start', part: 'month' }]
  const sums = { flow: '@page.flow', storage: 'goods', group, values: [{ sum: 'amount', as: 'total' }] }
  const { blueprint, problems } = fixture.compile({
    page,
    sums: { type: 'function_aggregate', in: sums },
    chart: { type: 'state_chart', in: { title: 'A', items, ...more } },
    show: { type: 'state_render_page', in: { flow: '@sums.flow', state: '@chart.state' } },
  })
  expect(problems).toEqual([])
  const notes = blueprint?.notes.filter(({ message }) => message.includes('no column'))
  expect(notes?.map(({ block, pin, message }) => [block, pin, message])).toEqual(
    found.map(([pin, message]) => ['chart', pin, expect.stringMatching(message)]),
  )
})
