import { Button, Group, Progress, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { ErrorNotice } from '../../../controls/states.tsx'
import { transferTexts } from '../../../texts/documents.ts'
import { undoImport } from './import-file.ts'
import { isUnknown } from './saved-imports.ts'
import type { SavedImport } from './stored-imports.ts'

interface ImportResultProps {
  readonly saved: SavedImport
  readonly onClose: () => void
}

/** What an import has stored, all of which can be undone. */
export function ImportResult({ saved, onClose }: ImportResultProps) {
  const { imported, undo, draft, refused, refusedLines } = saved
  const take = useUndo(draft.storage)
  return (
    <Stack gap="md">
      <Text role="status">
        {take.data
          ? transferTexts.undone(
              take.data.deleted.toLocaleString(),
              take.data.left,
              take.data.left.toLocaleString(),
            )
          : transferTexts.imported(imported.toLocaleString(), imported)}
      </Text>
      {refusedLines === undefined ? null : (
        <Text size="sm" lineClamp={3}>
          {transferTexts.leftOutLines(refused.toLocaleString(), refusedLines)}
        </Text>
      )}
      <ErrorNotice error={take.error} title={transferTexts.couldNotUndoImport} />
      <Group justify="flex-end" gap="xs">
        {undo.length === 0 || take.data ? null : (
          <Button variant="default" loading={take.isPending} onClick={() => take.mutate(undo)}>
            {transferTexts.undoTheImport}
          </Button>
        )}
        <Button onClick={onClose}>{transferTexts.close}</Button>
      </Group>
    </Stack>
  )
}

/** Mended lines are imports of their own: the last is undone first. */
export function useUndo(storage: string) {
  return useMutation({
    mutationFn: async (imports: readonly string[]) => {
      const all = { deleted: 0, left: 0 }
      for (const id of imports.toReversed()) {
        const { deleted, left } = await undoImport(storage, id)
        all.deleted += deleted
        all.left += left
      }
      return all
    },
  })
}

/** Why an import failed, or that it is not known whether it did. */
export function SendError({ error, otherwise }: { readonly error: unknown; readonly otherwise: string }) {
  return <ErrorNotice error={error} title={isUnknown(error) ? transferTexts.importIsUnknown : otherwise} />
}

/** How much of a file the server has, from 0 to 1; nothing while none is sent. */
export function Sending({ share }: { readonly share: number | undefined }) {
  if (share === undefined) return null
  return (
    <div>
      <Progress value={share * 100} animated={share === 1} aria-label={transferTexts.importing} />
      <Text size="xs" c="dimmed" role="status">
        {transferTexts.sent(share, Math.round(share * 100))}
      </Text>
    </div>
  )
}
