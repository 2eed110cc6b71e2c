/** What the canvas shows when a blueprint opens: all of it where titles stay readable, else its first lane from the start. */
import { lanesOf } from '../../../../shared/canvas/layout-graph.ts'
import { noFolds } from '../../folds/folds.ts'
import { layoutGraphOf } from '../../layout/layout-graph-of.ts'
import type { Catalogue } from '../block-description.ts'
import type { Flow } from '../flow.ts'
import { laneList } from '../lane-list.ts'
import { sizeOf } from './node-geometry.ts'

export interface View {
  readonly x: number
  readonly y: number
  readonly zoom: number
}

interface Size {
  readonly width: number
  readonly height: number
}

/** Titles of 14 pixels are 11 pixels high on the screen then. */
export const LEAST_READABLE = 0.8
/** Canvases that are wider than this show the list of lanes beside the blocks. */
export const WIDE = 900
/** Around what is shown, in pixels of the screen; above it the button of the lanes, or left of it their list. */
export const MARGIN = 40
export const LIST = 240
/** How far above its trigger a lane may begin, in pixels of the canvas. */
const MOST_ABOVE = 260
const ABOVE = 64

/** Where the canvas of a size stands at first. */
export function openingView(flow: Flow, catalogue: Catalogue, screen: Size, folds = noFolds): View {
  const blocks = [...flow].filter(([guid]) => !folds.boxOf.has(guid))
  const boxes = [
    ...blocks.map(([guid, { position }]) => ({ ...position, ...sizeOf(flow, catalogue, guid) })),
    ...[...folds.boxes.values()].map(({ note, size }) => ({ ...note.position, ...size })),
  ]
  if (boxes.length === 0) return { x: screen.width / 2, y: screen.height / 2, zoom: 1 }
  const left = Math.min(...boxes.map(({ x }) => x))
  const top = Math.min(...boxes.map(({ y }) => y))
  const width = Math.max(...boxes.map((box) => box.x + box.width)) - left
  const height = Math.max(...boxes.map((box) => box.y + box.height)) - top
  const lanes = laneList(flow, catalogue)
  const beside = lanes.length > 1 && screen.width > WIDE ? LIST : MARGIN
  const across = (screen.width - beside - MARGIN) / width
  const down = (screen.height - ABOVE - MARGIN) / height
  const fitting = Math.min(across, down, 1)
  if (fitting >= LEAST_READABLE)
    return {
      x: beside + (screen.width - beside - MARGIN - width * fitting) / 2 - left * fitting,
      y: Math.max(ABOVE, (screen.height - height * fitting) / 2) - top * fitting,
      zoom: fitting,
    }
  const zoom = Math.min(1, Math.max(across, LEAST_READABLE))
  const first = lanes[0]?.trigger ?? ''
  const box = folds.boxes.get(folds.boxOf.get(first) ?? '')
  if (box) return { x: beside - box.note.position.x * zoom, y: ABOVE - box.note.position.y * zoom, zoom }
  return laneView(flow, catalogue, first, screen, zoom)
}

/** The beginning of a trigger's lane in the upper left corner. */
export function laneView(
  flow: Flow,
  catalogue: Catalogue,
  trigger: string,
  screen: Size,
  zoom: number,
): View {
  const { x, y } = (flow.get(trigger) ?? [...flow.values()][0])?.position ?? { x: 0, y: 0 }
  const { blocks, links } = layoutGraphOf(flow, catalogue, new Set(flow.keys()))
  const lane = lanesOf(blocks, links).lanes.find((one) => one.has(trigger))
  const near = [...(lane ?? [])].flatMap((guid) => flow.get(guid)?.position.y ?? [])
  const top = Math.min(y, ...near.filter((one) => y - one <= MOST_ABOVE))
  const beside = screen.width > WIDE ? LIST : MARGIN
  return { x: beside - x * zoom, y: ABOVE - top * zoom, zoom }
}
