import { layOut } from '../../../shared/canvas/lay-out.ts'
import type { Place } from '../../../shared/canvas/layout-graph.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow } from '../model/flow.ts'
import { onGrid } from '../model/grid.ts'
import { layoutGraphOf } from './layout-graph-of.ts'

/**
 * Where blocks would stand if they were put in order: a lane for each trigger, from left to right. Blocks that are not among
 * `guids` stay; those that are keep their top left corner as a group.
 */
export function autoLayout(flow: Flow, catalogue: Catalogue, guids: ReadonlySet<string>): Map<string, Place> {
  const { blocks, links } = layoutGraphOf(flow, catalogue, guids)
  const placed = layOut(blocks, links)
  const corner = cornerOf([...flow].filter(([guid]) => guids.has(guid)).map(([, { position }]) => position))
  const least = cornerOf([...placed.values()])
  return new Map(
    [...placed].map(([guid, { x, y }]) => [
      guid,
      onGrid({ x: x - least.x + corner.x, y: y - least.y + corner.y }),
    ]),
  )
}

function cornerOf(points: readonly Place[]): Place {
  return { x: Math.min(...points.map(({ x }) => x)), y: Math.min(...points.map(({ y }) => y)) }
}
