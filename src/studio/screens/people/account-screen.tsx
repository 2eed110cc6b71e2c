import { Button, Group, PasswordInput, SimpleGrid, Stack, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { User } from '../../../shared/api/users.ts'
import { meQuery } from '../../api/me.ts'
import { queryClient } from '../../api/query-client.ts'
import { call } from '../../api/request.ts'
import { signedOut } from '../../api/session.ts'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { fieldMessage } from '../../controls/field-errors.tsx'
import { LoadingScreen } from '../../controls/loading-screen.tsx'
import { notifyDone } from '../../controls/notify.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { useDraft } from '../../controls/use-draft.ts'
import { LetterSwitch } from '../../shell/letter-switch.tsx'
import { ApiKeys } from './api-keys.tsx'
import { Sessions } from './sessions.tsx'

/** What users may change about themselves. */
export function AccountScreen() {
  const { data: me, error } = useQuery(meQuery)
  if (error) return <ErrorNotice error={error} title="Could not load your account" />
  if (!me) return <LoadingScreen />
  return (
    <>
      <ScreenHead title="Your account" about={`You are signed in as ${me.username}.`} />
      <Stack gap="xl" maw={620}>
        <Names key={me._meta.update_hash} me={me} />
        <Password />
        <Stack gap="sm">
          <Title order={2}>Keyboard</Title>
          <LetterSwitch />
        </Stack>
      </Stack>
      <Stack gap="xl" mt="xl" maw={900}>
        <ApiKeys owner="me" />
        <Sessions owner="me" />
      </Stack>
    </>
  )
}

const names = {
  firstname: 'First name',
  lastname: 'Last name',
  language: 'Language',
  timezone: 'Time zone',
} as const
type Name = keyof typeof names

function Names({ me }: { readonly me: User }) {
  const { draft, set } = useDraft<Record<Name, string>>({
    firstname: me.firstname ?? '',
    lastname: me.lastname ?? '',
    language: me.language ?? '',
    timezone: me.timezone ?? '',
  })
  const save = useMutation({
    mutationFn: () => {
      const given = Object.entries(draft).filter(([name, value]) => value !== '' || name.endsWith('name'))
      return call('PUT', '/users/me', { body: Object.fromEntries(given) })
    },
    onSuccess: async () => {
      notifyDone('Saved')
      await queryClient.invalidateQueries({ queryKey: ['me'] })
    },
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
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
        <ErrorNotice error={save.error} title="Not saved" />
        <Group>
          <Button type="submit" loading={save.isPending}>
            Save
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
        <Title order={2}>Password</Title>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            value={draft.current}
            error={fieldMessage(save.error, 'current_password')}
            onChange={(event) => set('current', event.currentTarget.value)}
          />
          <PasswordInput
            label="New password"
            description="At least 10 characters."
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            autoComplete="new-password"
            required
            value={draft.next}
            error={fieldMessage(save.error, 'password')}
            onChange={(event) => set('next', event.currentTarget.value)}
          />
        </SimpleGrid>
        <ErrorNotice error={save.error} title="The password could not be changed" />
        <Group>
          <Button type="submit" variant="default" loading={save.isPending}>
            Change it and sign in again
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
