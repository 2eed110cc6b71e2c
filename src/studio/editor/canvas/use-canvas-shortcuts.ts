import { type FitViewOptions, useReactFlow } from '@xyflow/react'
import { useEffect } from 'react'
import { useShortcut } from '../../shell/shortcuts.ts'
import { canvasTexts } from '../../texts/canvas.ts'
import { moving } from '../../theme/motion.ts'
import { toggleFold } from '../folds/fold-commands.ts'
import { addNote, groupSelected, layOut } from '../state/editor-commands.ts'
import { useEditor } from '../state/editor-context.ts'

const group = canvasTexts.canvas

/** Keys that need to know where the canvas is. Those that the outline has too are in `frame/editor-frame.tsx`. */
export function useCanvasShortcuts(onArranged: () => void, fit: FitViewOptions): void {
  const editor = useEditor()
  const { fitView, zoomIn, zoomOut, screenToFlowPosition } = useReactFlow()
  const middle = () => screenToFlowPosition({ x: innerWidth / 2 - 120, y: innerHeight / 2 - 60 })
  useEffect(() => {
    editor.lookAt(() => screenToFlowPosition({ x: innerWidth / 2 - 120, y: innerHeight / 2 - 60 }))
    return () => editor.lookAt(undefined)
  }, [editor, screenToFlowPosition])
  useShortcut({ keys: 'a', label: canvasTexts.addABlock, group }, () =>
    editor.set({ dialog: { kind: 'add', at: middle() } }),
  )
  useShortcut(
    { keys: 'f', label: canvasTexts.zoomToFit, group },
    () => void fitView({ ...fit, duration: moving(200) }),
  )
  useShortcut({ keys: '=', label: canvasTexts.zoomIn, group }, () => void zoomIn())
  useShortcut({ keys: '-', label: canvasTexts.zoomOut, group }, () => void zoomOut())
  useShortcut({ keys: 'l', label: canvasTexts.arrangeBlocks, group }, () => {
    layOut(editor)
    setTimeout(onArranged, 50)
  })
  useShortcut({ keys: 'n', label: canvasTexts.addARemark, group }, () => addNote(editor, middle()))
  useShortcut({ keys: 'mod+g', label: canvasTexts.frameSelected, group }, () => groupSelected(editor))
  useShortcut({ keys: 'c', label: canvasTexts.collapseExpandFrameLane, group }, () => toggleFold(editor))
  useShortcut({ keys: 'mod+a', label: canvasTexts.selectEverything, group }, () => {
    const { drawing } = editor.store.getState()
    editor.select([...drawing.flow.keys(), ...drawing.notes.map(({ id }) => `note:${id}`)])
  })
}
