import { type Cell, type Joint, layeredCells } from './layered-cells.ts'
import { type LayoutBlock, type LayoutLink, lanesOf, type Place } from './layout-graph.ts'

const SWEEPS = 12
/** With more joints between two columns crossings are not counted any more, and the last order stands. */
const MOST_COUNTED = 2_000

/** The columns with their cells in an order in which few wires cross. */
function orderCells(columns: readonly (readonly Cell[])[]): Cell[][] {
  let now = columns.map((column) => [...column])
  let best = now
  let least = crossings(now)
  for (let sweep = 0; sweep < SWEEPS && least > 0; sweep++) {
    now = swept(now, sweep % 2 === 0)
    const count = crossings(now)
    if (count >= least) continue
    least = count
    best = now
  }
  return best
}

/** Each column ordered by where the wires from the one before it, or after it, come from. */
function swept(columns: readonly (readonly Cell[])[], forward: boolean): Cell[][] {
  const next = columns.map((column) => [...column])
  const at = new Map<Cell, number>()
  const turn = forward ? next : next.toReversed()
  for (const column of turn) {
    const wish = new Map(column.map((cell, place) => [cell, wishOf(cell, at, forward) ?? place]))
    column.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0))
    for (const [place, cell] of column.entries()) at.set(cell, place)
  }
  return next
}

function wishOf(cell: Cell, at: ReadonlyMap<Cell, number>, forward: boolean): number | undefined {
  const joints = forward ? cell.before : cell.after
  if (joints.length === 0) return undefined
  let sum = 0
  for (const { from, to, fromY, toY } of joints) {
    const other = forward ? from : to
    sum += (at.get(other) ?? 0) + (forward ? fromY / from.height : toY / to.height) * 0.9
  }
  return sum / joints.length
}

function crossings(columns: readonly (readonly Cell[])[]): number {
  let total = 0
  for (const [index, column] of columns.entries()) {
    const place = new Map((columns[index + 1] ?? []).map((cell, at) => [cell, at]))
    const ends = column.flatMap((cell) =>
      cell.after
        .toSorted((a, b) => a.fromY - b.fromY)
        .map(({ to, toY }) => (place.get(to) ?? 0) + toY / to.height),
    )
    if (ends.length > MOST_COUNTED) continue
    for (let a = 0; a < ends.length; a++)
      for (let b = a + 1; b < ends.length; b++) if ((ends[a] ?? 0) > (ends[b] ?? 0)) total++
  }
  return total
}

const WIRE_GAP = 12
const PLACING_SWEEPS = 16

/** How far down each cell stands: as straight as its wires can be, in the order of its column. */
function placeCells(columns: readonly (readonly Cell[])[]): Map<Cell, number> {
  const tops = new Map<Cell, number>()
  for (const column of columns) settle(column, tops, () => [])
  for (let sweep = 0; sweep < PLACING_SWEEPS; sweep++) {
    const forward = sweep % 2 === 0
    const isLast = sweep >= PLACING_SWEEPS - 2
    for (const column of forward ? columns : columns.toReversed())
      settle(column, tops, (cell) =>
        isLast ? [...cell.before, ...cell.after] : forward ? cell.before : cell.after,
      )
  }
  return tops
}

interface Group {
  /** Where its first cell would best be; more than one wish counts by its weight. */
  at: number
  weight: number
  readonly cells: Cell[]
  /** From the first cell's top to each cell's. */
  readonly offsets: number[]
  height: number
}

