import type { LayoutBlock } from '../../../shared/canvas/layout-graph.ts'
import { type LayoutGraph, layoutGraphOf, placesOf } from '../layout/layout-graph-of.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Drawing } from '../model/changes/command.ts'
import { type FoldPin, type Folds, HEADER, movedDrawing, otherY, ownRows, rowY } from './folds.ts'

/** What is named put in order, with each box as one block; what is inside of it goes along. `ids`: of blocks and boxes. */
export function arranged(
  drawing: Drawing,
  catalogue: Catalogue,
  folds: Folds,
  ids: ReadonlySet<string>,
): Drawing {
  const { flow } = drawing
  const blocks = new Set([...ids].flatMap((id) => folds.boxes.get(id)?.blocks ?? [id]))
  const graph = foldedGraph(layoutGraphOf(flow, catalogue, blocks), folds)
  const corners = [...ids].flatMap((id) => (folds.boxes.get(id)?.note ?? flow.get(id))?.position ?? [])
  return movedDrawing(drawing, folds, placesOf(graph, corners))
}

/** With a box in place of the blocks inside of it, where the first of them was. */
function foldedGraph({ blocks, links }: LayoutGraph, { boxes, boxOf }: Folds): LayoutGraph {
  if (boxes.size === 0) return { blocks, links }
  const drawn = new Map<string, LayoutBlock>()
  for (const block of blocks) {
    const id = boxOf.get(block.id)
    const box = id === undefined ? undefined : boxes.get(id)
    if (id === undefined || !box) drawn.set(block.id, block)
    else drawn.set(id, { id, ...box.size, kind: stronger(drawn.get(id)?.kind ?? 'value', block.kind) })
  }
  return {
    blocks: [...drawn.values()],
    links: links.flatMap((link) => {
      const [from, to] = [boxOf.get(link.from), boxOf.get(link.to)]
      if (from === to && from !== undefined) return []
      return {
        ...link,
        from: from ?? link.from,
        to: to ?? link.to,
        fromY: from === undefined ? link.fromY : placeOf(boxes.get(from)?.out, link.from),
        toY: to === undefined ? link.toY : placeOf(boxes.get(to)?.in, link.to),
      }
    }),
  }
}

/** A box with a trigger inside begins a lane; one of values alone stands before what uses it. */
function stronger(a: LayoutBlock['kind'], b: LayoutBlock['kind']): LayoutBlock['kind'] {
  const order = ['value', 'flow', 'trigger'] as const
  return order.indexOf(a) < order.indexOf(b) ? b : a
}

/** The row of a block's first pin; the links of the layout do not name pins. */
function placeOf(pins: readonly FoldPin[] = [], block: string): number {
  const row = pins.findIndex((pin) => pin.block === block)
  if (row < 0) return HEADER / 2
  return row < ownRows(pins) ? rowY(row) : otherY(pins)
}
