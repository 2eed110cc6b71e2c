import { ActionIcon, Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { UserSession } from '../../../shared/api/people/auth.ts'
import type { LinkedAccount } from '../../../shared/api/people/sign-in-providers.ts'
import {
  accountsQuery,
  endAccount,
  endSession,
  endSessions,
  type Owner,
  sessionsQuery,
} from '../../api/credentials.ts'
import { confirm } from '../../controls/confirm.ts'
import { Icon } from '../../controls/icon.tsx'
import { CardTable } from '../../controls/lists/card-table.tsx'
import type { Column } from '../../controls/lists/record-table.tsx'
import { notifyFailed } from '../../controls/notify.ts'
import { ErrorNotice } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { peopleTexts } from '../../texts/people.ts'
import { agentName } from './agent-name.ts'

/** Where a user is signed in. */
export function Sessions({ owner }: { readonly owner: Owner }) {
  const { data = [], error } = useQuery({ ...sessionsQuery(owner), retry: false })
  const end: Column<UserSession> = {
    id: 'end',
    label: '',
    width: 48,
    render: (session) => <EndSession owner={owner} session={session} />,
  }
  const others = data.filter(({ current }) => !current)
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Title order={2}>{peopleTexts.sessions}</Title>
        {others.length > 0 ? (
          <Button variant="default" onClick={() => askToEndAll(owner, others.length)}>
            {owner === 'me' ? peopleTexts.endAllOthers : peopleTexts.endAll}
          </Button>
        ) : null}
      </Group>
      {error ? <ErrorNotice error={error} title={peopleTexts.couldNotLoadSessions} /> : null}
      {data.length === 0 ? (
        <Text size="sm" c="dimmed">
          {peopleTexts.notSignedInAnywhere}
        </Text>
      ) : (
        <CardTable
          label={peopleTexts.sessions}
          columns={[...columns, end]}
          records={data}
          keyOf={({ _meta }) => _meta.guid}
          minWidth={480}
        />
      )}
    </Stack>
  )
}

const columns: readonly Column<UserSession>[] = [
  {
    id: 'agent',
    label: peopleTexts.signedInWith,
    render: ({ agent, current }) => (
      <Group gap={6} title={agent}>
        {agentName(agent)}
        {current ? <Badge color="petrol">{peopleTexts.thisOne}</Badge> : null}
      </Group>
    ),
  },
  { id: 'ip', label: peopleTexts.address, render: ({ ip }) => <span className="numbers">{ip}</span> },
  { id: 'created', label: peopleTexts.signedIn, width: 120, render: ({ created }) => <Time at={created} /> },
  { id: 'used', label: peopleTexts.lastUsed, width: 120, render: ({ last_used }) => <Time at={last_used} /> },
]

interface EndSessionProps {
  readonly owner: Owner
  readonly session: UserSession
}

function EndSession({ owner, session: { _meta, agent, ip, current } }: EndSessionProps) {
  if (current) return null
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={peopleTexts.endTheSessionOf(agentName(agent), ip)}
      title={peopleTexts.end}
      onClick={() =>
        void endSession(owner, _meta.guid).catch((error) =>
          notifyFailed(peopleTexts.sessionCouldNotEnded, error),
        )
      }
    >
      <Icon name="close" size={16} />
    </ActionIcon>
  )
}

function askToEndAll(owner: Owner, count: number): void {
  confirm({
    title: peopleTexts.endSessions(count),
    text: peopleTexts.endSessionsText,
    action: peopleTexts.end,
    run: () => endSessions(owner),
  })
}

/** The accounts at sign-in providers that sign in a user; nothing where there are none. */
export function LinkedAccounts({ owner }: { readonly owner: Owner }) {
  const { data = [], error } = useQuery({ ...accountsQuery(owner), retry: false })
  if (data.length === 0 && !error) return null
  const end: Column<LinkedAccount> = {
    ...{ id: 'end', label: '', width: 48 },
    render: (account) => <EndAccount owner={owner} account={account} />,
  }
  return (
    <Stack gap="sm">
      <Title order={2}>{peopleTexts.linkedAccounts}</Title>
      {error ? <ErrorNotice error={error} title={peopleTexts.couldNotLoadAccounts} /> : null}
      <CardTable
        label={peopleTexts.linkedAccounts}
        columns={[...accountColumns, end]}
        records={data}
        keyOf={({ _meta }) => _meta.guid}
        minWidth={480}
      />
    </Stack>
  )
}

const accountColumns: readonly Column<LinkedAccount>[] = [
  { id: 'provider', label: peopleTexts.signInProvider, render: (account) => titleOf(account) },
  {
    id: 'account',
    label: peopleTexts.accountThere,
    render: ({ email, subject }) => <span title={subject}>{email === '' ? subject : email}</span>,
  },
  {
    id: 'linked',
    label: peopleTexts.linked,
    width: 120,
    render: ({ _meta }) => <Time at={_meta.created} />,
  },
  { id: 'used', label: peopleTexts.lastUsed, width: 120, render: ({ last_used }) => <Time at={last_used} /> },
]

/** Of a provider that was removed, its address. */
function titleOf({ title, issuer }: LinkedAccount): string {
  return title === '' ? issuer : title
}

function EndAccount({ owner, account }: { readonly owner: Owner; readonly account: LinkedAccount }) {
  const title = titleOf(account)
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={peopleTexts.endTheAccountOf(title)}
      title={peopleTexts.end}
      onClick={() =>
        confirm({
          title: peopleTexts.endAccount(title),
          text: peopleTexts.endAccountText,
          action: peopleTexts.end,
          run: () => endAccount(owner, account._meta.guid),
        })
      }
    >
      <Icon name="close" size={16} />
    </ActionIcon>
  )
}
