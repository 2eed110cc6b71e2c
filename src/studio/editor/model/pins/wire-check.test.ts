import { expect, test } from 'vitest'
import { describeBlock } from '../../../../blocks/describe-block.ts'
import { findBlocks, loadBlocks } from '../../../../blocks/load-blocks.ts'
import { buildGraph } from '../../../../flows/compile/blueprint-graph.ts'
import type { BlockContent } from '../../../../shared/blueprint.ts'
import { emptyContent } from '../../../../shared/empty-content.ts'
import { catalogueOf } from '../block-description.ts'
import { connect } from '../changes/flow-changes.ts'
import type { Wire } from '../flow.ts'
import { wireProblem } from './wire-check.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)
const definitions = await loadBlocks()
const block = (type: string, more: Partial<BlockContent> = {}): BlockContent => ({
  ...emptyContent,
  type,
  ...more,
})
const wire = (from: string, to: string): Wire => {
  const [[a = '', b = ''], [c = '', d = '']] = [from.split('.'), to.split('.')]
  return { from: { block: a, pin: b }, to: { block: c, pin: d } }
}

test('between any two pins of any two blocks it says what the server says', () => {
  const all = [...new Set(catalogue.values())]
  const outs = new Map(
    all.flatMap((one) =>
      Object.entries(one.out).map(([pin, { type, carries }]) => [
        `${type} ${carries}`,
        { type: one.identifier, pin },
      ]),
    ),
  )
  const compared = { allowed: 0, refused: 0 }
  for (const { type: source, pin: out } of outs.values()) {
    for (const target of all) {
      for (const pin of Object.keys(target.in)) {
        const flow = new Map([
          ['a', block(source)],
          ['b', block(target.identifier)],
        ])
        const drawn = { from: { block: 'a', pin: out }, to: { block: 'b', pin } }
        const said = wireProblem(flow, catalogue, drawn)
        const blocks = [...connect(flow, catalogue, drawn)].map(([guid, content]) => ({ guid, ...content }))
        const server = buildGraph(blocks, definitions).problems.find(
          ({ rule, block: at }) => rule === 'wire' && at === 'b',
        )
        expect([source, out, target.identifier, pin, said !== undefined]).toEqual([
          source,
          out,
          target.identifier,
          pin,
          server !== undefined,
        ])
        compared[said === undefined ? 'allowed' : 'refused'] += 1
      }
    }
  }
  expect(compared.allowed).toBeGreaterThan(300)
  expect(compared.refused).toBeGreaterThan(1000)
})

const flow = new Map([
  ['get', block('on_startup_register_uri_get')],
  ['search', block('function_search', { in_pins: [{ id: 'flow', from: [{ block: 'get', pin: 'flow' }] }] })],
  ['one', block('value_default')],
  ['two', block('value_default', { in_pins: [{ id: 'value', from: [{ block: 'one', pin: 'value' }] }] })],
  ['map', block('array_map', { in_pins: [{ id: 'array', from: [{ block: 'search', pin: 'documents' }] }] })],
  [
    'fields',
    block('object_update_fields', { in_pins: [{ id: 'object', from: [{ block: 'map', pin: 'item' }] }] }),
  ],
])

test.each([
  ['a value to a flow pin', 'one.value', 'search.flow', /signal/],
  ['a signal to a value pin', 'get.flow', 'one.value', /not a value/],
  [
    'types that cannot be converted',
    'get.connection',
    'search.limit',
    /number pin cannot take what a connection/,
  ],
  ['a pin that is not there', 'one.nothing', 'two.value', /no out-pin nothing/],
  ['a removed block', 'gone.value', 'two.value', /no longer exists/],
  ['a wire that is there', 'get.flow', 'search.flow', /already exists/],
  ['a block to itself', 'one.value', 'one.default', /itself/],
  ['a value that would depend on itself', 'two.value', 'one.value', /depend on itself/],
])('%s is refused with the reason', (_what, from, to, reason) => {
  expect(wireProblem(flow, catalogue, wire(from, to))).toMatch(reason)
})

test.each([
  ['a text where a number is wanted', 'one.value', 'search.limit'],
  ['what went wrong, of an error pin', 'search.error', 'fields.object'],
  ['the item of a list into what makes its result', 'fields.object', 'map.result'],
])('%s is allowed', (_what, from, to) => {
  expect(wireProblem(flow, catalogue, wire(from, to))).toBeUndefined()
})
