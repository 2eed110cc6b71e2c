/** Blocks in columns, with a cell for each column that a wire passes through on its way. */
import type { LayoutBlock, LayoutLink } from './layout-graph.ts'

export interface Cell {
  /** Of its block; undefined where only a wire passes. */
  readonly id: string | undefined
  readonly height: number
  readonly layer: number
  readonly before: Joint[]
  readonly after: Joint[]
}

/** From one cell to one of the next column. */
export interface Joint {
  readonly from: Cell
  readonly to: Cell
  readonly fromY: number
  readonly toY: number
  /** How much it should be straight. */
  readonly weight: number
}

const WEIGHTS = { flow: 40, branch: 3, value: 2, read: 0 }
/** Wires that pass blocks are bent least of all, but for the next step. */
const PASSING = 12
const WIRE_HEIGHT = 8
/** A wire over more columns keeps no room on its way: a few could need more of it than all blocks. */
const LONGEST = 60

/** The columns, each in the order in which a walk along the wires comes to its cells. */
export function layeredCells(
  blocks: readonly LayoutBlock[],
  links: readonly LayoutLink[],
  layers: ReadonlyMap<string, number>,
): Cell[][] {
  const cells = new Map<string, Cell>()
  for (const { id, height } of blocks)
    cells.set(id, { id, height, layer: layers.get(id) ?? 0, before: [], after: [] })
  for (const link of links) {
    const [from, to] = [cells.get(link.from), cells.get(link.to)]
    if (!from || !to || link.kind === 'read') continue
    const columns = to.layer - from.layer
    if (columns > 0 && columns <= LONGEST) joinCells(from, to, link)
  }
  const columns: Cell[][] = []
  const seen = new Set<Cell>()
  const roots = [...cells.values()].sort((a, b) => a.layer - b.layer)
  for (const root of roots) {
    const open = [root]
    for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
      if (seen.has(cell)) continue
      seen.add(cell)
      const column = columns[cell.layer] ?? []
      columns[cell.layer] = column
      column.push(cell)
      const further = cell.after.toSorted((a, b) => b.fromY - a.fromY).map(({ to }) => to)
      open.push(...further)
    }
  }
  return Array.from(columns, (column) => column ?? [])
}

function joinCells(from: Cell, to: Cell, { fromY, toY, kind }: LayoutLink): void {
  let last = from
  let lastY = fromY
  for (let layer = from.layer + 1; layer < to.layer; layer++) {
    const passed: Cell = { id: undefined, height: WIRE_HEIGHT, layer, before: [], after: [] }
    connect(last, passed, lastY, WIRE_HEIGHT / 2, last === from ? WEIGHTS[kind] : PASSING)
    last = passed
    lastY = WIRE_HEIGHT / 2
  }
  connect(last, to, lastY, toY, WEIGHTS[kind])
}

function connect(from: Cell, to: Cell, fromY: number, toY: number, weight: number): void {
  const joint = { from, to, fromY, toY, weight }
  from.after.push(joint)
  to.before.push(joint)
}
