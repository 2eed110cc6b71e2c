import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { Imported } from '../../../../shared/api/data/documents.ts'
import { ErrorNotice } from '../../../controls/error-notice.tsx'
import { transferTexts } from '../../../texts/transfer.ts'
import { undoImport } from './import-file.ts'
import { LineProblems } from './line-problems.tsx'

interface ImportResultProps {
  readonly storage: string
  readonly result: Imported
  readonly onClose: () => void
}

/** What an import has stored and left out. */
export function ImportResult({ storage, result, onClose }: ImportResultProps) {
  const { imported, refused = 0, problems = [], undo } = result
  const take = useMutation({ mutationFn: (id: string) => undoImport(storage, id) })
  return (
    <Stack gap="md">
      <Text role="status">
        {take.data
          ? transferTexts.undone(
              take.data.deleted.toLocaleString(),
              take.data.left,
              take.data.left.toLocaleString(),
            )
          : transferTexts.imported(imported.toLocaleString(), refused, refused.toLocaleString())}
      </Text>
      <LineProblems problems={problems} />
      <ErrorNotice error={take.error} title={transferTexts.couldNotUndoImport} />
      <Group justify="flex-end" gap="xs">
        {undo === undefined || take.data ? null : (
          <Button variant="default" loading={take.isPending} onClick={() => take.mutate(undo)}>
            {transferTexts.undoTheImport}
          </Button>
        )}
        <Button onClick={onClose}>{transferTexts.close}</Button>
      </Group>
    </Stack>
  )
}
