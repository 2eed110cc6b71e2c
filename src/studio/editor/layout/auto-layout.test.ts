import { expect, test } from 'vitest'
import tasks from '../../../../examples/tasks/blueprints/tasks.json' with { type: 'json' }
import { describeBlock } from '../../../blocks/describe-block.ts'
import { findBlocks } from '../../../blocks/load-blocks.ts'
import { importBlueprint } from '../../../flows/blueprints/blueprint-file.ts'
import { lanesOf } from '../../../shared/canvas/layout-graph.ts'
import { catalogueOf } from '../model/block-description.ts'
import { moveBlocks } from '../model/changes/flow-changes.ts'
import { type Flow, wiresOf } from '../model/flow.ts'
import { align } from '../model/places/align.ts'
import { freePlace, sizeOf } from '../model/places/node-geometry.ts'
import { autoLayout, layoutGraphOf } from './layout-graph-of.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)
let next = 0
/** The example, with a block that two of its endpoints need. */
const { search, read_document, ...rest } = tasks.blocks
const store = '@store.storage'
const shared = {
  ...rest,
  store: { type: 'storage', fields: { storage: 'tasks' } },
  search: { ...search, in: { ...search.in, storage: store } },
  read_document: { ...read_document, in: { ...read_document.in, storage: store } },
}
const flow: Flow = new Map(
  importBlueprint({ ...tasks, blocks: shared }, () => `g${next++}`).blocks.map(({ guid, ...content }) => [
    guid,
    content,
  ]),
)

function overlaps(of: Flow): string[] {
  const boxes = [...of].map(([guid, content]) => ({
    guid,
    ...content.position,
    ...sizeOf(of, catalogue, guid),
  }))
  return boxes.flatMap((a, at) =>
    boxes
      .slice(at + 1)
      .filter(
        (b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height,
      )
      .map((b) => `${a.guid} ${b.guid}`),
  )
}

test('blocks in order do not cover each other, and wires go from left to right', () => {
  const placed = moveBlocks(flow, autoLayout(flow, catalogue, new Set(flow.keys())))
  expect(overlaps(placed)).toEqual([])
  const back = wiresOf(placed).filter(({ from, to }) => {
    const [a, b] = [placed.get(from.block), placed.get(to.block)]
    return a && b && a.position.x >= b.position.x
  })
  expect(back).toEqual([])
})

test('what each trigger sets off has a lane of its own, and what several need stands before them', () => {
  const { blocks, links } = layoutGraphOf(flow, catalogue, new Set(flow.keys()))
  const { lanes, shared: before } = lanesOf(blocks, links)
  expect(lanes).toHaveLength(5)
  expect([...before].map((guid) => flow.get(guid)?.type)).toEqual(['storage'])
  expect(lanes.reduce((sum, { size }) => sum + size, before.size)).toBe(flow.size)
  const places = autoLayout(flow, catalogue, new Set(flow.keys()))
  const spans = lanes.map((lane) => {
    const boxes = [...lane].flatMap((guid) => {
      const place = places.get(guid)
      return place ? [{ top: place.y, bottom: place.y + sizeOf(flow, catalogue, guid).height }] : []
    })
    return [Math.min(...boxes.map(({ top }) => top)), Math.max(...boxes.map(({ bottom }) => bottom))]
  })
  for (const [at, [top = 0]] of spans.entries()) expect(top).toBeGreaterThan(spans[at - 1]?.[1] ?? -1)
})

test('forty lanes together have the shape of a screen, in the order of their triggers', () => {
  const blocks = Array.from({ length: 40 }, (_, at) => [
    [`on${at}`, { type: 'on_startup_register_uri_get', in: { uri: `a${at}` } }],
    [`reply${at}`, { type: 'httpconnection_set_json', in: { flow: `@on${at}.flow`, value: at } }],
  ]).flat()
  let next = 0
  const many: Flow = new Map(
    importBlueprint(
      { name: 'Many', blocks: Object.fromEntries(blocks) },
      () => `g${String(next++).padStart(3, '0')}`,
    ).blocks.map(({ guid, ...content }) => [guid, content]),
  )
  const placed = moveBlocks(many, autoLayout(many, catalogue, new Set(many.keys())))
  expect(overlaps(placed)).toEqual([])
  const boxes = [...placed].map(([guid, { position }]) => ({ ...position, ...sizeOf(many, catalogue, guid) }))
  const width = Math.max(...boxes.map((one) => one.x + one.width)) - Math.min(...boxes.map(({ x }) => x))
  const height = Math.max(...boxes.map((one) => one.y + one.height)) - Math.min(...boxes.map(({ y }) => y))
  expect(width / height).toBeGreaterThan(1)
  expect(width / height).toBeLessThan(2.5)
  const triggers = [...placed.values()].filter(({ type }) => type.startsWith('on_startup'))
  const inReading = triggers.toSorted((a, b) => a.position.y - b.position.y || a.position.x - b.position.x)
  expect(inReading.map(({ in_pins }) => in_pins[0]?.value)).toEqual(
    triggers.map(({ in_pins }) => in_pins[0]?.value),
  )
})

test('only what is chosen moves, and its corner stays', () => {
  const chosen = new Set([...flow.keys()].slice(0, 5))
  const places = autoLayout(flow, catalogue, chosen)
  expect(new Set(places.keys())).toEqual(chosen)
  const before = [...flow].filter(([guid]) => chosen.has(guid)).map(([, { position }]) => position)
  const least = (list: readonly { x: number; y: number }[]) => [
    Math.min(...list.map(({ x }) => x)),
    Math.min(...list.map(({ y }) => y)),
  ]
  expect(least([...places.values()])).toEqual(least(before))
})

test('aligned blocks share an edge, and spread ones have equal gaps', () => {
  const three = new Set([...flow.keys()].slice(0, 3))
  const left = align(flow, catalogue, three, 'left')
  expect(new Set([...left.values()].map(({ x }) => x)).size).toBe(1)
  const down = moveBlocks(flow, align(moveBlocks(flow, left), catalogue, three, 'down'))
  const boxes = [...down]
    .filter(([guid]) => three.has(guid))
    .map(([guid, content]) => ({
      top: content.position.y,
      bottom: content.position.y + sizeOf(down, catalogue, guid).height,
    }))
    .toSorted((a, b) => a.top - b.top)
  const gaps = boxes.slice(1).map(({ top }, at) => top - (boxes[at]?.bottom ?? 0))
  expect(Math.abs((gaps[0] ?? 0) - (gaps[1] ?? 0))).toBeLessThanOrEqual(1)
  expect(Math.min(...gaps)).toBeGreaterThan(0)
  expect(align(flow, catalogue, new Set([...flow.keys()].slice(0, 1)), 'left').size).toBe(0)
})

test('a new block covers none that is there', () => {
  const placed = moveBlocks(flow, autoLayout(flow, catalogue, new Set(flow.keys())))
  for (const { position } of [...placed.values()].slice(0, 10)) {
    const { x, y } = freePlace(placed, catalogue, 'function_search', position)
    const content = {
      type: 'function_search',
      title: '',
      description: '',
      position: { x, y },
      in_pins: [],
      custom_out_pins: [],
      fields: {},
      scopes: [],
    }
    expect(overlaps(new Map(placed).set('new', content))).toEqual([])
  }
})
