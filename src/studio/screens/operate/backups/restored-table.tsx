import { Group, Title } from '@mantine/core'
import type { RestoredRecord } from '../../../../shared/api/operate/backups.ts'
import { removeRestored } from '../../../api/backups.ts'
import { confirm } from '../../../controls/confirm.ts'
import { CardTable } from '../../../controls/lists/card-table.tsx'
import type { Column } from '../../../controls/lists/column.ts'
import { RemoveAction } from '../../../controls/remove-action.tsx'
import { Time } from '../../../controls/time.tsx'
import { backupsTexts } from '../../../texts/backups.ts'

/** Folders that backups were restored into; each takes as much room as its backup. */
export function RestoredTable({ copies }: { readonly copies: readonly RestoredRecord[] }) {
  return (
    <section aria-label={backupsTexts.restoredCopies}>
      <Title order={2} size="h4" mb="xs">
        {backupsTexts.restoredCopies}
      </Title>
      <CardTable
        label={backupsTexts.restoredCopies}
        columns={columns}
        records={copies}
        keyOf={({ name }) => name}
        minWidth={480}
      />
    </section>
  )
}

const columns: readonly Column<RestoredRecord>[] = [
  {
    id: 'name',
    label: backupsTexts.restoredCopy,
    render: ({ name }) => <span style={{ overflowWrap: 'anywhere' }}>{backupsTexts.restoredText(name)}</span>,
  },
  { id: 'restored', label: backupsTexts.restoredAt, render: ({ restored }) => <Time at={restored} /> },
  {
    id: 'actions',
    label: '',
    render: ({ name }) => (
      <Group justify="flex-end">
        <RemoveAction label={backupsTexts.delete(name)} onClick={() => askToRemove(name)} />
      </Group>
    ),
  },
]

function askToRemove(name: string): void {
  confirm({
    title: backupsTexts.deleteTitle(name),
    text: backupsTexts.deleteCopyText,
    action: backupsTexts.deleteLabel,
    run: () => removeRestored(name),
  })
}
