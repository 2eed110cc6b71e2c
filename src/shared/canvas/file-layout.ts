/** Places for the blocks of a file that has none for them. Sizes are estimates from above: a file does not say which pins a block has. */
import type { Block } from '../blueprint.ts'
import { layOut } from './lay-out.ts'
import type { LayoutBlock, LayoutLink, Place } from './layout-graph.ts'

const WIDTH = 250
/** Head, comment and the line of folded pins of a block, and one row of pins. */
const HEAD = 62
const COMMENT = 22
const FOLD = 30
const ROW = 24
/** Pins that are drawn though the file does not name them. */
const MORE_ROWS = 2
/** Below the blocks that have a place. */
const BELOW = 300
/** More blocks are put in rows: working out an order would take seconds. */
const MOST = 2_000
const IN_A_ROW = 40

/** By guid; on the grid of the canvas. `placed`: where the other blocks of the file stand. */
export function placesFor(blocks: readonly Block[], placed: readonly Place[]): Map<string, Place> {
  const down = placed.length === 0 ? 0 : Math.max(...placed.map(({ y }) => y)) + BELOW
  const left = placed.length === 0 ? 0 : Math.min(...placed.map(({ x }) => x))
  const places = blocks.length > MOST ? inRows(blocks) : layOut(...graphOf(blocks))
  return new Map([...places].map(([guid, { x, y }]) => [guid, { x: onGrid(x + left), y: onGrid(y + down) }]))
}

function inRows(blocks: readonly Block[]): Map<string, Place> {
  return new Map(
    blocks.map(({ guid }, at) => [guid, { x: (at % IN_A_ROW) * 340, y: Math.floor(at / IN_A_ROW) * 500 }]),
  )
}

function graphOf(blocks: readonly Block[]): [LayoutBlock[], LayoutLink[]] {
  const wires = blocks.flatMap((block) =>
    block.in_pins.flatMap(({ id, from = [] }) =>
      from.map((end) => ({ from: end.block, out: end.pin, to: block.guid, into: id })),
    ),
  )
  const signalled = new Set(wires.filter(isSignalWire).map(({ to }) => to))
  const signalling = new Set(wires.filter(({ out }) => out === 'flow').map(({ from }) => from))
  const out = new Map<string, string[]>()
  for (const { from, out: pin } of wires) {
    const pins = out.get(from) ?? ['flow']
    if (!pins.includes(pin)) pins.push(pin)
    out.set(from, pins)
  }
  const drawn = blocks.map(({ guid, in_pins, description }): LayoutBlock => {
    const rows = Math.max(in_pins.length, out.get(guid)?.length ?? 0) + MORE_ROWS
    return {
      id: guid,
      width: WIDTH,
      height: HEAD + (description === '' ? 0 : COMMENT) + rows * ROW + FOLD,
      kind: signalled.has(guid) ? 'flow' : signalling.has(guid) ? 'trigger' : 'value',
    }
  })
  const rowY = (row: number) => HEAD + Math.max(0, row) * ROW + ROW / 2
  const inRow = new Map(
    blocks.map(({ guid, in_pins }) => [
      guid,
      in_pins.map(({ id }) => id).sort((a) => (a === 'flow' ? -1 : 0)),
    ]),
  )
  const links = wires.map((wire): LayoutLink => {
    const { from, to } = wire
    return {
      from,
      to,
      fromY: rowY(out.get(from)?.indexOf(wire.out) ?? 0),
      toY: rowY(inRow.get(to)?.indexOf(wire.into) ?? 0),
      kind: isSignalWire(wire) ? (wire.out === 'flow' ? 'flow' : 'branch') : 'value',
    }
  })
  return [drawn, [...links, ...readLinks(blocks)]]
}

function isSignalWire({ out, into }: { readonly out: string; readonly into: string }): boolean {
  return into === 'flow' || out === 'flow'
}

/** From each block whose name is in an expression. A word that only looks like one costs nothing but another place. */
function readLinks(blocks: readonly Block[]): LayoutLink[] {
  const names = new Map(
    blocks.flatMap(({ guid, name }) => (name === undefined ? [] : [[name, guid] as const])),
  )
  return blocks.flatMap(({ guid, in_pins }) => {
    const words = in_pins.flatMap(({ expression }) => expression?.match(/[A-Za-z_]\w*/g) ?? [])
    return [...new Set(words)].flatMap((word): LayoutLink[] => {
      const from = names.get(word)
      return from === undefined || from === guid
        ? []
        : [{ from, to: guid, fromY: HEAD, toY: HEAD, kind: 'read' }]
    })
  })
}

function onGrid(length: number): number {
  return Math.round(length / 10) * 10
}
