import {
  ActionIcon,
  Button,
  Group,
  PasswordInput,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { AgentGrant } from '../../../shared/api/people/agents.ts'
import type { User } from '../../../shared/api/people/users.ts'
import { meQuery } from '../../api/account.ts'
import { agentsQuery, endAgent } from '../../api/credentials.ts'
import { queryClient } from '../../api/query-client.ts'
import { call } from '../../api/request.ts'
import { saveChanges } from '../../api/save-changes.ts'
import { signedOut } from '../../api/session.ts'
import { confirm } from '../../controls/confirm.ts'
import { fieldMessage } from '../../controls/field-errors.tsx'
import { useDraft } from '../../controls/hooks.ts'
import { Icon } from '../../controls/icon.tsx'
import { CardTable } from '../../controls/lists/card-table.tsx'
import type { Column } from '../../controls/lists/record-table.tsx'
import { notifyDone } from '../../controls/notify.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { ErrorNotice, LoadingScreen } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { LetterSwitch } from '../../shell/shortcuts-dialog.tsx'
import { peopleTexts } from '../../texts/people.ts'
import { ApiKeys } from './api-keys.tsx'
import { OwnPasskeys } from './passkeys.tsx'
import { OwnSecondFactor } from './second-factor.tsx'
import { LinkedAccounts, Sessions } from './sessions.tsx'

/** What users may change about themselves. */
export function AccountScreen() {
  const { data: me, error } = useQuery(meQuery)
  if (error) return <ErrorNotice error={error} title={peopleTexts.couldNotLoadYour} />
  if (!me) return <LoadingScreen />
  return (
    <>
      <ScreenHead title={peopleTexts.yourAccount} about={peopleTexts.yourAccountAbout(me.username)} />
      <Stack gap="xl" maw={620}>
        <Names me={me} />
        <Password />
        <Stack gap="sm">
          <Title order={2}>{peopleTexts.keyboard}</Title>
          <LetterSwitch />
        </Stack>
      </Stack>
      <Stack gap="xl" mt="xl" maw={900}>
        <OwnPasskeys />
        <OwnSecondFactor />
        <ApiKeys owner="me" />
        <Agents />
        <LinkedAccounts owner="me" />
        <Sessions owner="me" />
      </Stack>
    </>
  )
}

const names = {
  firstname: peopleTexts.firstName,
  lastname: peopleTexts.lastName,
  language: peopleTexts.language,
  timezone: peopleTexts.timeZone,
} as const
type Name = keyof typeof names

function namesOf({ firstname, lastname, language, timezone }: User): Record<Name, string> {
  return {
    firstname: firstname ?? '',
    lastname: lastname ?? '',
    language: language ?? '',
    timezone: timezone ?? '',
  }
}

/** Language and time zone can be left out, and not be empty. */
function bodyOf(sent: Record<Name, string>) {
  const input = Object.entries(sent).filter(([name, value]) => value !== '' || name.endsWith('name'))
  return Object.fromEntries(input)
}

function Names({ me }: { readonly me: User }) {
  const { draft, shown, set, saved } = useDraft(namesOf(me))
  const save = useMutation({
    mutationFn: (sent: typeof draft) =>
      saveChanges<User>('/users/me', bodyOf(sent), bodyOf(shown), {
        shownOf: (stored) => bodyOf(namesOf(stored)),
      }),
    onSuccess: async (_reply, sent) => {
      notifyDone(peopleTexts.saved)
      await queryClient.invalidateQueries({ queryKey: ['me'] })
      saved(sent)
    },
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate(draft)
      }}
    >
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          {(Object.keys(names) as Name[]).map((name) => (
            <TextInput
              key={name}
              label={names[name]}
              value={draft[name]}
              error={fieldMessage(save.error, name)}
              onChange={(event) => set(name, event.currentTarget.value)}
            />
          ))}
        </SimpleGrid>
        <ErrorNotice error={save.error} title={peopleTexts.notSaved} />
        <Group>
          <Button type="submit" loading={save.isPending}>
            {peopleTexts.save}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Password() {
  const { draft, set } = useDraft({ current: '', next: '' })
  const save = useMutation({
    mutationFn: () =>
      call('PUT', '/users/me', { body: { password: draft.next, current_password: draft.current } }),
    // The server signs the user out everywhere, here too.
    onSuccess: () => signedOut(true),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      <Stack gap="sm">
        <Title order={2}>{peopleTexts.password}</Title>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <PasswordInput
            label={peopleTexts.currentPassword}
            autoComplete="current-password"
            required
            value={draft.current}
            error={fieldMessage(save.error, 'current_password')}
            onChange={(event) => set('current', event.currentTarget.value)}
          />
          <PasswordInput
            label={peopleTexts.newPassword}
            description={peopleTexts.atLeast10Characters}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            autoComplete="new-password"
            required
            value={draft.next}
            error={fieldMessage(save.error, 'password')}
            onChange={(event) => set('next', event.currentTarget.value)}
          />
        </SimpleGrid>
        <ErrorNotice error={save.error} title={peopleTexts.passwordNotChanged} />
        <Group>
          <Button type="submit" variant="default" loading={save.isPending}>
            {peopleTexts.changePassword}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Agents that the user has let in by OAuth. */
function Agents() {
  const { data = [], error } = useQuery({ ...agentsQuery, retry: false })
  return (
    <Stack gap="sm">
      <Title order={2}>{peopleTexts.agents}</Title>
      {error ? <ErrorNotice error={error} title={peopleTexts.couldNotLoadAgents} /> : null}
      {data.length === 0 ? (
        <Text size="sm" c="dimmed">
          {peopleTexts.noAgents}
        </Text>
      ) : (
        <CardTable
          label={peopleTexts.agents}
          columns={columns}
          records={data}
          keyOf={({ guid }) => guid}
          minWidth={480}
        />
      )}
    </Stack>
  )
}

const columns: readonly Column<AgentGrant>[] = [
  {
    id: 'client',
    label: peopleTexts.agentColumn,
    render: ({ client, client_id: address }) => (
      <Stack gap={0}>
        {client}
        <Text size="xs" c="dimmed">
          {address}
        </Text>
      </Stack>
    ),
  },
  { id: 'scopes', label: peopleTexts.scopes, render: ({ scopes }) => scopes.join(', ') },
  { id: 'used', label: peopleTexts.lastUsed, width: 120, render: ({ last_used: at }) => <Time at={at} /> },
  { id: 'until', label: peopleTexts.until, width: 120, render: ({ expiry }) => <Time at={expiry} /> },
  { id: 'end', label: '', width: 48, render: (agent) => <EndAgent {...agent} /> },
]

function EndAgent({ guid, client }: AgentGrant) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={peopleTexts.endTheAgent(client)}
      title={peopleTexts.end}
      onClick={() =>
        confirm({
          title: peopleTexts.endAgent(client),
          text: peopleTexts.endAgentText,
          action: peopleTexts.end,
          run: () => endAgent(guid),
        })
      }
    >
      <Icon name="close" size={16} />
    </ActionIcon>
  )
}
