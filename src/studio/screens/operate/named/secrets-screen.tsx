import { Alert, Badge, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { SecretRecord } from '../../../../shared/api/operate/secrets.ts'
import { secretKeyQuery, secrets } from '../../../api/operate.ts'
import type { Column } from '../../../controls/lists/record-table.tsx'
import { EmptyState } from '../../../controls/states.tsx'
import { namedTexts } from '../../../texts/settings.ts'
import { NamedScreen } from './named-screen.tsx'
import { SecretDialog } from './secret-dialog.tsx'

function usersOf({ used_by, sent_by, signs_in }: SecretRecord): readonly string[] {
  return [
    ...used_by.map(({ name }) => name),
    ...sent_by.map(namedTexts.connection),
    ...signs_in.map(namedTexts.signInProvider),
  ]
}

const users: Column<SecretRecord> = {
  id: 'users',
  label: namedTexts.usedBy,
  render: (record) => (
    <>
      {record.readable ? null : (
        <Badge color="red" variant="light" mr="xs">
          {namedTexts.anotherKey}
        </Badge>
      )}
      {usersOf(record).join(', ')}
    </>
  ),
}

const hosts: Column<SecretRecord> = {
  id: 'hosts',
  label: namedTexts.sentTo,
  render: ({ hosts, sent_by }) =>
    hosts === null ? (
      <Badge color={sent_by.length > 0 ? 'sand' : 'gray'} variant="light">
        {namedTexts.anyServer}
      </Badge>
    ) : (
      <Text size="sm" {...(hosts.length === 0 && { c: 'dimmed' })} style={{ overflowWrap: 'anywhere' }}>
        {hosts.join(', ') || namedTexts.nowhere}
      </Text>
    ),
}

/** Names of secrets: their values are set here and never shown. */
export function SecretsScreen() {
  const { data: key } = useQuery(secretKeyQuery)
  return (
    <>
      {key?.problem ? (
        <Alert color="red" title={namedTexts.noKey} mb="md">
          {key.problem}
        </Alert>
      ) : null}
      <SecretsList />
    </>
  )
}

function SecretsList() {
  return (
    <NamedScreen
      title={namedTexts.secrets}
      about={namedTexts.secretsAbout}
      action={namedTexts.newSecret}
      address="/operate/secrets"
      records={secrets}
      columns={[hosts, users]}
      empty={
        <EmptyState icon="operate" title={namedTexts.noSecrets}>
          <Text size="sm">
            {namedTexts.noSecretsText} <em>{namedTexts.checkSignature}</em>
            {namedTexts.noSecretsRest}
          </Text>
        </EmptyState>
      }
      removal={(record) => {
        const users = usersOf(record)
        const who = namedTexts.usedByText(users.length, users.join(', '))
        return namedTexts.blocksFailOf(who)
      }}
      Dialog={SecretDialog}
    />
  )
}
