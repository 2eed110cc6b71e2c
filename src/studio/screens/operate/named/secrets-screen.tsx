import { Badge, Code, Text } from '@mantine/core'
import type { SecretRecord } from '../../../../shared/api/secrets.ts'
import { secrets } from '../../../api/secrets.ts'
import { EmptyState } from '../../../controls/empty-state.tsx'
import type { Column } from '../../../controls/lists/column.ts'
import { NamedScreen } from './named-screen.tsx'
import { SecretDialog } from './secret-dialog.tsx'

const users: Column<SecretRecord> = {
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
}

/** Names of secrets: their values are set here and never shown. */
export function SecretsScreen() {
  return (
    <NamedScreen
      title="Secrets"
      about="Keys and passwords of other services. Blocks use them by name; values are stored encrypted and never shown."
      action="New secret"
      address="/operate/secrets"
      records={secrets}
      columns={[users]}
      empty={
        <EmptyState icon="operate" title="No secrets">
          <Text size="sm">
            Set a secret such as STRIPE_SIGNING and name it in a pin of the type secret, such as that of{' '}
            <Code>check_signature</Code>. The server needs QUOIN_SECRETS_KEY.
          </Text>
        </EmptyState>
      }
      removal={({ used_by: users }) => {
        const who = users.length === 0 ? '' : ` Used by ${users.map((user) => user.name).join(', ')}.`
        return `Blocks that name it fail from then on.${who}`
      }}
      Dialog={SecretDialog}
    />
  )
}
