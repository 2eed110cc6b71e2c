import type { Place } from '../../../shared/canvas/layout-graph.ts'
import type { Box } from '../layout/box-index.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow, Wire } from '../model/flow.ts'
import { shownPins } from '../model/pins/shown-pins.ts'
import { NODE_WIDTH, pinY, sizeOf } from '../model/places/node-geometry.ts'
import type { Folds } from './folds.ts'

/** Where blocks are drawn, by guid. */
export function boxesOf(flow: Flow, catalogue: Catalogue): Map<string, Box> {
  return new Map(
    [...flow].map(
      ([
        guid,
        {
          position: { x, y },
        },
      ]) => {
        const { width, height } = sizeOf(flow, catalogue, guid)
        return [guid, { left: x, top: y, right: x + width, bottom: y + height }]
      },
    ),
  )
}

/** From the middle of its out-pin to that of its in-pin; undefined where one of them is not drawn. */
export function wireEnds(
  flow: Flow,
  catalogue: Catalogue,
  { from, to }: Wire,
): { readonly from: Place; readonly to: Place } | undefined {
  const [source, target] = [flow.get(from.block), flow.get(to.block)]
  const out = shownPins(flow, catalogue, from.block).out.indexOf(from.pin)
  const into = shownPins(flow, catalogue, to.block).in.indexOf(to.pin)
  if (!source || !target || out < 0 || into < 0) return undefined
  return {
    from: { x: source.position.x + NODE_WIDTH, y: source.position.y + pinY(source, out) },
    to: { x: target.position.x, y: target.position.y + pinY(target, into) },
  }
}

/** Where blocks and boxes are drawn, by the id of the node; what is inside of a box is in nothing's way. */
export function boxesWith(flow: Flow, catalogue: Catalogue, { boxes, boxOf }: Folds): Map<string, Box> {
  const drawn = boxesOf(flow, catalogue)
  for (const inner of boxOf.keys()) drawn.delete(inner)
  for (const [id, { note, size }] of boxes) {
    const { x, y } = note.position
    drawn.set(id, { left: x, top: y, right: x + size.width, bottom: y + size.height })
  }
  return drawn
}
