import { expect, test } from 'vitest'
import { canvasBlueprints } from '../bench/canvas/blueprints.ts'
import { figuresOf } from '../bench/canvas/layout-figures.ts'
import { measureDrawing } from '../bench/canvas/measure-drawing.ts'

const box = (id: string, x: number, y: number) => ({ id, x, y, width: 100, height: 50 })
const wire = (from: string, to: string, ...way: [number, number][]) => ({
  from: `${from} flow`,
  to: `${to} flow`,
  way: way.map(([x, y]) => ({ x, y })),
})

test('the measure sees what covers, crosses and hides', () => {
  const boxes = [box('a', 0, 0), box('b', 50, 20), box('c', 300, 0), box('d', 300, 200), box('e', 600, 0)]
  const wires = [
    wire('a', 'd', [100, 25], [300, 225]),
    wire('b', 'c', [150, 200], [300, 25]),
    wire('a', 'e', [100, 25], [200, 25], [500, 25], [600, 25]),
  ]
  expect(measureDrawing(boxes, wires)).toMatchObject({ overlaps: 1, hidden: 2, crossings: 1 })
  const length = measureDrawing(boxes, [wire('c', 'e', [400, 25], [600, 25])])
  expect(length).toMatchObject({ hidden: 0, crossings: 0, length: 200 })
})

const most: Readonly<Record<string, number>> = {
  Webhooks: 1,
  Tasks: 5,
  Inventory: 1,
  Booking: 0,
  'CRM customers': 6,
  'CRM as one': 10,
}

test('arranged, no block covers another, no wire is hidden, and few cross', async () => {
  for (const file of await canvasBlueprints()) {
    const { crossings, ...figures } = figuresOf(file)
    expect(figures).toMatchObject({ overlaps: 0, hidden: 0 })
    expect(crossings, `crossings of ${file.name}`).toBeLessThanOrEqual(most[String(file.name)] ?? -1)
  }
})
