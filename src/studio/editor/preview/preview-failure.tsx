import { Alert, Anchor, Text } from '@mantine/core'
import type { PagePreview } from '../../../shared/api/blueprints/page-previews.ts'
import { tryTexts } from '../../texts/try.ts'
import { wordsOf } from '../model/words/block-words.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'

interface PreviewFailureProps {
  readonly failure: NonNullable<PagePreview['failure']>
  /** Whether the rest of the page is shown. */
  readonly isPart: boolean
}

/** Why the page, or a part of it, cannot be shown, with a link to the block. */
export function PreviewFailure({ failure, isPart }: PreviewFailureProps) {
  const editor = useEditor()
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const { block, pin, message } = failure
  return (
    <Alert
      color={isPart ? 'sand' : 'red'}
      variant="light"
      title={isPart ? tryTexts.partLeftOut : tryTexts.pageFailed}
      role="alert"
    >
      <Text size="sm">{message}</Text>
      {block !== null && flow.has(block) ? (
        <Anchor component="button" type="button" size="sm" onClick={() => editor.focusPin(block, pin ?? '')}>
          {wordsOf(flow, catalogue, block).title}
        </Anchor>
      ) : null}
    </Alert>
  )
}
