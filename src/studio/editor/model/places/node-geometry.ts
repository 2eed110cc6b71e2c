/**
 * How large a block is drawn and where its pins are. Worked out, not measured: blocks outside the window are not drawn at
 * all and still have their wires, and nothing jumps when one comes into sight.
 */
import type { BlockContent } from '../../../../shared/blueprint.ts'
import type { Catalogue } from '../block-description.ts'
import { newContent } from '../changes/flow-changes.ts'
import type { Flow } from '../flow.ts'
import { type ShownPins, shownPins } from '../pins/shown-pins.ts'

export const NODE_WIDTH = 250
const HEADER = 58
const PIN_ROW = 24
const PADDING = 8
/** The line of a comment, which is cut off at its end. */
const COMMENT = 22
/** The line `+6 more`. */
const FOLD = 22

export interface Size {
  readonly width: number
  readonly height: number
}

/** Of the block as it is drawn while its unused pins are folded. */
export function sizeOf(flow: Flow, catalogue: Catalogue, guid: string): Size {
  const content = flow.get(guid)
  return content
    ? sizeWith(content, shownPins(flow, catalogue, guid))
    : { width: NODE_WIDTH, height: HEADER + PADDING }
}

export function sizeWith(content: BlockContent, shown: ShownPins): Size {
  const rows = Math.max(shown.in.length, shown.out.length)
  const fold = shown.folded > 0 || shown.isUnfolded ? FOLD : 0
  return { width: NODE_WIDTH, height: pinsTop(content) + rows * PIN_ROW + fold + PADDING }
}

/** From the block's top to its first row of pins. */
function pinsTop(content: BlockContent): number {
  return HEADER + (content.description === '' ? 0 : COMMENT) + PADDING / 2
}

/** From the block's top to the middle of its pin in a row. */
export function pinY(content: BlockContent, row: number): number {
  return pinsTop(content) + row * PIN_ROW + PIN_ROW / 2
}

/** Blocks stand on multiples of it, in pixels of the canvas. */
const GRID = 10

export function onGrid({ x, y }: { readonly x: number; readonly y: number }): { x: number; y: number } {
  return { x: Math.round(x / GRID) * GRID, y: Math.round(y / GRID) * GRID }
}

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
