/** What is drawn as one box: frames and lanes that are collapsed, with what leads into them and out of them. */
import type { BlueprintNote } from '../../../shared/blueprint-note.ts'
import type { Place } from '../../../shared/canvas/layout-graph.ts'
import type { PinType } from '../../../shared/pin-type.ts'
import type { Box } from '../layout/box-index.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Drawing } from '../model/changes/command.ts'
import { moveBlocks } from '../model/changes/flow-changes.ts'
import { type Flow, type PinPlace, type Wire, wiresOf } from '../model/flow.ts'
import { pinsOf } from '../model/pins/pins.ts'
import { shownPins } from '../model/pins/shown-pins.ts'
import { NODE_WIDTH, pinY, type Size, sizeOf } from '../model/places/node-geometry.ts'
import { wordsOf } from '../model/words/block-labels.ts'

export interface FoldPin extends PinPlace {
  /** Of the handle on the canvas. */
  readonly id: string
  /** Of its block. */
  readonly title: string
  readonly type: PinType
}

export interface FoldBox {
  readonly note: BlueprintNote
  /** Guids of blocks that are there. */
  readonly blocks: readonly string[]
  /** `note:` ids of what else is inside. */
  readonly notes: readonly string[]
  /** Where wires from outside lead, and where wires to outside begin; from the top. */
  readonly in: readonly FoldPin[]
  readonly out: readonly FoldPin[]
  readonly size: Size
}

export interface Folds {
  /** By the `note:` id, which is the id of its node. */
  readonly boxes: ReadonlyMap<string, FoldBox>
  /** By what is inside, blocks and `note:` ids: the box that stands for it. */
  readonly boxOf: ReadonlyMap<string, string>
}

export const noFolds: Folds = { boxes: new Map(), boxOf: new Map() }

/** More ways of a side share the last row. */
export const MOST_ROWS = 8
export const HEADER = 58
const ROW = 24
const PADDING = 8
/** Handle of ways that have no row of their own, and of what expressions read. */
export const OTHER = 'other'

/** `opened`: ids of notes that something led into; they are drawn expanded until the blueprint is left. */
export function foldsOf({ flow, notes }: Drawing, catalogue: Catalogue, opened: ReadonlySet<string>): Folds {
  const closed = notes.filter(({ id, collapsed }) => collapsed && !opened.has(id))
  if (closed.length === 0) return noFolds
  const boxOf = outermost(closed)
  const ways = waysOf(flow, catalogue, boxOf)
  const boxes = new Map<string, FoldBox>()
  const held = Map.groupBy(boxOf, ([, box]) => box)
  for (const note of closed) {
    const box = `note:${note.id}`
    if (boxOf.has(box)) continue
    const inside = (held.get(box) ?? []).map(([id]) => id)
    const into = ways.in.get(box) ?? []
    const out = ways.out.get(box) ?? []
    const rows = Math.min(MOST_ROWS, Math.max(into.length, out.length))
    boxes.set(box, {
      note,
      blocks: inside.filter((id) => flow.has(id)),
      notes: inside.filter((id) => id.startsWith('note:')),
      in: into,
      out,
      size: { width: NODE_WIDTH, height: HEADER + rows * ROW + PADDING },
    })
  }
  return { boxes, boxOf }
}

/** By what is inside: the box that holds it and is in no other one. What two boxes claim belongs to the first. */
function outermost(closed: readonly BlueprintNote[]): Map<string, string> {
  const direct = new Map<string, string>()
  for (const { id, collapsed } of closed)
    for (const inner of collapsed?.inside ?? []) {
      const box = `note:${id}`
      // Two users may have put two frames into each other.
      if (!direct.has(inner) && top(box) !== inner) direct.set(inner, box)
    }
  return new Map([...direct].map(([inner, box]) => [inner, top(box)]))

  function top(box: string): string {
    let at = box
    for (let over = direct.get(at); over !== undefined; over = direct.get(at)) at = over
    return at
  }
}

