import { useMemo } from 'react'
import { focusDrawing } from '../frame/focus-drawing.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { addBlock } from '../state/editor-deeds.ts'
import { BlockList } from './block-list.tsx'

/** All blocks, to drag onto the canvas, or to add with a click. */
export function Palette() {
  const editor = useEditor()
  const catalogue = useEditorState((state) => state.catalogue)
  const blocks = useMemo(() => [...new Set(catalogue.values())], [catalogue])
  return (
    <BlockList
      blocks={blocks}
      draggable
      onChoose={({ identifier }) => {
        addBlock(editor, identifier, editor.eye())
        setTimeout(focusDrawing, 50)
      }}
    />
  )
}
