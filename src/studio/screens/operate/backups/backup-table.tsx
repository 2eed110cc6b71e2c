import { Badge, Button, Group } from '@mantine/core'
import type { BackupRecord } from '../../../../shared/api/operate/backups.ts'
import { checkBackup, removeBackup, restoreBackup } from '../../../api/backups.ts'
import { confirm } from '../../../controls/confirm.ts'
import { CardTable } from '../../../controls/lists/card-table.tsx'
import type { Column } from '../../../controls/lists/column.ts'
import { notifyFailed } from '../../../controls/notify.ts'
import { RemoveAction } from '../../../controls/remove-action.tsx'
import { Time } from '../../../controls/time.tsx'

interface BackupTableProps {
  readonly backups: readonly BackupRecord[]
  /** Something runs, and nothing else can begin. */
  readonly isBusy: boolean
}

export function BackupTable({ backups, isBusy }: BackupTableProps) {
  const actions: Column<BackupRecord> = {
    id: 'actions',
    label: '',
    render: ({ name }) => <Actions name={name} isBusy={isBusy} />,
  }
  return (
    <CardTable
      label="Backups"
      columns={[...columns, actions]}
      records={backups}
      keyOf={({ name }) => name}
      minWidth={720}
    />
  )
}

const columns: readonly Column<BackupRecord>[] = [
  { id: 'made', label: 'Made', render: ({ made }) => <Time at={made} /> },
  { id: 'by', label: 'By', render: ({ kind }) => (kind === 'schedule' ? 'schedule' : 'hand') },
  {
    id: 'size',
    label: 'Size',
    render: ({ bytes, files }) =>
      `${sizeOf(bytes)}, ${files === 1 ? '1 file' : `${files.toLocaleString()} files`}`,
  },
  {
    id: 'checked',
    label: 'Last check',
    render: ({ checked }) => (checked ? <Checked {...checked} /> : 'when it was made'),
  },
]

function Actions({ name, isBusy }: { readonly name: string; readonly isBusy: boolean }) {
  const begin = (work: Promise<void>) => void work.catch((error) => notifyFailed('It could not begin', error))
  return (
    <Group gap={6} wrap="nowrap" justify="flex-end">
      <Button
        size="compact-sm"
        variant="default"
        disabled={isBusy}
        aria-label={`Check ${name}`}
        onClick={() => begin(checkBackup(name))}
      >
        Check
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        disabled={isBusy}
        aria-label={`Restore ${name}`}
        onClick={() => askToRestore(name)}
      >
        Restore
      </Button>
      <RemoveAction label={`Delete ${name}`} onClick={() => askToRemove(name)} />
    </Group>
  )
}

function Checked({ at, problem }: NonNullable<BackupRecord['checked']>) {
  return (
    <>
      <Badge color={problem === '' ? 'green' : 'red'} title={problem}>
        {problem === '' ? 'right' : 'damaged'}
      </Badge>{' '}
      <Time at={at} />
    </>
  )
}

function askToRestore(name: string): void {
  confirm({
    title: `Restore ${name}?`,
    text: 'It is copied into a new folder on the server, after checking every checksum. The running database stays as it is.',
    action: 'Restore',
    run: () => restoreBackup(name),
  })
}

function askToRemove(name: string): void {
  confirm({
    title: `Delete ${name}?`,
    text: 'The backup is deleted permanently.',
    action: 'Delete',
    run: () => removeBackup(name),
  })
}

function sizeOf(bytes: number): string {
  return `${(bytes / 1024 / 1024).toLocaleString(undefined, { maximumFractionDigits: 1 })} MiB`
}
