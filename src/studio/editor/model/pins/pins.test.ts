import { expect, test } from 'vitest'
import { describeBlock } from '../../../../blocks/describe-block.ts'
import { findBlocks, loadBlocks } from '../../../../blocks/load-blocks.ts'
import { buildGraph } from '../../../../flows/compile/blueprint-graph.ts'
import type { BlockContent } from '../../../../shared/blueprint.ts'
import { emptyContent } from '../../../../shared/empty-content.ts'
import { catalogueOf } from '../block-description.ts'
import { setCustomOut, setField } from '../changes/flow-changes.ts'
import { pinsOf } from './pins.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)
const definitions = await loadBlocks()
const block = (type: string, more: Partial<BlockContent> = {}): BlockContent => ({
  ...emptyContent,
  type,
  ...more,
})

const operation = {
  ...{ id: 'add', hash: 'h', title: 'Add a pet', method: 'POST', path: '/pets' },
  pins: [{ pin: 'name', in: 'body', type: 'value' }],
  body: { type: 'application/json', as: 'json', pin: 'others', holds: 'object' },
  headers: [{ pin: 'header_etag', name: 'etag' }],
  failures: [{ status: '4XX' }, { status: 'default' }],
}

test('every block has the pins that the server gives it, also those that settings add', () => {
  for (const { identifier, settings } of new Set(catalogue.values())) {
    const names = Object.entries(settings).filter(([, { kind }]) => kind === 'names')
    const required = Object.entries(settings).filter(([, { kind, required: is }]) => is && kind !== 'names')
    const content = block(identifier, {
      fields: Object.fromEntries([
        ...required.map(([name, { kind }]) => [name, kind === 'operation' ? operation : 'a_name']),
        ...names.map(([name]) => [name, ['first', 'second.inner']]),
      ]),
      custom_out_pins: [{ id: 'own', type: 'number' }],
    })
    const [node] = buildGraph([{ guid: 'a', ...content }], definitions).nodes
    const pins = pinsOf(content, catalogue)
    const types = (map: ReadonlyMap<string, { type: string }> | undefined) =>
      Object.fromEntries([...(map ?? [])].map(([id, { type }]) => [id, type]))
    expect([identifier, types(pins.in), types(pins.out)]).toEqual([
      identifier,
      types(node?.in),
      types(node?.out),
    ])
  }
})

test('a name that is taken from a list takes its wires and values along, and nothing else', () => {
  const flow = new Map([
    ['text', block('value_default')],
    [
      'object',
      block('object_new_fields', {
        fields: { fields: ['a', 'b'] },
        in_pins: [
          { id: 'a', from: [{ block: 'text', pin: 'value' }] },
          { id: 'b', value: 1 },
        ],
      }),
    ],
  ])
  const next = setField(flow, catalogue, 'object', 'fields', ['b', 'c'])
  expect(next.get('object')?.in_pins).toEqual([{ id: 'b', value: 1 }])
  expect(next.get('text')).toBe(flow.get('text'))
})

test('a parameter that is gone leaves no wire behind at those who read it', () => {
  const flow = new Map([
    ['call', block('trigger_custom_function', { custom_out_pins: [{ id: 'order', type: 'object' }] })],
    [
      'reply',
      block('function_return', { in_pins: [{ id: 'value', from: [{ block: 'call', pin: 'order' }] }] }),
    ],
  ])
  expect(setCustomOut(flow, catalogue, 'call', []).get('reply')?.in_pins).toEqual([])
})

test('a block of a version that is not here keeps everything it has', () => {
  const flow = new Map([['a', block('from_the_future', { in_pins: [{ id: 'x', value: 1 }] })]])
  expect(pinsOf(block('from_the_future'), catalogue).in.size).toBe(0)
  expect(setField(flow, catalogue, 'a', 'name', 'b').get('a')?.in_pins).toEqual([{ id: 'x', value: 1 }])
})
