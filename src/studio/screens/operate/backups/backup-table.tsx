import { ActionIcon, Badge, Button, Group } from '@mantine/core'
import type { BackupRecord } from '../../../../shared/api/operate/backups.ts'
import { backupFile, checkBackup, removeBackup, restoreBackup } from '../../../api/operate.ts'
import { RemoveAction } from '../../../controls/actions.tsx'
import { confirm } from '../../../controls/confirm.ts'
import { Icon } from '../../../controls/icon.tsx'
import { CardTable } from '../../../controls/lists/card-table.tsx'
import type { Column } from '../../../controls/lists/record-table.tsx'
import { notifyFailed } from '../../../controls/notify.ts'
import { Time } from '../../../controls/time.tsx'
import { backupsTexts } from '../../../texts/settings.ts'

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
      label={backupsTexts.backups}
      columns={[...columns, actions]}
      records={backups}
      keyOf={({ name }) => name}
      minWidth={720}
    />
  )
}

const columns: readonly Column<BackupRecord>[] = [
  { id: 'made', label: backupsTexts.made, render: ({ made }) => <Time at={made} /> },
  { id: 'by', label: backupsTexts.by, render: ({ kind }) => backupsTexts.madeBy[kind] },
  {
    id: 'size',
    label: backupsTexts.size,
    render: ({ bytes, files }) => `${sizeOf(bytes)}, ${backupsTexts.files(files, files.toLocaleString())}`,
  },
  {
    id: 'checked',
    label: backupsTexts.lastCheck,
    render: ({ checked }) => (checked ? <Checked {...checked} /> : backupsTexts.whenItWasMade),
  },
]

function Actions({ name, isBusy }: { readonly name: string; readonly isBusy: boolean }) {
  const begin = (work: Promise<void>) =>
    void work.catch((error) => notifyFailed(backupsTexts.itCouldNotBegin, error))
  return (
    <Group gap={6} wrap="nowrap" justify="flex-end">
      <Button
        size="compact-sm"
        variant="default"
        disabled={isBusy}
        aria-label={backupsTexts.check(name)}
        onClick={() => begin(checkBackup(name))}
      >
        {backupsTexts.checkText}
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        disabled={isBusy}
        aria-label={backupsTexts.restore(name)}
        onClick={() => askToRestore(name)}
      >
        {backupsTexts.restoreText}
      </Button>
      <ActionIcon
        component="a"
        href={backupFile(name)}
        download
        variant="subtle"
        color="gray"
        aria-label={backupsTexts.download(name)}
        title={backupsTexts.downloadText}
      >
        <Icon name="download" size={16} />
      </ActionIcon>
      <RemoveAction label={backupsTexts.delete(name)} onClick={() => askToRemove(name)} />
    </Group>
  )
}

function Checked({ at, problem }: NonNullable<BackupRecord['checked']>) {
  return (
    <>
      <Badge color={problem === '' ? 'green' : 'red'} title={problem}>
        {problem === '' ? backupsTexts.right : backupsTexts.damaged}
      </Badge>{' '}
      <Time at={at} />
    </>
  )
}

function askToRestore(name: string): void {
  confirm({
    title: backupsTexts.restoreTitle(name),
    text: backupsTexts.copiedIntoNewFolder,
    action: backupsTexts.restoreText,
    run: () => restoreBackup(name),
  })
}

function askToRemove(name: string): void {
  confirm({
    title: backupsTexts.deleteTitle(name),
    text: backupsTexts.deleteText,
    action: backupsTexts.deleteLabel,
    run: () => removeBackup(name),
  })
}

function sizeOf(bytes: number): string {
  return backupsTexts.mib((bytes / 1024 / 1024).toLocaleString(undefined, { maximumFractionDigits: 1 }))
}
