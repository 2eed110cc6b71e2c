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
import { BackupTable } from './backup-table.tsx'
import { BackupWork } from './backup-work.tsx'

/** Backups that the server makes of its own data. */
export function BackupsScreen() {
  const { data, error, refetch } = useQuery(backupsQuery)
  const make = () => makeBackup().catch((problem) => notifyFailed('The backup could not begin', problem))
  return (
    <>
      <ScreenHead
        title="Backups"
        about="Copies of the database and the uploaded files, at one moment, while the server goes on working."
      >
        <Button
          leftSection={<Icon name="plus" size={16} />}
          disabled={data?.available !== true || data.running !== null}
          onClick={() => void make()}
        >
          Back up now
        </Button>
      </ScreenHead>
      {error ? <ErrorNotice error={error} title="Could not load the backups" onRetry={refetch} /> : null}
      {data ? <Loaded state={data} /> : error ? null : <Skeleton height={200} />}
    </>
  )
}

function Loaded({ state }: { readonly state: BackupsState }) {
  if (!state.available)
    return (
      <Alert color="blue" title="Backups of this cluster are made outside of Quoin">
        {state.instead}
      </Alert>
    )
  return (
    <Stack gap="md">
      <BackupWork state={state} />
      {state.backups.length === 0 ? (
        <div className="surface">
          <EmptyState icon="operate" title="No backups">
            <Text size="sm">Make one now, and set a schedule.</Text>
          </EmptyState>
        </div>
      ) : (
        <BackupTable backups={state.backups} isBusy={state.running !== null} />
      )}
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        They lie in {state.folder} on the server; copy them to another machine. The schedule is{' '}
        <Anchor component={Link} href="/operate/settings" size="sm" underline="always">
          QUOIN_BACKUP_SCHEDULE in the settings
        </Anchor>
        .
      </Text>
    </Stack>
  )
}