/** The nearest places to what each cell wishes that keep the order and the gaps: neighbours that would meet move as one. */
function settle(
  column: readonly Cell[],
  tops: Map<Cell, number>,
  joints: (cell: Cell) => readonly Joint[],
): void {
  const groups: Group[] = []
  for (const cell of column) {
    const { at, weight } = placeCellsWishOf(cell, tops, joints(cell))
    let group: Group = { at, weight, cells: [cell], offsets: [0], height: cell.height }
    for (
      let last = groups.at(-1);
      last && last.at + last.height + gap(last, group) > group.at;
      last = groups.at(-1)
    ) {
      groups.pop()
      group = joined(last, group)
    }
    groups.push(group)
  }
  for (const { at, cells, offsets } of groups)
    for (const [index, cell] of cells.entries()) tops.set(cell, at + (offsets[index] ?? 0))
}

function joined(first: Group, second: Group): Group {
  const shift = first.height + gap(first, second)
  const weight = first.weight + second.weight
  return {
    at: (first.at * first.weight + (second.at - shift) * second.weight) / weight,
    weight,
    cells: [...first.cells, ...second.cells],
    offsets: [...first.offsets, ...second.offsets.map((offset) => offset + shift)],
    height: shift + second.height,
  }
}

function gap(first: Group, second: Group): number {
  return first.cells.at(-1)?.id === undefined || second.cells[0]?.id === undefined ? WIRE_GAP : BLOCK_GAP
}

/** Where its wires would be straight; where it is already, where it has none. */
function placeCellsWishOf(
  cell: Cell,
  tops: ReadonlyMap<Cell, number>,
  joints: readonly Joint[],
): { readonly at: number; readonly weight: number } {
  let sum = 0
  let weight = 0
  for (const joint of joints) {
    const isBefore = joint.to === cell
    const other = isBefore ? joint.from : joint.to
    const shift = isBefore ? joint.fromY - joint.toY : joint.toY - joint.fromY
    sum += ((tops.get(other) ?? 0) + shift) * joint.weight
    weight += joint.weight
  }
  return weight === 0 ? { at: tops.get(cell) ?? 0, weight: 0.1 } : { at: sum / weight, weight }
}

const LANE_GAP = 90
/** So many lanes can be scrolled through; 40 in one column would be 90 pixels wide when all of them are in sight. */
const MOST_BELOW = 12
/** Width to height. */
const SCREEN = 1.6
const BLOCK_GAP = 36
const COLUMN_GAP = 70
/** More room between two columns for each wire that turns there. */
const WIRE_ROOM = 8
const MOST_ROOM = 80

/**
 * Where blocks stand in order: one lane for each trigger, from left to right as signals and values go, the next step on one
 * line; and in a column before them the values that several lanes share. Begins at 0, 0; no block covers another one.
 */
export function layOut(blocks: readonly LayoutBlock[], links: readonly LayoutLink[]): Map<string, Place> {
  const { lanes, shared } = lanesOf(blocks, links)
  const placed = new Map<string, Place>()
  let down = 0
  let left = 0
  for (const { id, width, height } of blocks) {
    if (!shared.has(id)) continue
    placed.set(id, { x: 0, y: down })
    down += height + BLOCK_GAP
    left = Math.max(left, width + COLUMN_GAP)
  }
  const laid = lanes.map((lane) => {
    const inside = blocks.filter(({ id }) => lane.has(id))
    const between = links.filter(({ from, to }) => lane.has(from) && lane.has(to) && from !== to)
    return layOutLane(inside, between)
  })
  for (const { places, at } of inRows(laid, left))
    for (const [id, { x, y }] of places) placed.set(id, { x: x + at.x, y: y + at.y })
  return placed
}

type Lane = ReturnType<typeof layOutLane>

/**
 * Lanes one below the other; many of them in rows, so that all together have the shape of a screen. Lanes of a row begin at one
 * height: read in rows they stay in their order when they are laid out again.
 */
