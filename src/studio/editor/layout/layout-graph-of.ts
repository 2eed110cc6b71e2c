import { layOut } from '../../../shared/canvas/lay-out.ts'
import type { LayoutBlock, LayoutLink, Place } from '../../../shared/canvas/layout-graph.ts'
import { referencesOf } from '../expressions/references.ts'
import type { Catalogue } from '../model/block-description.ts'
import { type Flow, wiresOf } from '../model/flow.ts'
import { shownPins } from '../model/pins/shown-pins.ts'
import { onGrid, pinY, sizeOf } from '../model/places/node-geometry.ts'

export interface LayoutGraph {
  readonly blocks: readonly LayoutBlock[]
  readonly links: readonly LayoutLink[]
}

/** The drawing as the layout sees it, triggers from the top. */
export function layoutGraphOf(flow: Flow, catalogue: Catalogue, guids: ReadonlySet<string>): LayoutGraph {
  const blocks = [...flow]
    .filter(([guid]) => guids.has(guid))
    .toSorted(([, a], [, b]) => a.position.y - b.position.y || a.position.x - b.position.x)
    .map(([id, { type }]): LayoutBlock => {
      const kind = catalogue.get(type)?.kind ?? 'flow'
      return { id, ...sizeOf(flow, catalogue, id), kind }
    })
  const row = (guid: string, side: 'in' | 'out', pin: string) => {
    const content = flow.get(guid)
    return content ? pinY(content, Math.max(0, shownPins(flow, catalogue, guid)[side].indexOf(pin))) : 0
  }
  const links = [
    ...wiresOf(flow).map((wire) => ({ ...wire, isRead: false })),
    ...referencesOf(flow).map((wire) => ({ ...wire, isRead: true })),
  ]
    .filter(({ from, to }) => guids.has(from.block) && guids.has(to.block))
    .map(({ from, to, isRead }): LayoutLink => {
      const isSignal = to.pin === 'flow' || from.pin === 'flow'
      return {
        from: from.block,
        to: to.block,
        fromY: row(from.block, 'out', from.pin),
        toY: row(to.block, 'in', to.pin),
        kind: isRead ? 'read' : !isSignal ? 'value' : from.pin === 'flow' ? 'flow' : 'branch',
      }
    })
  return { blocks, links }
}

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
