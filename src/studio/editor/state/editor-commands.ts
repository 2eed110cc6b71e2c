/** What can be done in the editor, by mouse, keys or the outline alike. Each is one step of undo. */
import { notifications } from '@mantine/notifications'
import type { JsonObject } from '../../../shared/json.ts'
import { notifyFailed } from '../../controls/notify.ts'
import { fileName } from '../../controls/save-file.ts'
import { countsTexts, editorTexts } from '../../texts/editor.ts'
import { arranged } from '../folds/fold-layout.ts'
import { foldsOf } from '../folds/folds.ts'
import { autoLayout } from '../layout/layout-graph-of.ts'
import type { Catalogue } from '../model/block-description.ts'
import { copyText, paste } from '../model/changes/clipboard.ts'
import { connect, disconnect, moveBlocks, newContent, removeBlocks } from '../model/changes/flow-changes.ts'
import { type Flow, type PinPlace, type Wire, wireId, withBlock } from '../model/flow.ts'
import { insertBehind } from '../model/flow-steps.ts'
import { type DanglingWire, wireTo } from '../model/pins/fitting-blocks.ts'
import { wireProblem } from '../model/pins/wire-check.ts'
import { type Alignment, align } from '../model/places/align.ts'
import { freePlace, onGrid, sizeOf } from '../model/places/node-geometry.ts'
import { nameOf } from '../model/words/block-names.ts'
import type { Editor } from './editor.ts'
import type { Point } from './editor-state.ts'

/** Adds a block and selects it. With a wire, its other end goes to the pin of the new block. Gives its guid. */
export function addBlock(
  editor: Editor,
  type: string,
  at: Point,
  end?: { readonly wire: DanglingWire; readonly pin: string },
): string {
  const { catalogue } = editor.store.getState()
  const guid = editor.newGuid()
  const title = catalogue.get(type)?.title ?? type
  editor.run(editorTexts.add(title), (flow) => {
    const content = newContent(type, catalogue, onGrid(freePlace(flow, catalogue, type, at)))
    const added = withBlock(flow, guid, content)
    if (!end) return added
    const wire = wireTo(end.wire, { block: guid, pin: end.pin })
    return wireProblem(added, catalogue, wire) === undefined ? connect(added, catalogue, wire) : added
  })
  editor.focusNew(guid)
  return guid
}

/** Adds a step behind an out-pin; what came there comes behind the new step. Gives its guid. */
export function addStep(editor: Editor, type: string, place: PinPlace): string {
  const { catalogue, drawing } = editor.store.getState()
  const guid = editor.newGuid()
  const before = drawing.flow.get(place.block)
  const at = before ? { x: before.position.x + 320, y: before.position.y } : { x: 0, y: 0 }
  editor.run(editorTexts.add(catalogue.get(type)?.title ?? type), (flow) => {
    const content = newContent(type, catalogue, onGrid(freePlace(flow, catalogue, type, at)))
    return insertBehind(withBlock(flow, guid, content), catalogue, place, guid)
  })
  editor.focusNew(guid)
  return guid
}

/** A block was clicked: what else was beside the drawing makes room for its settings. */
export function showSettings(editor: Editor, guids?: Iterable<string>): void {
  if (guids) editor.select(guids)
  if (editor.store.getState().panel !== 'properties') editor.set({ panel: 'properties' })
}

/** Draws the wire, or gives the reason why it cannot be. */
export function drawWire(editor: Editor, wire: Wire): string | undefined {
  const { catalogue, drawing } = editor.store.getState()
  const problem = wireProblem(drawing.flow, catalogue, wire)
  if (problem === undefined) editor.run(editorTexts.drawWire, (flow) => connect(flow, catalogue, wire))
  return problem
}

/**
 * Removes what is selected: blocks, wires and notes. A box that is drawn for a frame or a lane goes with the blocks
 * inside, which are out of sight, so a message names their number.
 */
