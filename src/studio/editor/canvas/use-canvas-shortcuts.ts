import { useReactFlow } from '@xyflow/react'
import { useEffect } from 'react'
import { useShortcut } from '../../shell/shortcuts.ts'
import { moving } from '../../theme/motion.ts'
import { toggleFold } from '../folds/fold-deeds.ts'
import { useEditor } from '../state/editor-context.ts'
import { addNote, groupSelected, layOut } from '../state/editor-deeds.ts'

const group = 'Canvas'

/** Keys that need to know where the canvas is. Those that the outline has too are in `frame/use-editor-shortcuts.ts`. */
export function useCanvasShortcuts(onArranged: () => void): void {
  const editor = useEditor()
  const { fitView, zoomIn, zoomOut, screenToFlowPosition } = useReactFlow()
  const middle = () => screenToFlowPosition({ x: innerWidth / 2 - 120, y: innerHeight / 2 - 60 })
  useEffect(() => {
    editor.lookAt(() => screenToFlowPosition({ x: innerWidth / 2 - 120, y: innerHeight / 2 - 60 }))
    return () => editor.lookAt(undefined)
  }, [editor, screenToFlowPosition])
  useShortcut({ keys: 'a', label: 'Add a block', group }, () =>
    editor.set({ dialog: { kind: 'add', at: middle() } }),
  )
  useShortcut(
    { keys: 'f', label: 'Zoom to fit', group },
    () => void fitView({ duration: moving(200), maxZoom: 1, padding: 0.15 }),
  )
  useShortcut({ keys: '=', label: 'Zoom in', group }, () => void zoomIn())
  useShortcut({ keys: '-', label: 'Zoom out', group }, () => void zoomOut())
  useShortcut({ keys: 'l', label: 'Arrange blocks', group }, () => {
    layOut(editor)
    setTimeout(onArranged, 50)
  })
  useShortcut({ keys: 'n', label: 'Add a remark', group }, () => addNote(editor, middle()))
  useShortcut({ keys: 'mod+g', label: 'Put a frame around the selected blocks', group }, () =>
    groupSelected(editor),
  )
  useShortcut({ keys: 'c', label: 'Collapse or expand the frame or the lane', group }, () =>
    toggleFold(editor),
  )
  useShortcut({ keys: 'mod+a', label: 'Select everything', group }, () => {
    const { drawing } = editor.store.getState()
    editor.select([...drawing.flow.keys(), ...drawing.notes.map(({ id }) => `note:${id}`)])
  })
}
