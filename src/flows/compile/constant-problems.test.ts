import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FlowBlocks, type FlowRoom, openFlowRoom } from '../../../test/run-flow.ts'

let room: FlowRoom
beforeAll(async () => {
  room = await openFlowRoom()
})
afterAll(() => room.close())

const fields = (count: number) => Array.from({ length: count }, (_one, i) => `field_${i}`)
const page = (columns: unknown, more: FlowBlocks = {}): FlowBlocks => ({
  ...more,
  stock: { type: 'storage', fields: { storage: 'stock' } },
  page: { type: 'state_page', in: { url: 'stock' } },
  table: { type: 'state_advanced_datatable', in: { storage: '@stock.storage', columns } },
  show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
})
const fixed: FlowBlocks = { fixed: { type: 'value_default', in: { value: '["a", "a"]' } } }
const sent: FlowBlocks = { sent: { type: 'httpconnection_get_params', in: { field: 'columns' } } }

test.each<[string, FlowBlocks, RegExp]>([
  ['too many columns', page(fields(101)), /must be at most 100 and are 101: .* a separate page/],
  ['a column twice', page(['a', 'a']), /"a" twice/],
  ['a column twice, in a value that is wired', page('@fixed.value', fixed), /"a" twice/],
  ['a kind that is not there', page([{ field: 'a', kind: 'sparkle' }]), /has an unknown kind/],
])('%s is refused when the blueprint is deployed', (_what, blocks, message) => {
  const { blueprint, problems } = room.compile(blocks)
  expect(blueprint).toBeUndefined()
  expect(problems).toEqual([{ block: 'table', pin: 'columns', message: expect.stringMatching(message) }])
})

test('as many columns as may be, and columns that only a run knows, are deployed', () => {
  expect(room.compile(page(fields(100))).problems).toEqual([])
  expect(room.compile(page('@sent.value', sent)).problems).toEqual([])
})

test('a block that has a problem already is left alone', () => {
  const table = { type: 'state_advanced_datatable', in: { columns: ['a', 'a'] } }
  expect(room.compile({ ...page([]), table }).problems.map(({ pin }) => pin)).toEqual(['storage'])
})
