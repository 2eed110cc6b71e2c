import type { Cell } from './layered-cells.ts'

const SWEEPS = 12
/** With more joints between two columns crossings are not counted any more, and the last order stands. */
const MOST_COUNTED = 2_000

/** The columns with their cells in an order in which few wires cross. */
export function orderCells(columns: readonly (readonly Cell[])[]): Cell[][] {
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
