import {
  Button,
  Group,
  MultiSelect,
  PasswordInput,
  SimpleGrid,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import type { User } from '../../../shared/api/users.ts'
import { forgetPeople, groupsQuery } from '../../api/people.ts'
import { call } from '../../api/request.ts'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { fieldMessage } from '../../controls/field-errors.tsx'
import { notifyDone } from '../../controls/notify.ts'
import { useDraft } from '../../controls/use-draft.ts'
import { ScopeInput } from './scope-input.tsx'
import { bodyOfUser, draftOfUser } from './user-draft.ts'

const names = {
  firstname: 'First name',
  lastname: 'Last name',
  language: 'Language',
  timezone: 'Time zone',
} as const

/** Makes a user, or changes one. */
export function UserForm({ user }: { readonly user?: User }) {
  const [, go] = useLocation()
  const { draft, set } = useDraft(draftOfUser(user))
  const { data: groups = [] } = useQuery({ ...groupsQuery, retry: false })
  const save = useMutation({
    mutationFn: () =>
      user
        ? call<User>('PUT', `/users/${user._meta.guid}`, { body: bodyOfUser(draft) })
        : call<User>('POST', '/users', { body: bodyOfUser(draft) }),
    onSuccess: async ({ _meta, username }) => {
      notifyDone(user ? 'Saved' : `${username} may sign in`)
      await forgetPeople()
      if (!user) go(`/people/users/${_meta.guid}`, { replace: true })
    },
  })
  const error = (name: string) => fieldMessage(save.error, name)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      <Stack gap="md" maw={720}>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput
            label="User name"
            required
            autoComplete="off"
            value={draft.username}
            error={error('username')}
            onChange={(event) => set('username', event.currentTarget.value)}
          />
          <TextInput
            label="E-mail"
            type="email"
            autoComplete="off"
            value={draft.email}
            error={error('email')}
            onChange={(event) => set('email', event.currentTarget.value)}
          />
          {Object.entries(names).map(([name, label]) => (
            <TextInput
              key={name}
              label={label}
              placeholder={name === 'timezone' ? 'Europe/Amsterdam' : name === 'language' ? 'en' : ''}
              value={draft[name as keyof typeof names]}
              error={error(name)}
              onChange={(event) => set(name as keyof typeof names, event.currentTarget.value)}
            />
          ))}
        </SimpleGrid>
        <PasswordInput
          label={user ? 'New password' : 'Password'}
          description={
            user
              ? 'Leave empty to keep the password. A new one signs the user out everywhere.'
              : 'At least 10 characters.'
          }
          required={!user}
          autoComplete="new-password"
          value={draft.password}
          error={error('password')}
          onChange={(event) => set('password', event.currentTarget.value)}
        />
        <MultiSelect
          label="Groups"
          description="The user holds the scopes of each."
          data={groups.map((group) => ({ value: group._meta.guid, label: group.name }))}
          searchable
          value={[...draft.groups]}
          error={error('groups')}
          onChange={(list) => set('groups', list)}
        />
        <ScopeInput
          label="Scopes held directly"
          description="* grants everything. You can only grant scopes that you hold."
          value={draft.scopes}
          error={error('custom_scopes')}
          onChange={(list) => set('scopes', list)}
        />
        <Switch
          label="Active"
          description="An inactive user cannot sign in."
          checked={draft.isActive}
          onChange={(event) => set('isActive', event.currentTarget.checked)}
        />
        <ErrorNotice error={save.error} title="Could not save the user" />
        <Group>
          <Button type="submit" loading={save.isPending}>
            {user ? 'Save' : 'Create'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
