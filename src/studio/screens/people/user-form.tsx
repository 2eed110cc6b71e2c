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
import type { User } from '../../../shared/api/people/users.ts'
import { forgetPeople, groupsQuery } from '../../api/account.ts'
import { settingsQuery } from '../../api/operate.ts'
import { call } from '../../api/request.ts'
import { saveChanges } from '../../api/save-changes.ts'
import { fieldMessage } from '../../controls/field-errors.tsx'
import { useDraft } from '../../controls/hooks.ts'
import { notifyDone } from '../../controls/notify.ts'
import { ErrorNotice } from '../../controls/states.tsx'
import { peopleTexts } from '../../texts/people.ts'
import { rightsTexts } from '../../texts/properties.ts'
import { changedRights } from './known-scopes.ts'
import { ChangedRights, ScopeInput } from './scope-input.tsx'
import { bodyOfInvitation, bodyOfUser, draftOfUser, lacksMail, type UserDraft } from './user-draft.ts'

const names = {
  firstname: peopleTexts.firstName,
  lastname: peopleTexts.lastName,
  language: peopleTexts.language,
  timezone: peopleTexts.timeZone,
} as const

/** Makes a user, or changes one. */
export function UserForm({ user }: { readonly user?: User }) {
  const [, go] = useLocation()
  const { draft, shown, set, saved } = useDraft(draftOfUser(user))
  const { data: settings } = useQuery({ ...settingsQuery, retry: false })
  const { data: groups = [] } = useQuery({ ...groupsQuery, retry: false })
  const save = useMutation({
    mutationFn: (sent: typeof draft) =>
      user
        ? saveChanges<User>(`/users/${user._meta.guid}`, bodyOfUser(sent), bodyOfUser(shown), {
            shownOf: (stored) => bodyOfUser(draftOfUser(stored)),
          })
        : sent.invite
          ? call<User>('POST', '/users/invite', { body: bodyOfInvitation(sent) })
          : call<User>('POST', '/users', { body: bodyOfUser(sent) }),
    onSuccess: async ({ _meta, username }, sent) => {
      notifyDone(
        user
          ? peopleTexts.saved
          : sent.invite
            ? peopleTexts.getsAMailText(username)
            : sent.service
              ? peopleTexts.needsAKey(username)
              : peopleTexts.maySignIn(username),
      )
      await forgetPeople()
      saved(sent)
      if (!user) go(`/people/users/${_meta.guid}`, { replace: true })
    },
  })
  const error = (name: string) => fieldMessage(save.error, name)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate(draft)
      }}
    >
      <Stack gap="md" maw={720}>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput
            label={peopleTexts.userName}
            data-autofocus={user === undefined || undefined}
            autoFocus={user === undefined}
            description={draft.invite ? peopleTexts.userNameHelp : undefined}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            required={!draft.invite}
            autoComplete="off"
            value={draft.username}
            error={error('username')}
            onChange={(event) => set('username', event.currentTarget.value)}
          />
          {draft.service ? null : (
            <TextInput
              label={peopleTexts.eMail}
              type="email"
              required={draft.invite}
              autoComplete="off"
              value={draft.email}
              error={error('email')}
              onChange={(event) => set('email', event.currentTarget.value)}
            />
          )}
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
        {user ? null : <KindOfUser draft={draft} set={set} hasMail={!lacksMail(settings)} />}
        {draft.invite || draft.service ? null : (
          <Password
            isNew={user === undefined}
            value={draft.password}
            error={error('password')}
            onChange={(password) => set('password', password)}
          />
        )}
        <MultiSelect
          label={peopleTexts.groups}
          description={peopleTexts.groupsHelp}
          data={groups.map((group) => ({ value: group._meta.guid, label: group.name }))}
          searchable
          value={[...draft.groups]}
          error={error('groups')}
          onChange={(list) => set('groups', list)}
        />
        <ScopeInput
          label={peopleTexts.scopesHeldDirectly}
          description={peopleTexts.scopesHeldDirectlyHelp}
          value={draft.scopes}
          error={error('custom_scopes')}
          onChange={(list) => set('scopes', list)}
        />
        <Switch
          label={peopleTexts.active}
          description={peopleTexts.userActiveHelp}
          checked={draft.isActive}
          onChange={(event) => set('isActive', event.currentTarget.checked)}
        />
        <ChangedRights who={rightsTexts.theUser} {...changedRights(draftOfUser(user), draft, groups)} />
        <ErrorNotice error={save.error} title={peopleTexts.couldNotSaveUser} />
        <Group>
          <Button type="submit" loading={save.isPending}>
            {user ? peopleTexts.save : draft.invite ? peopleTexts.invite : peopleTexts.create}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

interface KindOfUserProps {
  readonly draft: UserDraft
  readonly set: (name: 'invite' | 'service', on: boolean) => void
  readonly hasMail: boolean
}

/** Of a new user: a person with a password, one who is invited, or a program. */
function KindOfUser({ draft, set, hasMail }: KindOfUserProps) {
  return (
    <>
      {draft.invite ? null : (
        <Switch
          label={peopleTexts.serviceAccount}
          description={peopleTexts.serviceAccountHelp}
          checked={draft.service}
          onChange={(event) => set('service', event.currentTarget.checked)}
        />
      )}
      {draft.service ? null : (
        <Switch
          label={peopleTexts.inviteByMail}
          description={peopleTexts.inviteByMailHelp(hasMail)}
          checked={draft.invite}
          onChange={(event) => set('invite', event.currentTarget.checked)}
        />
      )}
    </>
  )
}

interface PasswordProps {
  readonly isNew: boolean
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (password: string) => void
}

function Password({ isNew, value, error, onChange }: PasswordProps) {
  return (
    <PasswordInput
      label={isNew ? peopleTexts.password : peopleTexts.newPassword}
      description={isNew ? peopleTexts.atLeast10Characters : peopleTexts.newPasswordHelp}
      required={isNew}
      autoComplete="new-password"
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
