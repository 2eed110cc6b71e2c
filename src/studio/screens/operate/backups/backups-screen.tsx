import { Alert, Anchor, Button, Group, Progress, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { BackupsState, RestoredRecord } from '../../../../shared/api/operate/backups.ts'
import { backupsQuery, cancelBackup, makeBackup, removeRestored } from '../../../api/operate.ts'
import { RemoveAction } from '../../../controls/actions.tsx'
import { confirm } from '../../../controls/confirm.ts'
import { Icon } from '../../../controls/icon.tsx'
import { CardTable } from '../../../controls/lists/card-table.tsx'
import type { Column } from '../../../controls/lists/record-table.tsx'
import { notifyFailed } from '../../../controls/notify.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { EmptyState, ErrorNotice } from '../../../controls/states.tsx'
import { Time } from '../../../controls/time.tsx'
import { backupsTexts } from '../../../texts/settings.ts'
import { BackupTable } from './backup-table.tsx'

/** Folders that backups were restored into; each takes as much room as its backup. */
function RestoredTable({ copies }: { readonly copies: readonly RestoredRecord[] }) {
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

const doing = {
  make: backupsTexts.making,
  check: backupsTexts.checking,
  restore: backupsTexts.restoring,
} as const
const done = { make: backupsTexts.made, check: backupsTexts.checked, restore: backupsTexts.restored } as const
const failed = {
  make: backupsTexts.couldNotMake,
  check: backupsTexts.theCheckFailedFor,
  restore: backupsTexts.couldNotRestore,
} as const

/** What runs, with its progress, or how the last work ended. */
function BackupWork({ state: { running, last } }: { readonly state: BackupsState }) {
  if (running) {
    const part = running.total === 0 ? 0 : Math.min(100, (running.done / running.total) * 100)
    const words = `${doing[running.work]} ${running.name}`
    return (
      <div className="surface">
        <Group p="md" wrap="wrap">
          <Text size="sm" role="status">
            {words} … {Math.round(part)} %
          </Text>
          <Progress value={part} flex="1 1 160px" aria-label={words} />
          <Button
            variant="default"
            size="compact-sm"
            onClick={() =>
              void cancelBackup().catch((error) => notifyFailed(backupsTexts.couldNotCancelled, error))
            }
          >
            {backupsTexts.cancel}
          </Button>
        </Group>
      </div>
    )
  }
  if (!last) return null
  if (last.outcome === 'cancelled') return <Alert color="gray" title={backupsTexts.cancelled(last.name)} />
  if (last.outcome === 'failed')
    return (
      <Alert color="red" title={`${failed[last.work]} ${last.name}`}>
        {last.message}
      </Alert>
    )
  return (
    <Alert color="green" title={`${done[last.work]} ${last.name}`}>
      {last.work === 'restore' ? (
        <span style={{ overflowWrap: 'anywhere' }}>{backupsTexts.restoredInto(last.message)}</span>
      ) : null}
    </Alert>
  )
}

/** Backups that the server makes of its own data. */
export function BackupsScreen() {
  const { data, error, refetch } = useQuery(backupsQuery)
  const make = () => makeBackup().catch((problem) => notifyFailed(backupsTexts.backupCouldNotBegin, problem))
  return (
    <>
      <ScreenHead title={backupsTexts.backups} about={backupsTexts.backupsAbout}>
        <Button
          leftSection={<Icon name="plus" size={16} />}
          disabled={data?.available !== true || data.running !== null}
          onClick={() => void make()}
        >
          {backupsTexts.backUpNow}
        </Button>
      </ScreenHead>
      {error ? (
        <ErrorNotice error={error} title={backupsTexts.couldNotLoadBackups} onRetry={refetch} />
      ) : null}
      {data ? <Loaded state={data} /> : error ? null : <Skeleton height={200} />}
    </>
  )
}

function Loaded({ state }: { readonly state: BackupsState }) {
  if (!state.available)
    return (
      <Alert color="petrol" title={backupsTexts.madeOutside}>
        {state.instead}
      </Alert>
    )
  return (
    <Stack gap="md">
      <BackupWork state={state} />
      {state.backups.length === 0 ? (
        <div className="surface">
          <EmptyState icon="operate" title={backupsTexts.noBackups}>
            <Text size="sm">{backupsTexts.noBackupsText}</Text>
          </EmptyState>
        </div>
      ) : (
        <BackupTable backups={state.backups} isBusy={state.running !== null} />
      )}
      {state.restored.length > 0 ? <RestoredTable copies={state.restored} /> : null}
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {backupsTexts.whereTheyLie(state.folder)}{' '}
        <Anchor component={Link} href="/operate/settings" size="sm" underline="always">
          {backupsTexts.scheduleSetting}
        </Anchor>
        .
      </Text>
    </Stack>
  )
}