export function removeSelected(editor: Editor): void {
  const { selection, selectedWires, drawing, catalogue, opened } = editor.store.getState()
  const { boxes } = foldsOf(drawing, catalogue, opened)
  const all = [...selection].flatMap((id) => {
    const box = boxes.get(id)
    return box ? [id, ...box.blocks, ...box.notes] : [id]
  })
  const blocks = new Set(all.filter((one) => drawing.flow.has(one)))
  const notes = new Set(all.filter((one) => one.startsWith('note:')).map((one) => one.slice(5)))
  const count = countsTexts.blocks(blocks.size)
  const onlyNotes = blocks.size === 0 && selectedWires.size === 0
  editor.runOnAll(
    onlyNotes ? editorTexts.removeRemark : editorTexts.removeStep(blocks.size, count),
    (now) => ({
      flow: onlyNotes ? now.flow : removeBlocks(withoutWires(now.flow, selectedWires), blocks),
      notes: notes.size === 0 ? now.notes : now.notes.filter(({ id }) => !notes.has(id)),
    }),
  )
  if ([...selection].some((id) => boxes.has(id)))
    notifications.show({
      title: editorTexts.removedWithBox(count),
      message: editorTexts.undoBringsBack,
      role: 'status',
    })
  editor.select([])
}

function withoutWires(flow: Flow, ids: ReadonlySet<string>): Flow {
  let next = flow
  if (ids.size === 0) return next
  for (const [guid, content] of flow)
    for (const pin of content.in_pins)
      for (const from of pin.from ?? []) {
        const wire = { from, to: { block: guid, pin: pin.id } }
        if (ids.has(wireId(wire))) next = disconnect(next, wire)
      }
  return next
}

export async function copySelected(editor: Editor): Promise<number> {
  const { selection, drawing } = editor.store.getState()
  const blocks = withInside(editor, selection)
  if (blocks.size > 0) await writeClipboard(copyText(drawing.flow, blocks))
  return blocks.size
}

/** Gives how many blocks were pasted; 0 where the clipboard holds none. */
export async function pasteBlocks(editor: Editor, at?: Point): Promise<number> {
  const text = await readClipboard()
  return pasteText(editor, text, at)
}

export function duplicateSelected(editor: Editor): number {
  const { selection, drawing } = editor.store.getState()
  return pasteText(editor, copyText(drawing.flow, withInside(editor, selection)))
}

/** The blocks that are selected, and those inside of selected boxes. */
function withInside(editor: Editor, selection: ReadonlySet<string>): Set<string> {
  const { drawing, catalogue, opened } = editor.store.getState()
  const { boxes } = foldsOf(drawing, catalogue, opened)
  const blocks = [...selection].flatMap((id) => boxes.get(id)?.blocks ?? [id])
  return new Set(blocks.filter((id) => drawing.flow.has(id)))
}

function pasteText(editor: Editor, text: string, at?: Point): number {
  const { catalogue } = editor.store.getState()
  let guids: readonly string[] = []
  editor.run(editorTexts.paste, (flow) => {
    const pasted = paste(flow, text, editor.newGuid, at && onGrid(at))
    guids = pasted?.guids ?? []
    if (!pasted) return flow
    return at ? pasted.flow : moveBlocks(pasted.flow, placesBelow(pasted.flow, new Set(guids), catalogue))
  })
  if (guids.length > 0) editor.select(guids)
  return guids.length
}

/** Pasted blocks stand below what is there already, so that they cover nothing. */
function placesBelow(flow: Flow, guids: ReadonlySet<string>, catalogue: Catalogue): Map<string, Point> {
  const boxes = [...flow].map(([guid, content]) => ({
    guid,
    ...content.position,
    ...sizeOf(flow, catalogue, guid),
  }))
  const mine = boxes.filter(({ guid }) => guids.has(guid))
  const left = Math.min(...mine.map(({ x }) => x))
  const right = Math.max(...mine.map(({ x, width }) => x + width))
  const top = Math.min(...mine.map(({ y }) => y))
  const others = boxes.filter(({ guid, x, width }) => !guids.has(guid) && x < right && left < x + width)
  const down = Math.max(0, ...others.map(({ y, height }) => y + height + 40 - top))
  return new Map(mine.map(({ guid, x, y }) => [guid, onGrid({ x, y: y + down })]))
}

/** Puts the flows of a resource in its place, arranged and below what is there. What does that is fetched when it is first asked for. */
export async function drawResource(editor: Editor, guid: string): Promise<void> {
  const fetched = await import('../model/as-blocks.ts').catch((error: unknown) =>
    notifyFailed(editorTexts.couldNotDrawBlocks, error),
  )
  if (!fetched) return
  const { asBlocks } = fetched
  const { catalogue } = editor.store.getState()
  let guids: readonly string[] = []
  editor.run(editorTexts.asBlocks, (flow) => {
    const drawn = asBlocks(flow, guid, editor.newGuid)
    if (!drawn) return flow
    guids = drawn.guids
    const made = new Set(guids)
    const arranged = moveBlocks(drawn.flow, autoLayout(drawn.flow, catalogue, made))
    return moveBlocks(arranged, placesBelow(arranged, made, catalogue))
  })
  if (guids.length > 0) editor.select(guids)
}

