import { notifyDone } from '../../controls/notify.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { useStageActions } from '../bar/use-stage-actions.ts'
import { count } from '../model/words.ts'
import { useEditor } from '../state/editor-context.ts'
import { copySelected, duplicateSelected, pasteBlocks, removeSelected } from '../state/editor-deeds.ts'
import { leaveRun } from '../state/shown-run.ts'
import { focusDrawing } from './focus-drawing.ts'

const group = 'Blueprint'

/** Keys that work on the canvas and in the outline. */
export function useEditorShortcuts(): void {
  const editor = useEditor()
  const { save } = useStageActions()
  useShortcut({ keys: 'mod+z', label: 'Undo', group }, editor.undo)
  useShortcut({ keys: 'mod+shift+z', label: 'Redo', group }, editor.redo)
  useShortcut({ keys: 'mod+y', label: 'Redo', group }, editor.redo)
  useShortcut({ keys: 'mod+c', label: 'Copy blocks', group }, async () => {
    const blocks = await copySelected(editor)
    if (blocks > 0) notifyDone(`${count(blocks, 'block')} copied. Paste them here or in another blueprint.`)
  })
  useShortcut({ keys: 'mod+x', label: 'Cut blocks', group }, async () => {
    if ((await copySelected(editor)) > 0) removeSelected(editor)
  })
  useShortcut({ keys: 'mod+v', label: 'Paste blocks', group }, async () => {
    if ((await pasteBlocks(editor)) === 0) notifyDone('There are no blocks in the clipboard.')
  })
  useShortcut({ keys: 'mod+d', label: 'Duplicate blocks', group }, () => void duplicateSelected(editor))
  useShortcut({ keys: 'delete', label: 'Remove the selection', group }, () => removeSelected(editor))
  useShortcut({ keys: 'backspace', label: 'Remove the selection', group }, () => removeSelected(editor))
  useShortcut({ keys: 'escape', label: 'Clear the selection; again: leave the run', group }, () => {
    const { selection, selectedWires } = editor.store.getState()
    if (selection.size > 0 || selectedWires.size > 0) editor.select([])
    else leaveRun(editor)
  })
  useShortcut({ keys: 'shift+a', label: 'Add any block', group }, () =>
    editor.set({ dialog: { kind: 'add' } }),
  )
  useShortcut({ keys: 'mod+f', label: 'Find in this blueprint', group, whileTyping: true }, () =>
    editor.set({ dialog: { kind: 'find' } }),
  )
  useShortcut({ keys: 'o', label: 'Canvas or outline', group }, () => {
    const { view } = editor.store.getState()
    editor.set({ view: view === 'canvas' ? 'outline' : 'canvas' })
  })
  useShortcut({ keys: 't', label: 'Try it', group }, () => {
    const { panel } = editor.store.getState()
    editor.set({ panel: panel === 'try' ? 'properties' : 'try' })
  })
  useShortcut({ keys: 'v', label: 'Versions', group }, () => editor.set({ dialog: { kind: 'versions' } }))
  useShortcut({ keys: 'mod+s', label: 'Save', group, whileTyping: true }, () => {
    // What is still under the cursor counts too.
    focusDrawing()
    save()
  })
  useShortcut({ keys: 'mod+enter', label: 'Deploy', group, whileTyping: true }, () => {
    focusDrawing()
    editor.set({ dialog: { kind: 'deploy' } })
  })
}
