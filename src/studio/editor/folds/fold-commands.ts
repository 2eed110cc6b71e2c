/** Collapsing and expanding in the editor. Each is one step of undo; what something leads into is only opened, and stays stored as collapsed. */

import { notifications } from '@mantine/notifications'
import { editorTexts } from '../../texts/editor.ts'
import type { Editor } from '../state/editor.ts'
import type { EditorState } from '../state/editor-state.ts'
import { collapseFrame, collapseLane, expand, laneNote, triggerOf } from './fold-changes.ts'
import { type Folds, foldsOf } from './folds.ts'

export function presentFolds({ drawing, catalogue, opened }: EditorState): Folds {
  return foldsOf(drawing, catalogue, opened)
}

export function foldFrame(editor: Editor, id: string): void {
  const { catalogue, drawing } = editor.store.getState()
  if (collapseFrame(drawing, catalogue, id) === drawing) {
    notifications.show({
      title: editorTexts.nothingToCollapse,
      message: editorTexts.nothingToCollapseMessage,
      role: 'status',
    })
    return
  }
  close(editor, id)
  editor.runOnAll(editorTexts.collapseFrame, (now) => collapseFrame(now, catalogue, id))
  editor.select([`note:${id}`])
}

export function foldLane(editor: Editor, trigger: string): void {
  const { catalogue, drawing } = editor.store.getState()
  const id = laneNote(drawing, trigger)?.id ?? editor.newGuid()
  close(editor, id)
  editor.runOnAll(editorTexts.collapseLane, (now) => collapseLane(now, catalogue, trigger, id))
  editor.select([`note:${id}`])
}

export function unfoldBox(editor: Editor, id: string): void {
  const { catalogue, drawing } = editor.store.getState()
  const collapsed = drawing.notes.find((note) => note.id === id)?.collapsed
  if (!collapsed) return
  editor.runOnAll(collapsed.lane ? editorTexts.expandLane : editorTexts.expandFrame, (now) =>
    expand(now, catalogue, id),
  )
  const [first = ''] = collapsed.inside
  editor.select([collapsed.lane ? first : `note:${id}`])
}

/** Draws what is around a block in full, until the blueprint is left. */
export function leadInto(editor: Editor, guid: string): void {
  const state = editor.store.getState()
  const box = presentFolds(state).boxOf.get(guid)
  if (box === undefined) return
  const opened = new Set(state.opened).add(box.slice('note:'.length))
  editor.set({ opened })
  // A frame inside of that one may be collapsed too.
  leadInto(editor, guid)
}

/** What was opened because something led into it is drawn as a box again. */
function close(editor: Editor, id: string): void {
  const opened = new Set(editor.store.getState().opened)
  opened.delete(id)
  editor.set({ opened })
}

/** Collapses or expands the selected frame, or the lane of the selected block. */
export function toggleFold(editor: Editor): void {
  const state = editor.store.getState()
  const [only = ''] = state.selection
  if (state.selection.size !== 1) return
  const id = only.startsWith('note:') ? only.slice('note:'.length) : ''
  if (presentFolds(state).boxes.has(only)) unfoldBox(editor, id)
  else if (state.drawing.notes.some((note) => note.id === id && note.kind === 'group')) foldFrame(editor, id)
  else {
    const trigger = triggerOf(state.drawing, state.catalogue, only)
    if (trigger !== undefined) foldLane(editor, trigger)
  }
}
