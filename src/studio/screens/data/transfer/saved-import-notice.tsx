import { Alert, Button, Group, Text } from '@mantine/core'
import { transferTexts } from '../../../texts/transfer.ts'
import { dismissImport, useSavedImport } from './saved-imports.ts'

interface SavedImportProps {
  readonly storage: string
  readonly onOpen: () => void
}

/** Says that lines of a file wait to be mended; nothing while there are none. */
export function SavedImportNotice({ storage, onOpen }: SavedImportProps) {
  const kept = useSavedImport(storage)
  if (!kept || (kept.lines.length === 0 && !kept.isPending)) return null
  const count = kept.lines.length
  return (
    <Alert color="sand" variant="light" p="xs" mb="sm">
      <Group justify="space-between" gap="sm">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {transferTexts.linesWait(count.toLocaleString(), count, kept.draft.file.name)}
        </Text>
        <Group gap="xs">
          <Button size="compact-sm" variant="default" onClick={() => dismissImport(storage)}>
            {transferTexts.dismiss}
          </Button>
          <Button size="compact-sm" variant="default" onClick={onOpen}>
            {transferTexts.show}
          </Button>
        </Group>
      </Group>
    </Alert>
  )
}
