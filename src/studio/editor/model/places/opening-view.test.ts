import { expect, test } from 'vitest'
import customers from '../../../../../examples/crm/blueprints/customers.json' with { type: 'json' }
import tasks from '../../../../../examples/tasks/blueprints/tasks.json' with { type: 'json' }
import { describeBlock } from '../../../../blocks/describe-block.ts'
import { findBlocks } from '../../../../blocks/load-blocks.ts'
import { importBlueprint } from '../../../../flows/blueprints/blueprint-file.ts'
import hello from '../../../starters/hello.blueprint.json' with { type: 'json' }
import { catalogueOf } from '../block-description.ts'
import type { Flow } from '../flow.ts'
import { laneList } from '../lane-list.ts'
import { LEAST_READABLE, laneView, openingView } from './opening-view.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)

function flowOf(file: unknown): Flow {
  let next = 0
  return new Map(
    importBlueprint(file, () => `g${next++}`).blocks.map(({ guid, ...content }) => [guid, content]),
  )
}

const screens = [
  { width: 340, height: 600 },
  { width: 680, height: 700 },
  { width: 1600, height: 1000 },
]

test.each([
  ['Hello', hello],
  ['Tasks', tasks],
  ['CRM customers', customers],
])('%s opens readable, with its first trigger in sight', (_name, file) => {
  const flow = flowOf(file)
  const [first] = laneList(flow, catalogue)
  const { position } = flow.get(first?.trigger ?? '') ?? {}
  for (const screen of screens) {
    const { x, y, zoom } = openingView(flow, catalogue, screen)
    expect(zoom).toBeGreaterThanOrEqual(LEAST_READABLE)
    expect(zoom).toBeLessThanOrEqual(1)
    const left = (position?.x ?? Number.NaN) * zoom + x
    const top = (position?.y ?? Number.NaN) * zoom + y
    expect(left).toBeGreaterThanOrEqual(0)
    expect(left).toBeLessThan(screen.width)
    expect(top).toBeGreaterThanOrEqual(0)
    expect(top).toBeLessThan(screen.height)
  }
})

test('without a trigger it shows the first block, without blocks the middle', () => {
  const [guid = '', content] = [...flowOf(tasks)].at(-1) ?? []
  const far = new Map(
    [0, 9_000].map((x) => [`${guid}${x}`, { ...content, position: { x, y: x } }] as const),
  ) as Flow
  const { x, y, zoom } = openingView(far, catalogue, { width: 680, height: 700 })
  expect([x > 0, y > 0, zoom]).toEqual([true, true, LEAST_READABLE])
  expect(openingView(new Map(), catalogue, { width: 680, height: 700 })).toEqual({ x: 340, y: 350, zoom: 1 })
})

test('lanes are listed from the top, and jumping to one puts its trigger in the corner', () => {
  const flow = flowOf(tasks)
  const lanes = laneList(flow, catalogue)
  expect(lanes.map(({ title }) => title)).toEqual([
    'GET /tasks',
    'POST /tasks',
    'GET /tasks/{guid}',
    'PUT /tasks/{guid}',
    'DELETE /tasks/{guid}',
  ])
  const screen = { width: 680, height: 700 }
  const tops = lanes.map(({ trigger }) => {
    const { y, zoom } = laneView(flow, catalogue, trigger, screen, 1)
    return (flow.get(trigger)?.position.y ?? 0) * zoom + y
  })
  for (const top of tops) {
    expect(top).toBeGreaterThan(0)
    expect(top).toBeLessThan(400)
  }
})
