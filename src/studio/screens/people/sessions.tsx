import { ActionIcon, Badge, Button, Group, Stack, Table, Text, Title, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { UserSession } from '../../../shared/api/sessions.ts'
import { endSession, endSessions, type Owner, sessionsQuery } from '../../api/credentials.ts'
import { confirm } from '../../controls/confirm.ts'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { Icon } from '../../controls/icon.tsx'
import { notifyFailed } from '../../controls/notify.ts'
import { Time } from '../../controls/time.tsx'
import { agentName } from './agent-name.ts'

/** Where a user is signed in. */
export function Sessions({ owner }: { readonly owner: Owner }) {
  const { data = [], error } = useQuery({ ...sessionsQuery(owner), retry: false })
  const others = data.filter(({ current }) => !current)
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2}>Sessions</Title>
        {others.length > 0 ? (
          <Button variant="default" onClick={() => askToEndAll(owner, others.length)}>
            {owner === 'me' ? 'End all others' : 'End all'}
          </Button>
        ) : null}
      </Group>
      {error ? <ErrorNotice error={error} title="Could not load the sessions" /> : null}
      {data.length === 0 ? (
        <Text size="sm" c="dimmed">
          Not signed in anywhere.
        </Text>
      ) : (
        <Table.ScrollContainer minWidth={480} className="surface">
          <Table aria-label="Sessions">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Signed in with</Table.Th>
                <Table.Th>Address</Table.Th>
                <Table.Th w={120}>Signed in</Table.Th>
                <Table.Th w={120}>Last used</Table.Th>
                <Table.Th w={48}>
                  <VisuallyHidden>Actions</VisuallyHidden>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.map((session) => (
                <SessionRow key={session._meta.guid} owner={owner} session={session} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Stack>
  )
}

function SessionRow({ owner, session }: { readonly owner: Owner; readonly session: UserSession }) {
  const { _meta, agent, ip, created, last_used, current } = session
  const name = agentName(agent)
  return (
    <Table.Tr>
      <Table.Td title={agent}>
        <Group gap={6}>
          {name}
          {current ? <Badge color="petrol">this one</Badge> : null}
        </Group>
      </Table.Td>
      <Table.Td className="numbers">{ip}</Table.Td>
      <Table.Td>
        <Time at={created} />
      </Table.Td>
      <Table.Td>
        <Time at={last_used} />
      </Table.Td>
      <Table.Td>
        {current ? null : (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`End the session of ${name}, ${ip}`}
            title="End"
            onClick={() =>
              void endSession(owner, _meta.guid).catch((error) =>
                notifyFailed('The session could not be ended', error),
              )
            }
          >
            <Icon name="close" size={16} />
          </ActionIcon>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function askToEndAll(owner: Owner, count: number): void {
  confirm({
    title: count === 1 ? 'End one session?' : `End ${count} sessions?`,
    text: 'These browsers and programs have to sign in again. API keys stay.',
    action: 'End',
    run: () => endSessions(owner),
  })
}
