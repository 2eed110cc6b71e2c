import { expect, test } from 'vitest'
import booking from '../../../examples/booking/blueprints/booking.json' with { type: 'json' }
import { importBlueprint } from '../../flows/blueprints/blueprint-file.ts'
import type { Block } from '../blueprint.ts'
import { placesFor } from './file-layout.ts'

function blocksOf(file: unknown): readonly Block[] {
  let next = 0
  return importBlueprint(file, () => `g${next++}`).blocks
}

const places = (blocks: readonly Block[]) => blocks.map(({ position: { x, y } }) => `${x} ${y}`)

test('a file without places is in order: each block has a place of its own, right of what leads to it', () => {
  const blocks = blocksOf(booking)
  expect(new Set(places(blocks)).size).toBe(blocks.length)
  const at = new Map(blocks.map(({ guid, position }) => [guid, position]))
  const back = blocks.flatMap(({ position, in_pins }) =>
    in_pins.flatMap(({ from = [] }) => from.filter(({ block }) => (at.get(block)?.x ?? 0) >= position.x)),
  )
  expect(back).toEqual([])
  // Every trigger begins a lane at the left.
  const left = Math.min(...blocks.map(({ position }) => position.x))
  const triggers = blocks.filter(({ type }) => type.startsWith('on_startup'))
  expect(triggers.map(({ position }) => position.x)).toEqual(triggers.map(() => left))
})

test('places of a file stay, and blocks without one stand below', () => {
  const file = {
    name: 'Half',
    blocks: {
      on: { type: 'on_startup_register_uri_get', in: { uri: 'a' } },
      reply: { type: 'reply', in: { flow: '@on.flow' } },
      other: { type: 'on_startup_register_uri_get', in: { uri: 'b' } },
      answer: { type: 'reply', in: { flow: '@other.flow' } },
    },
    layout: { on: [-500, 700], reply: [33, 41] },
  }
  const [on, reply, other, answer] = blocksOf(file).map(({ position }) => position)
  expect([on, reply]).toEqual([
    { x: -500, y: 700 },
    { x: 33, y: 41 },
  ])
  expect(other).toEqual({ x: -500, y: 1000 })
  expect([answer?.y, (answer?.x ?? 0) > -250]).toEqual([1000, true])
})

test('what only a name in an expression uses stands before it', () => {
  const [value, user] = blocksOf({
    name: 'Read',
    blocks: {
      price: { type: 'number_default', in: { value: 3 } },
      shown: { type: 'value_default', in: { value: '=price.number * 2' } },
    },
  }).map(({ position }) => position)
  expect((value?.x ?? 0) + 250).toBeLessThanOrEqual(user?.x ?? 0)
})

test('circles, wires over everything and thousands of blocks end', () => {
  const wired = (id: number, from: readonly number[]): Block => ({
    ...{ guid: `g${id}`, name: `n${id}`, type: 'join', title: '', description: '', position: { x: 0, y: 0 } },
    in_pins: [{ id: 'flow', from: from.map((one) => ({ block: `g${one}`, pin: 'flow' })) }],
    ...{ custom_out_pins: [], fields: {}, scopes: [] },
  })
  const circle = placesFor([wired(0, [2]), wired(1, [0]), wired(2, [1])], [])
  expect(new Set([...circle.values()].map(({ x }) => x)).size).toBe(3)
  const chain = Array.from({ length: 1_000 }, (_, id) => wired(id, id === 0 ? [] : [id - 1, 0]))
  expect(placesFor(chain, []).size).toBe(1_000)
  const many = Array.from({ length: 2_001 }, (_, id) => wired(id, id === 0 ? [] : [id - 1]))
  expect(new Set([...placesFor(many, []).values()].map(({ x, y }) => `${x} ${y}`)).size).toBe(2_001)
})
