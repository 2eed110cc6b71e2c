import type { Catalogue } from '../block-description.ts'
import { newContent } from '../changes/flow-changes.ts'
import type { Flow } from '../flow.ts'
import { sizeOf } from './node-geometry.ts'

const GAP = 20

/** The wished place, or the next one below it where the new block would cover none. */
export function freePlace(
  flow: Flow,
  catalogue: Catalogue,
  type: string,
  { x, y }: { readonly x: number; readonly y: number },
): { x: number; y: number } {
  const size = sizeOf(new Map([['new', newContent(type, catalogue, { x, y })]]), catalogue, 'new')
  const boxes = [...flow].map(([guid, { position }]) => ({ ...position, ...sizeOf(flow, catalogue, guid) }))
  let top = y
  for (let tries = 0; tries < 50; tries++) {
    const at = top
    const hit = boxes.find(
      (box) =>
        x < box.x + box.width + GAP &&
        box.x < x + size.width + GAP &&
        at < box.y + box.height + GAP &&
        box.y < at + size.height + GAP,
    )
    if (!hit) break
    top = hit.y + hit.height + GAP
  }
  return { x, y: top }
}
