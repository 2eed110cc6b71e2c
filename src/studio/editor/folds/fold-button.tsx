import { Button } from '@mantine/core'
import { editorTexts } from '../../texts/editor.ts'
import { useEditor } from '../state/editor-context.ts'
import { foldFrame, unfoldBox } from './fold-commands.ts'
import { useFolds } from './use-folds.ts'

/** In the panel of a frame or a collapsed lane. */
export function FoldButton({ note }: { readonly note: string }) {
  const editor = useEditor()
  const isBox = useFolds().boxes.has(`note:${note}`)
  return (
    <Button
      size="xs"
      variant="default"
      style={{ alignSelf: 'flex-start' }}
      onClick={() => (isBox ? unfoldBox(editor, note) : foldFrame(editor, note))}
    >
      {isBox ? editorTexts.expandText : editorTexts.collapseToOneBox}
    </Button>
  )
}
