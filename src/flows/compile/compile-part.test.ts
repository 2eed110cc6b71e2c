import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FlowBlocks, type FlowFixture, openFlowFixture } from '../../../test/run-flow.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

const fields = (count: number) => Array.from({ length: count }, (_one, i) => `field_${i}`)
const page = (columns: unknown, more: FlowBlocks = {}): FlowBlocks => ({
  ...more,
  stock: { type: 'storage', fields: { storage: 'stock' } },
  page: { type: 'state_page', in: { url: 'stock' } },
  table: { type: 'state_advanced_datatable', in: { storage: '@stock.storage', columns } },
  show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
})
const formatted = (format: unknown) => page(['a', { field: 'b', format }])
const fixed: FlowBlocks = { fixed: { type: 'value_default', in: { value: '["a", "a"]' } } }
const sent: FlowBlocks = { sent: { type: 'httpconnection_get_params', in: { field: 'columns' } } }

test.each<[string, FlowBlocks, RegExp]>([
  ['too many columns', page(fields(101)), /must be at most 100 and are 101: .* a separate page/],
  ['a column twice', page(['a', 'a']), /"a" twice/],
  ['a column twice, in a value that is wired', page('@fixed.value', fixed), /"a" twice/],
  ['a kind that is not there', page([{ field: 'a', kind: 'sparkle' }]), /has an unknown kind/],
  ['a format that cannot be read', formatted('=doc.a +'), /row 2, format of b: .*\(column 8\)/],
  ['a format without an expression', formatted('='), /row 2, format of b: /],
  [
    'a function that is not there',
    formatted('=roundd(value)'),
    /There is no function roundd.* round\b.*\(column 1\)/,
  ],
  ['a name of the run', formatted('=params.a'), /row 2, format of b: .*params.*\(column 1\)/],
  ['a block', formatted('=blocks.stock.storage'), /row 2, format of b: .*stock.*\(column/],
  ['types that do not fit', formatted('=doc.a + "x" * 2'), /The operator \* takes numbers.*\(column 9\)/],
  ['a change', formatted('=increment(1)'), /increment is for blocks that change documents/],
  ['a random value', formatted('=uuid()'), /cannot be random/],
  [
    'a format in an expression',
    page('=[{ field: "b", format: "=value" }]'),
    /row 1, format of b: .*written in the block/,
  ],
  [
    'a format in a wired list',
    page('@fixed.value', {
      fixed: { type: 'value_default', in: { value: '[{"field":"b","format":"=value"}]' } },
    }),
    /row 1, format of b: .*written in the block/,
  ],
])('%s is refused when the blueprint is deployed', (_what, blocks, message) => {
  const { blueprint, problems } = fixture.compile(blocks)
  expect(blueprint).toBeUndefined()
  expect(problems).toEqual([{ block: 'table', pin: 'columns', message: expect.stringMatching(message) }])
})

test('as many columns as may be, and columns that only a run knows, are deployed', () => {
  expect(fixture.compile(page(fields(100))).problems).toEqual([])
  expect(fixture.compile(page('@sent.value', sent)).problems).toEqual([])
  expect(fixture.compile(formatted('=round(doc.a * value, 2)')).problems).toEqual([])
  expect(fixture.compile(page('[{"field":"b","format":"=value"}]')).problems).toEqual([])
})

test('a block that has a problem already is left alone', () => {
  const table = { type: 'state_advanced_datatable', in: { columns: ['a', 'a'] } }
  expect(fixture.compile({ ...page([]), table }).problems.map(({ pin }) => pin)).toEqual(['storage'])
})
