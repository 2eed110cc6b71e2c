import { expect, test } from 'vitest'
import { describeBlock } from '../../../blocks/describe-block.ts'
import { findBlocks } from '../../../blocks/load-blocks.ts'
import { importBlueprint } from '../../../flows/blueprints/blueprint-file.ts'
import { catalogueOf } from '../model/block-description.ts'
import type { Flow } from '../model/flow.ts'
import { crossWires } from './cross-wires.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)

const blocks = {
  store: { type: 'storage', fields: { storage: 'tasks' } },
  list: { type: 'on_startup_register_uri_get', in: { uri: 'tasks' } },
  search: { type: 'function_search', in: { flow: '@list.flow', storage: '@store.storage' } },
  count: { type: 'on_startup_register_uri_get', in: { uri: 'count' } },
  counted: { type: 'function_search', in: { flow: '@count.flow', storage: '@store.storage' } },
  answer: { type: 'httpconnection_set_json', in: { flow: ['@search.flow', '@counted.flow'] } },
}

function flowAt(places: Readonly<Record<string, readonly [number, number]>>): Flow {
  const names = Object.keys(blocks)
  let next = 0
  const imported = importBlueprint({ name: 'test', blocks, layout: places }, () => names[next++] ?? '')
  return new Map(imported.blocks.map(({ guid, ...content }) => [guid, content]))
}

const near = { store: [0, 0], list: [300, 0], search: [600, 0], answer: [900, 0] } as const

test('wires between lanes are stubs where they are long, at both ends, each other end once', () => {
  const flow = flowAt({ ...near, count: [300, 700], counted: [600, 700] })
  const { ids, ofBlock } = crossWires(flow, catalogue)
  expect([...ids].toSorted()).toEqual(['counted|flow>answer|flow', 'store|storage>counted|storage'])
  expect([...ofBlock].map(([block, stubs]) => [block, [...stubs.in], [...stubs.out]])).toEqual(
    expect.arrayContaining([
      ['answer', [['flow', ['counted']]], []],
      ['counted', [['storage', ['store']]], [['flow', ['answer']]]],
      ['store', [], [['storage', ['counted']]]],
    ]),
  )
})

test('a short wire to the next lane is drawn, and so is a long one of one lane', () => {
  expect(crossWires(flowAt({ ...near, count: [300, 200], counted: [600, 200] }), catalogue).ids.size).toBe(0)
  const stretched = flowAt({
    ...near,
    search: [2000, 0],
    answer: [2300, 0],
    count: [300, 200],
    counted: [1800, 200],
  })
  expect([...crossWires(stretched, catalogue).ids].toSorted()).toEqual([
    'store|storage>counted|storage',
    'store|storage>search|storage',
  ])
})
