import { layOut } from '../../../shared/canvas/lay-out.ts'
import type { Place } from '../../../shared/canvas/layout-graph.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow } from '../model/flow.ts'
import { onGrid } from '../model/places/grid.ts'
import { type LayoutGraph, layoutGraphOf } from './layout-graph-of.ts'

/**
 * Where blocks would stand if they were put in order: a lane for each trigger, from left to right. Blocks that are not among
 * `guids` stay; those that are keep their top left corner as a group.
 */
export function autoLayout(flow: Flow, catalogue: Catalogue, guids: ReadonlySet<string>): Map<string, Place> {
  const before = [...flow].filter(([guid]) => guids.has(guid)).map(([, { position }]) => position)
  return placesOf(layoutGraphOf(flow, catalogue, guids), before)
}

/** Of what is in a graph; `before`: where it all was, of which the top left corner is kept. */
export function placesOf({ blocks, links }: LayoutGraph, before: readonly Place[]): Map<string, Place> {
  const placed = layOut(blocks, links)
  const corner = cornerOf(before)
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
