import { notifyDone } from '../../controls/notify.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { countsTexts } from '../../texts/counts.ts'
import { editorTexts } from '../../texts/editor.ts'
import { useStageActions } from '../bar/use-stage-actions.ts'
import { useEditor } from '../state/editor-context.ts'
import { copySelected, duplicateSelected, pasteBlocks, removeSelected } from '../state/editor-deeds.ts'
import { leaveRun } from '../state/shown-run.ts'
import { focusDrawing } from './focus-drawing.ts'

const group = editorTexts.blueprint

/** Keys that work on the canvas and in the outline. */
export function useEditorShortcuts(): void {
  const editor = useEditor()
  const { save } = useStageActions()
  useShortcut({ keys: 'mod+z', label: editorTexts.undo, group }, editor.undo)
  useShortcut({ keys: 'mod+shift+z', label: editorTexts.redo, group }, editor.redo)
  useShortcut({ keys: 'mod+y', label: editorTexts.redo, group }, editor.redo)
  useShortcut({ keys: 'mod+c', label: editorTexts.copyBlocks, group }, async () => {
    const blocks = await copySelected(editor)
    if (blocks > 0) notifyDone(editorTexts.copied(countsTexts.blocks(blocks)))
  })
  useShortcut({ keys: 'mod+x', label: editorTexts.cutBlocks, group }, async () => {
    if ((await copySelected(editor)) > 0) removeSelected(editor)
  })
  useShortcut({ keys: 'mod+v', label: editorTexts.pasteBlocks, group }, async () => {
    if ((await pasteBlocks(editor)) === 0) notifyDone(editorTexts.clipboardEmpty)
  })
  useShortcut(
    { keys: 'mod+d', label: editorTexts.duplicateBlocks, group },
    () => void duplicateSelected(editor),
  )
  useShortcut({ keys: 'delete', label: editorTexts.removeTheSelection, group }, () => removeSelected(editor))
  useShortcut({ keys: 'backspace', label: editorTexts.removeTheSelection, group }, () =>
    removeSelected(editor),
  )
  useShortcut({ keys: 'escape', label: editorTexts.keyEscape, group }, () => {
    const { selection, selectedWires } = editor.store.getState()
    if (selection.size > 0 || selectedWires.size > 0) editor.select([])
    else leaveRun(editor)
  })
  useShortcut({ keys: 'shift+a', label: editorTexts.addAnyBlock, group }, () =>
    editor.set({ dialog: { kind: 'add' } }),
  )
  useShortcut({ keys: 'mod+f', label: editorTexts.findInThisBlueprint, group, whileTyping: true }, () =>
    editor.set({ dialog: { kind: 'find' } }),
  )
  useShortcut({ keys: 'o', label: editorTexts.canvasOrOutline, group }, () => {
    const { view } = editor.store.getState()
    editor.set({ view: view === 'canvas' ? 'outline' : 'canvas' })
  })
  useShortcut({ keys: 't', label: editorTexts.tryIt, group }, () => {
    const { panel } = editor.store.getState()
    editor.set({ panel: panel === 'try' ? 'properties' : 'try' })
  })
  useShortcut({ keys: 'v', label: editorTexts.versions, group }, () =>
    editor.set({ dialog: { kind: 'versions' } }),
  )
  useShortcut({ keys: 'mod+s', label: editorTexts.save, group, whileTyping: true }, () => {
    // What is still under the cursor counts too.
    focusDrawing()
    save()
  })
  useShortcut({ keys: 'mod+enter', label: editorTexts.deploy, group, whileTyping: true }, () => {
    focusDrawing()
    editor.set({ dialog: { kind: 'deploy' } })
  })
}
