import { Anchor, List } from '@mantine/core'
import { wordsOf } from '../model/words/block-labels.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'

interface ProblemListProps {
  /** Of what was checked: what keeps the blueprint from running, or what its builder should know all the same. */
  readonly of: 'problems' | 'notes'
  readonly onGo: () => void
}

/** Each leads to its block and pin. */
export function ProblemList({ of, onGo }: ProblemListProps) {
  const editor = useEditor()
  const checked = useEditorState((state) => state.checked)
  const { flow } = useEditorState((state) => state.drawing)
  const catalogue = useEditorState((state) => state.catalogue)
  return (
    <List size="sm" spacing={4}>
      {checked[of].map(({ block, pin, message }) => {
        const content = flow.get(block)
        return (
          <List.Item key={`${block} ${pin} ${message}`}>
            {content ? (
              <Anchor
                component="button"
                type="button"
                size="sm"
                onClick={() => {
                  onGo()
                  editor.focusPin(block, pin ?? '')
                }}
              >
                {wordsOf(flow, catalogue, block).title}
                {pin ? ` · ${pin}` : ''}
              </Anchor>
            ) : null}
            {content ? ': ' : ''}
            {message}
          </List.Item>
        )
      })}
    </List>
  )
}