function inRows(lanes: readonly Lane[], left: number): (Lane & { readonly at: Place })[] {
  const whole = lanes.reduce((sum, { height }) => sum + height + LANE_GAP, 0)
  const widest = Math.max(0, ...lanes.map(({ width }) => width)) + LANE_GAP
  const columns =
    lanes.length > MOST_BELOW ? Math.max(1, Math.round(Math.sqrt((whole * SCREEN) / widest))) : 1
  let y = 0
  let next = 0
  return lanes.map((lane, index) => {
    const column = index % columns
    if (column === 0) y = next
    next = Math.max(next, y + lane.height + LANE_GAP)
    return { ...lane, at: { x: left + column * widest, y } }
  })
}

function layOutLane(blocks: readonly LayoutBlock[], links: readonly LayoutLink[]) {
  const columns = orderCells(layeredCells(blocks, links, layersOf(blocks, links)))
  const tops = placeCells(columns)
  const sizes = new Map(blocks.map(({ id, width, height }) => [id, { width, height }]))
  const places = new Map<string, Place>()
  const least = Math.min(...[...tops].flatMap(([{ id }, top]) => (id === undefined ? [] : top)))
  let x = 0
  let height = 0
  for (const column of columns) {
    let width = 0
    for (const cell of column) {
      const size = cell.id === undefined ? undefined : sizes.get(cell.id)
      if (!size || cell.id === undefined) continue
      const y = (tops.get(cell) ?? 0) - least
      places.set(cell.id, { x, y })
      width = Math.max(width, size.width)
      height = Math.max(height, y + size.height)
    }
    if (width === 0) continue
    const turning = column.reduce((sum, { after }) => sum + after.length, 0)
    x += width + COLUMN_GAP + Math.min(MOST_ROOM, turning * WIRE_ROOM)
  }
  return { places, width: Math.max(0, x - COLUMN_GAP), height }
}

/** The column of each block, from 0: after all that leads to it; values just before the first block that uses them. */
function layersOf(blocks: readonly LayoutBlock[], links: readonly LayoutLink[]): Map<string, number> {
  const kinds = new Map(blocks.map(({ id, kind }) => [id, kind]))
  const used = links.filter(
    ({ from, to, kind }) =>
      kinds.has(from) && kinds.has(to) && (kind !== 'read' || kinds.get(from) === 'value'),
  )
  const { order, next } = inOrder(
    blocks,
    Map.groupBy(used, ({ from }) => from),
  )
  const layers = new Map(order.map((id) => [id, 0]))
  for (const id of order)
    for (const to of next.get(id) ?? []) {
      const least = (layers.get(id) ?? 0) + 1
      if (least > (layers.get(to) ?? 0)) layers.set(to, least)
    }
  for (const id of order.toReversed()) {
    const after = next.get(id) ?? []
    if (kinds.get(id) === 'value' && after.length > 0)
      layers.set(id, Math.min(...after.map((to) => layers.get(to) ?? 0)) - 1)
  }
  return layers
}

/** Blocks so that each stands before what it leads to, and where it leads; a link that closes a circle is left out. */
function inOrder(
  blocks: readonly LayoutBlock[],
  outOf: ReadonlyMap<string, readonly LayoutLink[]>,
): { readonly order: readonly string[]; readonly next: ReadonlyMap<string, readonly string[]> } {
  const state = new Map<string, 'open' | 'done'>()
  const order: string[] = []
  const next = new Map<string, string[]>()
  const starts = [...blocks].sort((a, b) => Number(b.kind === 'trigger') - Number(a.kind === 'trigger'))
  for (const { id: start } of starts) {
    if (state.has(start)) continue
    const way = [{ id: start, at: 0 }]
    state.set(start, 'open')
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const link = (outOf.get(top.id) ?? [])[top.at++]
      if (!link) {
        state.set(top.id, 'done')
        order.push(top.id)
        way.pop()
        continue
      }
      if (state.get(link.to) === 'open') continue
      next.set(top.id, [...(next.get(top.id) ?? []), link.to])
      if (state.has(link.to)) continue
      state.set(link.to, 'open')
      way.push({ id: link.to, at: 0 })
    }
  }
  return { order: order.reverse(), next }
}
