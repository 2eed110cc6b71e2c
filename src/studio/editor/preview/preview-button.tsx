import { Button } from '@mantine/core'
import { useMemo } from 'react'
import { tryTexts } from '../../texts/try.ts'
import { pagesOf } from '../model/flow-pages.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'

/** Shows the preview beside the drawing; only where the blueprint has a page. */
export function PreviewButton() {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const isOpen = useEditorState((state) => state.isPreviewing)
  const hasPages = useMemo(() => pagesOf(flow).length > 0, [flow])
  if (!hasPages) return null
  return (
    <Button
      size="xs"
      variant={isOpen ? 'light' : 'default'}
      aria-pressed={isOpen}
      onClick={() => editor.set({ isPreviewing: !isOpen })}
    >
      {tryTexts.preview}
    </Button>
  )
}