export function alignSelected(editor: Editor, how: Alignment): void {
  const { selection, catalogue } = editor.store.getState()
  editor.run(editorTexts.align, (flow) => moveBlocks(flow, align(flow, catalogue, selection, how)))
}

/** Puts the selected blocks in order, or all where fewer than two are selected, boxes as one block each; pins that were unfolded fold again. */
export function layOut(editor: Editor): void {
  const { selection, catalogue, drawing, opened } = editor.store.getState()
  const folds = foldsOf(drawing, catalogue, opened)
  const all = [...drawing.flow.keys(), ...folds.boxes.keys()].filter((id) => !folds.boxOf.has(id))
  const chosen = all.filter((id) => selection.has(id))
  const ids = new Set(chosen.length > 1 ? chosen : all)
  if (ids.size === 0) return
  editor.set({ unfolded: new Set() })
  editor.runOnAll(editorTexts.arrange, (now) => arranged(now, catalogue, folds, ids))
}

/** Shows all pins of a block, or only those that are used or needed. */
export function unfold(editor: Editor, guid: string, isUnfolded: boolean): void {
  const unfolded = new Set(editor.store.getState().unfolded)
  if (isUnfolded) unfolded.add(guid)
  else unfolded.delete(guid)
  editor.set({ unfolded })
}

export function addNote(editor: Editor, at: Point): void {
  const id = editor.newGuid()
  const note = {
    id,
    kind: 'note',
    text: '',
    color: 'yellow',
    position: onGrid(at),
    size: { width: 220, height: 90 },
  } as const
  editor.runOnNotes(editorTexts.addRemark, (notes) => [...notes, note])
  editor.select([`note:${id}`])
}

/** Draws a frame around the selected blocks. */
export function groupSelected(editor: Editor): void {
  const { selection, drawing, catalogue } = editor.store.getState()
  const boxes = [...drawing.flow]
    .filter(([guid]) => selection.has(guid))
    .map(([guid, content]) => ({
      ...content.position,
      ...sizeOf(drawing.flow, catalogue, guid),
      name: nameOf(content, catalogue),
    }))
  const [first] = boxes
  if (!first) return
  const left = Math.min(...boxes.map(({ x }) => x)) - 30
  const top = Math.min(...boxes.map(({ y }) => y)) - 50
  const width = Math.max(...boxes.map(({ x, width: w }) => x + w)) + 30 - left
  const height = Math.max(...boxes.map(({ y, height: h }) => y + h)) + 30 - top
  const id = editor.newGuid()
  const size = { width, height }
  const note = {
    id,
    kind: 'group',
    text: first.name,
    color: 'petrol',
    position: { x: left, y: top },
    size,
  } as const
  editor.runOnNotes(editorTexts.group, (notes) => [note, ...notes])
  editor.select([`note:${id}`])
}

const KEY = 'quoin.clipboard'

/**
 * Copies the text for other programs too where the browser lets us, and keeps it for this browser in any case: reading the
 * clipboard asks the user for leave each time, and without https there is none at all.
 */
async function writeClipboard(text: string): Promise<void> {
  try {
    localStorage.setItem(KEY, text)
    await navigator.clipboard?.writeText(text)
  } catch {
    // Without leave the blocks are still in this browser's own clipboard.
  }
}

async function readClipboard(): Promise<string> {
  const own = localStorage.getItem(KEY) ?? ''
  try {
    const { state } = await navigator.permissions.query({ name: 'clipboard-read' as PermissionName })
    if (state !== 'granted') return own
    const text = await navigator.clipboard.readText()
    return text.includes('quoin/blocks') ? text : own
  } catch {
    return own
  }
}

/** So many a run of tests takes beside those of the application. */
const MOST_OWN_TESTS = 50

/** A test of its own beside those of the application, until the editor is left. The oldest goes where there are too many. */
export function addTest(editor: Editor, words: string, test: JsonObject): void {
  const { ownTests } = editor.store.getState()
  const name = fileName(words, 'test.json').slice(0, -'.test.json'.length).slice(0, 90)
  let own = name
  for (let next = 2; ownTests.has(own); next++) own = `${name}-${next}`
  editor.set({ ownTests: new Map([...[...ownTests].slice(1 - MOST_OWN_TESTS), [own, test]]) })
}
