/** Gestures that change how blocks hang together: on a wire, in the place of another one, into the blocks that use it. */

import type { BlockContent } from '../../../shared/blueprint.ts'
import { editorTexts } from '../../texts/editor.ts'
import { calledFunction, functionBlock, ownFunction } from '../gestures/function-blocks.ts'
import { inlineStorage, storageOf } from '../gestures/inline-storage.ts'
import { insertOnWire, withRoomOnWire } from '../gestures/insert-on-wire.ts'
import type { Catalogue } from '../model/block-description.ts'
import { connect, disconnect, newContent, setLiteral } from '../model/changes/flow-changes.ts'
import { changeBlock, type Flow, type Wire, wiresInto, wiresOf, withBlock } from '../model/flow.ts'
import { pinsOf } from '../model/pins/pins.ts'
import { wireProblem } from '../model/pins/wire-check.ts'
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

/** Another block in the place of one: its name, title and comment stay, and what fits of its values and wires. */
export function replaceBlock(flow: Flow, catalogue: Catalogue, guid: string, type: string): Flow {
  const old = flow.get(guid)
  if (!old || old.type === type) return flow
  const { name, title, description, position, fields } = old
  const fresh = newContent(type, catalogue, position)
  const content: BlockContent = {
    ...fresh,
    ...(name !== undefined && { name }),
    ...{ title, description },
    fields: remainingFields(fields, catalogue, type),
    scopes: fresh.scopes.length > 0 && old.scopes.length > 0 ? old.scopes : fresh.scopes,
  }
  const leaving = wiresOf(flow).filter(({ from }) => from.block === guid)
  let next = leaving.reduce(disconnect, changeBlock(flow, guid, content))
  for (const pin of old.in_pins) {
    const kind = pinsOf(content, catalogue).in.get(pin.id)
    if (!kind || pin.from) continue
    if (pin.value !== undefined) next = setLiteral(next, guid, pin.id, pin.value)
    else next = changeBlock(next, guid, { in_pins: [...(next.get(guid)?.in_pins ?? []), pin] })
  }
  for (const wire of [...wiresInto(guid, old), ...leaving]) next = rewired(next, catalogue, guid, old, wire)
  return next
}

function remainingFields(
  fields: BlockContent['fields'],
  catalogue: Catalogue,
  type: string,
): BlockContent['fields'] {
  const settings = catalogue.get(type)?.settings ?? {}
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name in settings))
}

/** The wire at the pin of the same name, else at the only one that carries the same. */
function rewired(flow: Flow, catalogue: Catalogue, guid: string, old: BlockContent, wire: Wire): Flow {
  const isInto = wire.to.block === guid
  const content = flow.get(guid)
  if (!content) return flow
  const [pins, before] = [pinsOf(content, catalogue), pinsOf(old, catalogue)]
  const same = isInto
    ? [...pins.in].filter(([, { type }]) => type === before.in.get(wire.to.pin)?.type)
    : [...pins.out].filter(([, out]) => out.type === before.out.get(wire.from.pin)?.type)
  const pin = isInto ? wire.to.pin : wire.from.pin
  const found = (isInto ? pins.in : pins.out).has(pin) ? pin : same.length === 1 ? same[0]?.[0] : undefined
  if (found === undefined) return flow
  const next = isInto
    ? { from: wire.from, to: { block: guid, pin: found } }
    : { from: { block: guid, pin: found }, to: wire.to }
  return wireProblem(flow, catalogue, next) === undefined ? connect(flow, catalogue, next) : flow
}
