import { Badge, Button, Code, Text } from '@mantine/core'
import type { SecretRecord } from '../../../shared/api/secrets.ts'
import { findSecrets, removeSecret } from '../../api/secrets.ts'
import { confirm } from '../../controls/confirm.ts'
import { EmptyState } from '../../controls/empty-state.tsx'
import { Icon } from '../../controls/icon.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { RecordTable } from '../../controls/lists/record-table.tsx'
import { openAddress } from '../../controls/open-address.ts'
import { RemoveAction } from '../../controls/remove-action.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { Time } from '../../controls/time.tsx'
import { useOpened } from '../../controls/use-opened.ts'
import { SecretDialog } from './secret-dialog.tsx'

const columns: readonly Column<SecretRecord>[] = [
  {
    id: 'name',
    label: 'Name',
    sort: 'name',
    render: ({ name, description }) => (
      <>
        {name}
        <Text size="xs" c="dimmed" fw={400}>
          {description}
        </Text>
      </>
    ),
  },
  {
    id: 'users',
    label: 'Used by',
    render: ({ used_by, readable }) => (
      <>
        {readable ? null : (
          <Badge color="red" variant="light" mr="xs">
            another key
          </Badge>
        )}
        {used_by.map(({ name }) => name).join(', ')}
      </>
    ),
  },
  {
    id: 'changed',
    label: 'Changed',
    sort: '_meta.updated',
    width: 220,
    render: ({ _meta, modified_by }) => (
      <>
        <Time at={_meta.updated} /> by {modified_by.username}
      </>
    ),
  },
  {
    id: 'remove',
    label: '',
    width: 48,
    render: (record) => <RemoveAction label={`Remove ${record.name}`} onClick={() => askToRemove(record)} />,
  },
]

/** Names of secrets: their values are set here and never shown. */
export function SecretsScreen() {
  const [open, show] = useOpened()
  const [, , words] = useListAddress()
  return (
    <>
      <ScreenHead
        title="Secrets"
        about="Keys and passwords of other services. Blocks use them by name; values are stored encrypted and never shown."
      >
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => show('new')}>
          New secret
        </Button>
      </ScreenHead>
      <RecordTable<SecretRecord>
        label="Secrets"
        queryKey={['secrets', 'list']}
        load={findSecrets}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress('/operate/secrets', words, _meta.guid)}
        empty={
          <EmptyState icon="operate" title="No secrets">
            <Text size="sm">
              Set a secret such as STRIPE_SIGNING and name it in a pin of the type secret, such as that of{' '}
              <Code>check_signature</Code>. The server needs QUOIN_SECRETS_KEY.
            </Text>
          </EmptyState>
        }
      />
      <SecretDialog guid={open} onClose={() => show('')} />
    </>
  )
}

function askToRemove({ _meta, name, used_by: users }: SecretRecord): void {
  const who = users.length === 0 ? '' : ` Used by ${users.map((user) => user.name).join(', ')}.`
  confirm({
    title: `Remove ${name}?`,
    text: `Blocks that name it fail from then on.${who}`,
    action: 'Remove',
    run: () => removeSecret(_meta.guid),
  })
}
