import { useReactFlow } from '@xyflow/react'
import type { DragEvent } from 'react'
import { focusDrawingIn } from '../frame/focus-drawing.ts'
import { addBlock } from '../state/editor-commands.ts'
import { useEditor } from '../state/editor-context.ts'
import { addOnWire } from '../state/editor-gestures.ts'
import { wireAt } from './canvas-wires.ts'

export const BLOCK_TYPE = 'application/x-quoin-block'

/** Blocks dragged out of the palette are put down where they are let go. */
export function usePaletteDrop() {
  const editor = useEditor()
  const { screenToFlowPosition } = useReactFlow()
  return {
    onDragOver(event: DragEvent) {
      if (!event.dataTransfer.types.includes(BLOCK_TYPE)) return
      event.preventDefault()
      event.dataTransfer.dropEffect = 'copy'
    },
    onDrop(event: DragEvent) {
      const type = event.dataTransfer.getData(BLOCK_TYPE)
      if (type === '') return
      event.preventDefault()
      const screen = { x: event.clientX, y: event.clientY }
      const wire = wireAt(screen, editor.store.getState().drawing.flow)
      const { x, y } = screenToFlowPosition(screen)
      if (!wire || !addOnWire(editor, type, wire)) addBlock(editor, type, { x: x - 60, y: y - 20 })
      // Not in the palette, where keys would search.
      focusDrawingIn(50)
    },
  }
}
