import type { Cell, Joint } from './layered-cells.ts'

const BLOCK_GAP = 36
const WIRE_GAP = 12
const SWEEPS = 16

/** How far down each cell stands: as straight as its wires can be, in the order of its column. */
export function placeCells(columns: readonly (readonly Cell[])[]): Map<Cell, number> {
  const tops = new Map<Cell, number>()
  for (const column of columns) settle(column, tops, () => [])
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forward = sweep % 2 === 0
    const isLast = sweep >= SWEEPS - 2
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
    const { at, weight } = wishOf(cell, tops, joints(cell))
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
function wishOf(
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
