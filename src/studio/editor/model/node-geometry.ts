/**
 * How large a block is drawn and where its pins are. Worked out, not measured: blocks outside the window are not drawn at
 * all and still have their wires, and nothing jumps when one comes into sight.
 */
import type { BlockContent } from '../../../shared/blueprint.ts'
import type { Catalogue } from './block-description.ts'
import { pinsOf } from './pins.ts'

export const NODE_WIDTH = 250
const HEADER = 46
const PIN_ROW = 24
const PADDING = 8
/** The line of a comment, which is cut off at its end. */
const COMMENT = 22

export interface Size {
  readonly width: number
  readonly height: number
}

export function sizeOf(content: BlockContent, catalogue: Catalogue): Size {
  const pins = pinsOf(content, catalogue)
  const rows = Math.max(pins.in.size, pins.out.size, 1)
  return { width: NODE_WIDTH, height: pinsTop(content) + rows * PIN_ROW + PADDING }
}

/** From the block's top to its first row of pins. */
function pinsTop(content: BlockContent): number {
  return HEADER + (content.description === '' ? 0 : COMMENT) + PADDING / 2
}

/** From the block's top to the middle of its pin in a row. */
export function pinY(content: BlockContent, row: number): number {
  return pinsTop(content) + row * PIN_ROW + PIN_ROW / 2
}
