import { lanesOf } from './lanes.ts'
import { layeredCells } from './layered-cells.ts'
import { layersOf } from './layers.ts'
import type { LayoutBlock, LayoutLink, Place } from './layout-graph.ts'
import { orderCells } from './order-cells.ts'
import { placeCells } from './place-cells.ts'

const LANE_GAP = 90
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
  down = 0
  for (const lane of lanes) {
    const inside = blocks.filter(({ id }) => lane.has(id))
    const { places, height } = layOutLane(
      inside,
      links.filter(({ from, to }) => lane.has(from) && lane.has(to) && from !== to),
    )
    for (const [id, { x, y }] of places) placed.set(id, { x: x + left, y: y + down })
    down += height + LANE_GAP
  }
  return placed
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
  return { places, height }
}
