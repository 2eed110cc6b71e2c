import type { Catalogue } from '../block-description.ts'
import type { Flow } from '../flow.ts'
import { sizeOf } from './node-geometry.ts'

export type Alignment = 'left' | 'right' | 'top' | 'bottom' | 'across' | 'down'

/** Puts blocks on one line, or (`across`, `down`) at equal distances between the outer two. */
export function align(
  flow: Flow,
  catalogue: Catalogue,
  guids: ReadonlySet<string>,
  how: Alignment,
): Map<string, { x: number; y: number }> {
  const boxes = [...flow]
    .filter(([guid]) => guids.has(guid))
    .map(([guid, content]) => ({ guid, ...content.position, ...sizeOf(flow, catalogue, guid) }))
  if (boxes.length < 2) return new Map()
  if (how === 'across' || how === 'down') return distributed(boxes, how)
  const edge = {
    left: Math.min(...boxes.map(({ x }) => x)),
    right: Math.max(...boxes.map(({ x, width }) => x + width)),
    top: Math.min(...boxes.map(({ y }) => y)),
    bottom: Math.max(...boxes.map(({ y, height }) => y + height)),
  }
  return new Map(
    boxes.map(({ guid, x, y, width, height }) => {
      if (how === 'left') return [guid, { x: edge.left, y }]
      if (how === 'right') return [guid, { x: edge.right - width, y }]
      if (how === 'top') return [guid, { x, y: edge.top }]
      return [guid, { x, y: edge.bottom - height }]
    }),
  )
}

interface Box {
  readonly guid: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Equal gaps, not equal steps: blocks differ in height. */
function distributed(boxes: readonly Box[], how: 'across' | 'down'): Map<string, { x: number; y: number }> {
  const start = (box: Box) => (how === 'across' ? box.x : box.y)
  const length = (box: Box) => (how === 'across' ? box.width : box.height)
  const sorted = boxes.toSorted((a, b) => start(a) - start(b))
  const [first, last] = [sorted[0], sorted.at(-1)]
  if (!first || !last) return new Map()
  const room = start(last) + length(last) - start(first)
  const filled = sorted.reduce((sum, box) => sum + length(box), 0)
  const gap = Math.max(20, (room - filled) / (sorted.length - 1))
  let at = start(first)
  const placed = new Map<string, { x: number; y: number }>()
  for (const box of sorted) {
    const to = Math.round(at)
    placed.set(box.guid, how === 'across' ? { x: to, y: box.y } : { x: box.x, y: to })
    at += length(box) + gap
  }
  return placed
}
