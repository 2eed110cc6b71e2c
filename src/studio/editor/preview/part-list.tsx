import { UnstyledButton } from '@mantine/core'
import { tryTexts } from '../../texts/try.ts'
import { wordsOf } from '../model/words/block-words.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import type { PagePart } from './page-parts.ts'
import classes from './preview.module.css'

interface PartListProps {
  /** The block of the page itself. */
  readonly page: string
  readonly parts: readonly PagePart[]
}

/** How the page is made up: its blocks as they stand inside each other. A click selects one. */
export function PartList({ page, parts }: PartListProps) {
  const all = [{ key: page, block: page, depth: 0 }, ...parts]
  return (
    <details className={classes.parts} open>
      <summary>{tryTexts.partsOfThePage}</summary>
      <ul aria-label={tryTexts.partsOfThePage}>
        {all.map(({ key, block, depth }) => (
          <li key={key} style={{ paddingLeft: 12 * depth }}>
            <Part block={block} />
          </li>
        ))}
      </ul>
    </details>
  )
}

function Part({ block }: { readonly block: string }) {
  const editor = useEditor()
  const isSelected = useEditorState((state) => state.selection.has(block))
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  // It was removed since the preview was made.
  if (!flow.has(block)) return null
  return (
    <UnstyledButton
      className={classes.part}
      aria-current={isSelected || undefined}
      onClick={() => editor.focusPin(block, '')}
    >
      {wordsOf(flow, catalogue, block).title}
    </UnstyledButton>
  )
}
