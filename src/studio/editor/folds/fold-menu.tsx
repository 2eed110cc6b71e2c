import { Menu } from '@mantine/core'
import { Icon } from '../../controls/icon.tsx'
import { editorTexts } from '../../texts/editor.ts'
import { removeSelected } from '../state/editor-commands.ts'
import { useEditor } from '../state/editor-context.ts'
import { triggerOf } from './fold-changes.ts'
import { foldFrame, foldLane, unfoldBox } from './fold-commands.ts'
import { useFolds } from './use-folds.ts'

/** What the menu of a frame offers, and that of a box. */
export function FoldMenuItems({ note }: { readonly note: string }) {
  const editor = useEditor()
  const isBox = useFolds().boxes.has(`note:${note}`)
  return (
    <>
      <Menu.Item
        leftSection={<Icon name="chevron" size={15} />}
        rightSection="C"
        onClick={() => (isBox ? unfoldBox(editor, note) : foldFrame(editor, note))}
      >
        {isBox ? editorTexts.expandText : editorTexts.collapse}
      </Menu.Item>
      <Menu.Item leftSection={<Icon name="trash" size={15} />} onClick={() => removeSelected(editor)}>
        {isBox ? editorTexts.removeWithBlocks : editorTexts.remove}
      </Menu.Item>
    </>
  )
}

/** In the menu of a block: its lane becomes one box. */
export function LaneFoldItem({ block }: { readonly block: string }) {
  const editor = useEditor()
  const { drawing, catalogue } = editor.store.getState()
  const trigger = triggerOf(drawing, catalogue, block)
  if (trigger === undefined) return null
  return (
    <Menu.Item
      leftSection={<Icon name="chevron" size={15} />}
      rightSection="C"
      onClick={() => foldLane(editor, trigger)}
    >
      {editorTexts.collapseItsLane}
    </Menu.Item>
  )
}
