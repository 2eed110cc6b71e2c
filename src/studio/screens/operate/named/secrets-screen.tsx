import { Badge, Text } from '@mantine/core'
import type { SecretRecord } from '../../../../shared/api/operate/secrets.ts'
import { secrets } from '../../../api/secrets.ts'
import { EmptyState } from '../../../controls/empty-state.tsx'
import type { Column } from '../../../controls/lists/column.ts'
import { namedTexts } from '../../../texts/named.ts'
import { NamedScreen } from './named-screen.tsx'
import { SecretDialog } from './secret-dialog.tsx'

const users: Column<SecretRecord> = {
  id: 'users',
  label: namedTexts.usedBy,
  render: ({ used_by, readable }) => (
    <>
      {readable ? null : (
        <Badge color="red" variant="light" mr="xs">
          {namedTexts.anotherKey}
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
      title={namedTexts.secrets}
      about={namedTexts.secretsAbout}
      action={namedTexts.newSecret}
      address="/operate/secrets"
      records={secrets}
      columns={[users]}
      empty={
        <EmptyState icon="operate" title={namedTexts.noSecrets}>
          <Text size="sm">
            {namedTexts.noSecretsText} <em>{namedTexts.checkSignature}</em>
            {namedTexts.noSecretsRest}
          </Text>
        </EmptyState>
      }
      removal={({ used_by: users }) => {
        const who = namedTexts.usedByText(users.length, users.map((user) => user.name).join(', '))
        return namedTexts.blocksFailOf(who)
      }}
      Dialog={SecretDialog}
    />
  )
}
