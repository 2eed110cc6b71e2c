/** Collapsing and expanding, as pure functions of a drawing. */
import type { BlueprintNote } from '../../../shared/blueprint-note.ts'
import { lanesOf } from '../../../shared/canvas/layout-graph.ts'
import { layoutGraphOf } from '../layout/layout-graph-of.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Drawing } from '../model/changes/command.ts'
import { onGrid, sizeOf } from '../model/places/node-geometry.ts'
import { wordsOf } from '../model/words/block-labels.ts'
import { movedDrawing, noFolds } from './folds.ts'

interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** The frame as one box of what stands wholly inside of it; the same drawing if nothing does. */
export function collapseFrame(drawing: Drawing, catalogue: Catalogue, id: string): Drawing {
  const frame = drawing.notes.find((note) => note.id === id)
  if (frame?.kind !== 'group') return drawing
  const area = { ...frame.position, ...frame.size }
  const blocks = [...drawing.flow].filter(([guid, { position }]) =>
    isWithin({ ...position, ...sizeOf(drawing.flow, catalogue, guid) }, area),
  )
  const notes = drawing.notes.filter(
    (note) => note.id !== id && isWithin({ ...note.position, ...note.size }, area),
  )
  if (blocks.length === 0) return drawing
  const inside = [...blocks.map(([guid]) => guid), ...notes.map((note) => `note:${note.id}`)]
  return withNote(drawing, { ...frame, collapsed: { inside, lane: false } })
}

/** The lane of a trigger as one box; the same drawing if there is no such lane. `id`: of the new box. */
export function collapseLane(drawing: Drawing, catalogue: Catalogue, trigger: string, id: string): Drawing {
  const content = drawing.flow.get(trigger)
  const lane = laneOf(drawing, catalogue, trigger)
  if (!content || !lane) return drawing
  const before = laneNote(drawing, trigger)
  const box: BlueprintNote = {
    id: before?.id ?? id,
    kind: 'group',
    text: wordsOf(drawing.flow, catalogue, trigger).title.slice(0, 200),
    color: 'petrol',
    position: { x: content.position.x, y: content.position.y },
    size: { width: 400, height: 200 },
    collapsed: { inside: [...lane], lane: true },
  }
  return before ? withNote(drawing, box) : { ...drawing, notes: [...drawing.notes, box] }
}

/** The trigger and all that hangs on it alone, the trigger first. */
function laneOf({ flow }: Drawing, catalogue: Catalogue, trigger: string): readonly string[] | undefined {
  const { blocks, links } = layoutGraphOf(flow, catalogue, new Set(flow.keys()))
  const lane = lanesOf(blocks, links).lanes.find((one) => one.has(trigger))
  return lane && [trigger, ...[...lane].filter((guid) => guid !== trigger)]
}

/** The trigger in whose lane a block stands. */
export function triggerOf({ flow }: Drawing, catalogue: Catalogue, guid: string): string | undefined {
  const { blocks, links } = layoutGraphOf(flow, catalogue, new Set(flow.keys()))
  const lane = lanesOf(blocks, links).lanes.find((one) => one.has(guid))
  return blocks.find(({ id, kind }) => kind === 'trigger' && lane?.has(id))?.id
}

/** The note that holds a trigger's lane, collapsed or only opened. */
export function laneNote({ notes }: Drawing, trigger: string): BlueprintNote | undefined {
  return notes.find(({ collapsed }) => collapsed?.lane === true && collapsed.inside[0] === trigger)
}

/** With the frame or lane drawn in full. What has come to stand where its blocks are makes room. */
export function expand(drawing: Drawing, catalogue: Catalogue, id: string): Drawing {
  const note = drawing.notes.find((one) => one.id === id)
  if (!note?.collapsed) return drawing
  const { collapsed, ...frame } = note
  const inside = new Set([...collapsed.inside, `note:${id}`])
  const apart = makeRoom(
    drawing,
    catalogue,
    inside,
    collapsed.lane ? undefined : { ...note.position, ...note.size },
  )
  if (!collapsed.lane) return withNote(apart, frame)
  return { ...apart, notes: apart.notes.filter((one) => one.id !== id) }
}

const GAP = 40

/**
 * Blocks that stand where the expanded ones do, and all to the right of them, go to the right; of those above or to the
 * left of the first expanded column, all from the first that is in the way go down.
 */
function makeRoom(
  drawing: Drawing,
  catalogue: Catalogue,
  inside: ReadonlySet<string>,
  frame: Area | undefined,
): Drawing {
  const { flow } = drawing
  const boxes = [...flow].map(([guid, { position }]) => ({
    guid,
    ...position,
    ...sizeOf(flow, catalogue, guid),
  }))
  const areas = frame ? [frame] : boxes.filter(({ guid }) => inside.has(guid))
  const others = boxes.filter(({ guid }) => !inside.has(guid))
  const hit = others.filter((other) => areas.some((area) => overlap(area, other)))
  if (hit.length === 0 || areas.length === 0) return drawing
  const left = Math.min(...areas.map(({ x }) => x))
  const right = Math.max(...areas.map(({ x, width }) => x + width))
  const bottom = Math.max(...areas.map(({ y, height }) => y + height))
  const beside = hit.filter(({ x }) => x > left)
  const below = hit.filter(({ x }) => x <= left)
  const fromX = Math.min(...beside.map(({ x }) => x))
  const fromY = Math.min(...below.map(({ y }) => y))
  const dx = beside.length > 0 ? right + GAP - fromX : 0
  const dy = below.length > 0 ? bottom + GAP - fromY : 0
  const places = new Map(
    others.flatMap(({ guid, x, y }) => {
      const to = { x: x >= fromX ? x + dx : x, y: y >= fromY ? y + dy : y }
      return to.x === x && to.y === y ? [] : [[guid, onGrid(to)] as const]
    }),
  )
  return movedDrawing(drawing, noFolds, places)
}

function withNote(drawing: Drawing, note: BlueprintNote): Drawing {
  return { ...drawing, notes: drawing.notes.map((one) => (one.id === note.id ? note : one)) }
}

function isWithin(inner: Area, outer: Area): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  )
}

function overlap(a: Area, b: Area): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}
