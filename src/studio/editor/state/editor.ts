import { guidSource } from '../../../shared/guid.ts'
import { editorTexts } from '../../texts/editor.ts'
import { saveStaged } from '../api/editor-api.ts'
import { withPresentNames } from '../expressions/print-names.ts'
import type { Catalogue } from '../model/block-description.ts'
import { commandBetween, type Drawing } from '../model/changes/command.ts'
import { applied, type History, redo, remember, type Step, undo } from '../model/changes/history.ts'
import type { Flow } from '../model/flow.ts'
import { withLeftField } from '../model/fresh-blocks.ts'
import { firstField } from '../model/pins/pins.ts'
import { type EditorState, type EditorStore, editorStore, type Point } from './editor-state.ts'
import { EditorSync } from './editor-sync.ts'

/** One open blueprint: its state, and everything that can be done to it. */
export interface Editor {
  readonly store: EditorStore
  readonly sync: EditorSync
  readonly newGuid: () => string
  /**
   * Does something to the drawing; it can be undone and is stored as staged. Nothing happens where nothing changes.
   * `merge`: the same word again soon after is one step of undo.
   */
  run(label: string, change: (flow: Flow) => Flow, merge?: string): void
  runOnNotes(label: string, change: (notes: Drawing['notes']) => Drawing['notes'], merge?: string): void
  /** The same for blocks and notes together, as one step of undo. */
  runOnAll(label: string, change: (drawing: Drawing) => Drawing, merge?: string): void
  undo(): void
  redo(): void
  select(guids: Iterable<string>, wires?: Iterable<string>): void
  set(change: Partial<EditorState>): void
  /** Selects a block and puts the keyboard into the field of its pin or setting. */
  focusPin(guid: string, pin: string): void
  /** Selects a block that was just added. On the canvas the keyboard goes into the first field that it needs. */
  focusNew(guid: string): void
  /** The user has left a field of a block. */
  leaveField(guid: string, field: string): void
  /** Place of a new block without a position: the visible part of the canvas, which the canvas reports while it is shown. */
  eye(): Point
  lookAt(eye: (() => Point) | undefined): void
  /** Saves everything that is staged, also what is only just drawn. */
  save(): Promise<void>
  close(): void
}

export interface Notifier {
  failed(title: string, error: unknown): void
}

export function openEditor(guid: string, catalogue: Catalogue, tell: Notifier): Editor {
  const store = editorStore(guid, catalogue)
  const sync = new EditorSync(store, (error) => tell.failed(editorTexts.refused, error))
  const newGuid = guidSource(Date.now, (bytes) => void crypto.getRandomValues(bytes))

  function commit(label: string, after: Drawing, merge?: string): void {
    const { drawing, history } = store.getState()
    const command = commandBetween(label, drawing, after, merge)
    if (!command) return
    const drawn = { ...after, flow: withPresentNames(after.flow) }
    store.setState({ drawing: drawn, history: remember(history, command, Date.now()) })
    if (command.edits.length > 0) sync.changed(command.edits.map((edit) => edit.guid))
    if (command.notes.length > 0) sync.notesChanged(drawing.notes)
  }

  function take(step: Step): void {
    if (step.outcome === 'nothing') return
    if (step.outcome === 'overtaken') {
      const why = new Error(editorTexts.undoConflict)
      tell.failed(editorTexts.cannotBeUndone(step.label), why)
      // Otherwise each further undo would end at this step.
      store.setState({ history: step.history })
      return
    }
    const { drawing } = store.getState()
    store.setState({ drawing: applied(drawing, step.command), history: step.history })
    prune()
    if (step.command.edits.length > 0) sync.changed(step.command.edits.map((edit) => edit.guid))
    if (step.command.notes.length > 0) sync.notesChanged(drawing.notes)
  }

  function prune(): void {
    const { selection, drawing } = store.getState()
    const there = [...selection].filter(
      (one) => drawing.flow.has(one) || drawing.notes.some(({ id }) => one === `note:${id}`),
    )
    if (there.length < selection.size) store.setState({ selection: new Set(there) })
  }

  const withHistory = (walk: (history: History, drawing: Drawing) => Step) => () => {
    const { history, drawing } = store.getState()
    take(walk(history, drawing))
  }

  let eye: (() => Point) | undefined

  return {
    store,
    sync,
    newGuid,
    run(label, change, merge) {
      const { drawing } = store.getState()
      commit(label, { ...drawing, flow: change(drawing.flow) }, merge)
      prune()
    },
    runOnNotes(label, change, merge) {
      const { drawing } = store.getState()
      commit(label, { ...drawing, notes: change(drawing.notes) }, merge)
      prune()
    },
    runOnAll(label, change, merge) {
      commit(label, change(store.getState().drawing), merge)
      prune()
    },
    undo: withHistory(undo),
    redo: withHistory(redo),
    select(guids, wires = []) {
      store.setState({ selection: new Set(guids), selectedWires: new Set(wires) })
    },
    set: (change) => store.setState(change),
    focusPin: (block, pin) => focusIn(store, block, pin),
    focusNew(block) {
      const { fresh, drawing, view } = store.getState()
      const content = drawing.flow.get(block)
      store.setState({ fresh: new Map(fresh).set(block, new Set()) })
      focusIn(store, block, (view === 'canvas' && content && firstField(content, catalogue)) || '')
    },
    leaveField(block, field) {
      store.setState(({ fresh }) => ({ fresh: withLeftField(fresh, block, field) }))
    },
    async save() {
      await sync.settled()
      await saveStaged(guid)
      await sync.refresh()
    },
    eye() {
      const last = [...store.getState().drawing.flow.values()].at(-1)
      const behind = last ? { x: last.position.x + 320, y: last.position.y } : { x: 0, y: 0 }
      return eye?.() ?? behind
    },
    lookAt(from) {
      eye = from
    },
    close: () => sync.close(),
  }
}

function focusIn(store: EditorStore, block: string, pin: string): void {
  const { focus } = store.getState()
  store.setState({
    selection: new Set([block]),
    selectedWires: new Set(),
    panel: 'properties',
    focus: { pin, count: focus.count + 1 },
  })
}
