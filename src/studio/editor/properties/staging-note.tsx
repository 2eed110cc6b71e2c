import { Text } from '@mantine/core'
import { propertiesTexts } from '../../texts/properties.ts'
import { useEditorState } from '../state/editor-context.ts'

const words = {
  created: propertiesTexts.added,
  updated: propertiesTexts.changed,
  removed: propertiesTexts.removed,
}

/** Who changed the block and has not saved it yet. */
export function StagingNote({ guid }: { readonly guid: string }) {
  const staging = useEditorState(({ known }) => known.get(guid)?.staging)
  if (!staging) return null
  const time = new Date(staging.at * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  return (
    <Text size="xs" c="light-dark(#87581f, #dcb475)">
      {propertiesTexts.stagedBy(words[staging.change], staging.by.username, time)}
    </Text>
  )
}
