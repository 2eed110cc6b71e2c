import { Button } from '@mantine/core'
import { canExpand } from '../../../shared/resource/resource.ts'
import { Icon } from '../../controls/icon.tsx'
import { propertiesTexts } from '../../texts/properties.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { drawResource } from '../state/editor-deeds.ts'

/** Draws the flows of a resource in its place, for a builder who wants to change them. */
export function ResourceAction({ guid }: { readonly guid: string }) {
  const editor = useEditor()
  const content = useEditorState(({ drawing }) => drawing.flow.get(guid))
  return (
    <Button
      size="xs"
      variant="default"
      mt="xs"
      leftSection={<Icon name="blueprint" size={15} />}
      disabled={!content || !canExpand(content)}
      onClick={() => void drawResource(editor, guid)}
    >
      {propertiesTexts.asBlocks}
    </Button>
  )
}