/** The pins of wires from one side of a box's edge to the other. */
function waysOf(flow: Flow, catalogue: Catalogue, boxOf: ReadonlyMap<string, string>) {
  const found = { in: new Map<string, FoldPin[]>(), out: new Map<string, FoldPin[]>() }
  const known = new Set<string>()
  for (const { from, to } of wiresOf(flow)) {
    const [source, target] = [boxOf.get(from.block), boxOf.get(to.block)]
    if (source === target || !flow.has(from.block) || !flow.has(to.block)) continue
    if (source !== undefined) add('out', source, from)
    if (target !== undefined) add('in', target, to)
  }
  const place = ({ block }: PinPlace) => flow.get(block)?.position ?? { x: 0, y: 0 }
  for (const side of [found.in, found.out])
    for (const pins of side.values())
      pins.sort(
        (a, b) =>
          place(a).y - place(b).y ||
          place(a).x - place(b).x ||
          // As in the block itself.
          Number(b.pin === 'flow') - Number(a.pin === 'flow') ||
          (a.id < b.id ? -1 : 1),
      )
  return found

  function add(side: 'in' | 'out', box: string, { block, pin }: PinPlace): void {
    const id = `${block}|${pin}`
    const content = flow.get(block)
    if (!content || known.has(`${side} ${id}`)) return
    known.add(`${side} ${id}`)
    const type = pinsOf(content, catalogue)[side].get(pin)?.type ?? 'any'
    const pins = found[side].get(box) ?? []
    found[side].set(box, pins)
    pins.push({ id, block, pin, title: wordsOf(flow, catalogue, block).title, type })
  }
}

/** The node and the handle at which a pin is drawn. */
export function drawnEnd(
  folds: Folds,
  side: 'in' | 'out',
  place: PinPlace,
): { node: string; handle: string } {
  const box = folds.boxOf.get(place.block)
  if (box === undefined) return { node: place.block, handle: place.pin }
  const row = rowOf(folds.boxes.get(box)?.[side] ?? [], place)
  return { node: box, handle: row === undefined ? OTHER : `${place.block}|${place.pin}` }
}

/** Its row in the box, from 0; undefined where it shares the last one or has none. */
function rowOf(pins: readonly FoldPin[], place: PinPlace): number | undefined {
  const row = pins.findIndex(({ block, pin }) => block === place.block && pin === place.pin)
  return row < 0 || row >= ownRows(pins) ? undefined : row
}

/** How many pins of a side have a row of their own. */
export function ownRows(pins: readonly FoldPin[]): number {
  return pins.length > MOST_ROWS ? MOST_ROWS - 1 : pins.length
}

/** From the top of the box to the middle of a row. */
export function rowY(row: number): number {
  return HEADER + PADDING / 2 + row * ROW + ROW / 2
}

/** Where ways without a row of their own end: at the last row, or at the head where all have one. */
export function otherY(pins: readonly FoldPin[]): number {
  return pins.length > MOST_ROWS ? rowY(MOST_ROWS - 1) : HEADER / 2
}

/** The block and pin that a handle of a box stands for. */
export function placeAt(node: string, handle: string): PinPlace {
  if (!node.startsWith('note:')) return { block: node, pin: handle }
  const cut = handle.indexOf('|')
  return cut < 0 ? { block: '', pin: '' } : { block: handle.slice(0, cut), pin: handle.slice(cut + 1) }
}

interface Point {
  readonly x: number
  readonly y: number
}

/** With blocks and remarks at other places; what is inside of a box goes along with it. `places`: by guid or `note:` id. */
export function movedDrawing(drawing: Drawing, folds: Folds, places: ReadonlyMap<string, Point>): Drawing {
  const all = new Map(places)
  const notes = new Map(drawing.notes.map((note) => [`note:${note.id}`, note.position]))
  for (const [id, box] of folds.boxes) {
    const place = places.get(id)
    if (!place) continue
    const [x, y] = [place.x - box.note.position.x, place.y - box.note.position.y]
    for (const inner of [...box.blocks, ...box.notes]) {
      const from = drawing.flow.get(inner)?.position ?? notes.get(inner)
      if (from) all.set(inner, { x: from.x + x, y: from.y + y })
    }
  }
  const moved = drawing.notes.map((note) => {
    const place = all.get(`note:${note.id}`)
    const isThere = !place || (place.x === note.position.x && place.y === note.position.y)
    return isThere ? note : { ...note, position: { x: place.x, y: place.y } }
  })
  const isSame = moved.every((note, at) => note === drawing.notes[at])
  return { flow: moveBlocks(drawing.flow, all), notes: isSame ? drawing.notes : moved }
}

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
