/** Gestures that change how blocks hang together: on a wire, in the place of another one, into the blocks that use it. */
import { editorTexts } from '../../texts/editor.ts'
import { calledFunction, functionBlock, ownFunction } from '../gestures/function-blocks.ts'
import { inlineStorage, storageOf } from '../gestures/inline-storage.ts'
import { insertOnWire, withRoomOnWire } from '../gestures/insert-on-wire.ts'
import { replaceBlock } from '../gestures/replace-block.ts'
import { newContent } from '../model/changes/flow-changes.ts'
import { type Flow, type Wire, wiresInto, wiresOf, withBlock } from '../model/flow.ts'
import type { Editor } from './editor.ts'

/** Adds a block in the middle of a wire. Gives its guid, or undefined where its pins do not fit there. */
export function addOnWire(editor: Editor, type: string, wire: Wire): string | undefined {
  const { catalogue, drawing } = editor.store.getState()
  const guid = editor.newGuid()
  const added = withBlock(drawing.flow, guid, newContent(type, catalogue, { x: 0, y: 0 }))
  const inserted = insertOnWire(added, catalogue, wire, guid)
  if (!inserted) return undefined
  editor.run(editorTexts.insert(catalogue.get(type)?.title ?? type), () =>
    withRoomOnWire(inserted, catalogue, wire, guid),
  )
  editor.focusNew(guid)
  return guid
}

/** Puts a block that hangs on nothing into the wire that it was dropped on. Gives whether it did. */
export function dropOnWire(editor: Editor, guid: string, wire: Wire): boolean {
  const { catalogue, drawing } = editor.store.getState()
  const content = drawing.flow.get(guid)
  if (!content || wiresInto(guid, content).length > 0 || hasUsers(drawing.flow, guid)) return false
  const inserted = insertOnWire(drawing.flow, catalogue, wire, guid)
  if (!inserted) return false
  editor.run(editorTexts.insertBlock, () => withRoomOnWire(inserted, catalogue, wire, guid))
  return true
}

function hasUsers(flow: Flow, guid: string): boolean {
  return wiresOf(flow).some(({ from }) => from.block === guid)
}

export function replaceWith(editor: Editor, guid: string, type: string): void {
  const { catalogue } = editor.store.getState()
  const title = catalogue.get(type)?.title ?? type
  editor.run(editorTexts.replaceWith(title), (flow) => replaceBlock(flow, catalogue, guid, type))
  editor.focusNew(guid)
}

/** What the menu of a block can lead to besides. */
export function leadsOf(
  editor: Editor,
  guid: string,
): { readonly called?: string; readonly own?: string; readonly storage?: string } {
  const { flow } = editor.store.getState().drawing
  const [called, own, storage] = [calledFunction(flow, guid), ownFunction(flow, guid), storageOf(flow, guid)]
  return {
    ...(called !== undefined && { called }),
    ...(own !== undefined && { own }),
    ...(storage !== undefined && hasUsers(flow, guid) && { storage }),
  }
}

/** Shows the block that is the function, in whatever blueprint it is. */
export function goToFunction(editor: Editor, name: string): void {
  const guid = functionBlock(editor.store.getState().drawing.flow, name)
  if (guid === undefined) editor.set({ dialog: { kind: 'uses', name, isDefinition: true } })
  else editor.focusPin(guid, '')
}

/** Lists what calls the function, in all blueprints. */
export function showCalls(editor: Editor, name: string): void {
  editor.set({ dialog: { kind: 'uses', name } })
}

/** The storage is chosen in the blocks that use it, in place of wires to its own block. */
export function chooseStorageInBlocks(editor: Editor, guid: string): void {
  editor.run(editorTexts.chooseStorage, (flow) => inlineStorage(flow, guid))
}
