import { Anchor, List } from '@mantine/core'
import { nameOf } from '../model/block-names.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'

/** What keeps the blueprint from running; each leads to its block and pin. */
export function ProblemList({ onGo }: { readonly onGo: () => void }) {
  const editor = useEditor()
  const { problems } = useEditorState((state) => state.checked)
  const { flow } = useEditorState((state) => state.drawing)
  const catalogue = useEditorState((state) => state.catalogue)
  return (
    <List size="sm" spacing={4}>
      {problems.map(({ block, pin, message }) => {
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
                {nameOf(content, catalogue)}
                {pin ? ` · ${pin}` : ''}
              </Anchor>
            ) : null}{' '}
            {message}
          </List.Item>
        )
      })}
    </List>
  )
}
