import { Alert, Anchor, Button, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { BackupsState } from '../../../../shared/api/operate/backups.ts'
import { backupsQuery, makeBackup } from '../../../api/backups.ts'
import { EmptyState } from '../../../controls/empty-state.tsx'
import { ErrorNotice } from '../../../controls/error-notice.tsx'
import { Icon } from '../../../controls/icon.tsx'
import { notifyFailed } from '../../../controls/notify.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { backupsTexts } from '../../../texts/backups.ts'
import { BackupTable } from './backup-table.tsx'
import { BackupWork } from './backup-work.tsx'
import { RestoredTable } from './restored-table.tsx'

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
      <Alert color="blue" title={backupsTexts.madeOutside}>
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
