import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { Imported } from '../../../../shared/api/documents.ts'
import { ErrorNotice } from '../../../controls/error-notice.tsx'
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
          ? `Undone: ${take.data.deleted.toLocaleString()} documents deleted${
              take.data.left > 0 ? `, ${take.data.left.toLocaleString()} left, since they have changed` : ''
            }.`
          : `${imported.toLocaleString()} documents imported${
              refused > 0 ? `, ${refused.toLocaleString()} lines left out` : ''
            }.`}
      </Text>
      <LineProblems problems={problems} />
      <ErrorNotice error={take.error} title="Could not undo the import" />
      <Group justify="flex-end" gap="xs">
        {undo === undefined || take.data ? null : (
          <Button variant="default" loading={take.isPending} onClick={() => take.mutate(undo)}>
            Undo the import
          </Button>
        )}
        <Button onClick={onClose}>Close</Button>
      </Group>
    </Stack>
  )
}
