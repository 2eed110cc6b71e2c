import { Alert, Button, Group, Progress, Text } from '@mantine/core'
import type { BackupsState } from '../../../../shared/api/operate/backups.ts'
import { cancelBackup } from '../../../api/backups.ts'
import { notifyFailed } from '../../../controls/notify.ts'
import { backupsTexts } from '../../../texts/backups.ts'

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
export function BackupWork({ state: { running, last } }: { readonly state: BackupsState }) {
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
