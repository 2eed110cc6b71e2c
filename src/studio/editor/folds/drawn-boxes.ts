import type { Box } from '../layout/box-index.ts'
import { boxesOf } from '../layout/drawn-geometry.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow } from '../model/flow.ts'
import type { Folds } from './folds.ts'

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
