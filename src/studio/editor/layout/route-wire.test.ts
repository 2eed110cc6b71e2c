import { expect, test } from 'vitest'
import { type Box, boxesIn, boxIndex } from './box-index.ts'
import { pathOf, routeWire } from './route-wire.ts'

const box = (left: number, top: number, right = left + 250, bottom = top + 150): Box => ({
  ...{ left, top, right, bottom },
})
const indexOf = (...boxes: Box[]) => boxIndex(new Map(boxes.map((one, at) => [`b${at}`, one])))
const from = { x: 250, y: 75 }

test.each([
  [
    'level and free: a straight line',
    { x: 400, y: 75 },
    [],
    [
      [250, 75],
      [400, 75],
    ],
  ],
  [
    'down: one turn before the block',
    { x: 400, y: 200 },
    [],
    [
      [250, 75],
      [382, 75],
      [382, 200],
      [400, 200],
    ],
  ],
  [
    'a block above the end: it turns right away',
    { x: 700, y: 300 },
    [box(400, 0)],
    [
      [250, 75],
      [268, 75],
      [268, 300],
      [700, 300],
    ],
  ],
])('%s', (_what, to, boxes, way) => {
  const index = indexOf(box(0, 0), ...boxes)
  expect(routeWire(from, to, index).map(({ x, y }) => [x, y])).toEqual(way)
})

/** Places along the way that lie inside a block. */
function hits(way: readonly { x: number; y: number }[], boxes: readonly Box[]): number {
  const steps = way.slice(1).flatMap((end, at) => {
    const start = way[at] ?? end
    return Array.from({ length: 50 }, (_, step) => ({
      x: start.x + ((end.x - start.x) * step) / 49,
      y: start.y + ((end.y - start.y) * step) / 49,
    }))
  })
  return steps.filter(({ x, y }) =>
    boxes.some((one) => x > one.left + 1 && x < one.right - 1 && y > one.top + 1 && y < one.bottom - 1),
  ).length
}

test.each([
  ['a block between', { x: 700, y: 75 }, [box(350, 0)]],
  ['two blocks between, one above the other', { x: 700, y: 75 }, [box(350, -80), box(350, 75)]],
  ['back to a block before', { x: -300, y: 400 }, [box(-300, 325), box(-300, 0)]],
  ['back to the same block', { x: 0, y: 120 }, []],
])('around %s', (_what, to, others) => {
  const boxes = [box(0, 0), ...others]
  const way = routeWire(from, to, indexOf(...boxes))
  expect([way.at(0), way.at(-1)]).toEqual([from, to])
  expect(hits(way, boxes)).toBe(0)
  // Level and upright only, and it comes to its pin from the left.
  for (const [at, { x, y }] of way.entries()) {
    const before = way[at - 1]
    if (before) expect(before.x === x || before.y === y).toBe(true)
  }
  expect((way.at(-2)?.x ?? Number.NaN) <= to.x).toBe(true)
})

test('shut in, it is drawn all the same', () => {
  const ring = [
    box(260, -500, 300, 700),
    box(-400, -500, 600, -450),
    box(-400, 650, 600, 700),
    box(-400, -500, -350, 700),
  ]
  const way = routeWire(from, { x: 900, y: 75 }, indexOf(box(0, 0), ...ring))
  expect([way.at(0), way.at(-1)]).toEqual([from, { x: 900, y: 75 }])
})

test('a path has round corners that are no longer than half of their lines', () => {
  expect(pathOf([])).toBe('')
  expect(
    pathOf([
      { x: 0, y: 0 },
      { x: 10, y: 0 },
      { x: 10, y: 4 },
    ]),
  ).toBe('M0,0L8,0Q10,0 10,2L10,4')
})

test('boxes are found by the area that they share', () => {
  const index = indexOf(box(0, 0), box(300, 0), box(600, 500))
  expect(boxesIn(index, box(240, 10, 310, 20))).toHaveLength(2)
  expect(boxesIn(index, box(250, 0, 300, 150))).toHaveLength(0)
  expect(boxesIn(index, box(-1000, -1000, 2000, 2000))).toHaveLength(3)
})
