import { Badge, Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import type { User } from '../../../shared/api/people/users.ts'
import { findUsers, groupsQuery } from '../../api/account.ts'
import { Icon } from '../../controls/icon.tsx'
import { SearchField } from '../../controls/lists/filters.tsx'
import { type Column, NameCell, RecordTable } from '../../controls/lists/record-table.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { peopleTexts } from '../../texts/people.ts'
import { isLocked } from './user-draft.ts'

const columns: readonly Column<User>[] = [
  {
    id: 'username',
    label: peopleTexts.userName,
    sort: 'username',
    render: ({ username, firstname, lastname }) => (
      <NameCell name={username} about={[firstname, lastname].filter(Boolean).join(' ')} />
    ),
  },
  { id: 'email', label: peopleTexts.eMail, sort: 'email', render: ({ email }) => email },
  { id: 'groups', label: peopleTexts.groups, render: (user) => <Groups user={user} /> },
  {
    id: 'state',
    label: peopleTexts.state,
    sort: 'is_active',
    width: 110,
    render: (user) => <UserState user={user} />,
  },
  {
    id: 'activity',
    label: peopleTexts.lastActiveText,
    sort: 'last_activity',
    width: 130,
    render: ({ last_activity }) => <Time at={last_activity} never={peopleTexts.never} />,
  },
]

export function UsersScreen() {
  const [, go] = useLocation()
  useShortcut({ keys: 'n', label: peopleTexts.newUser, group: peopleTexts.users }, () =>
    go('/people/users/new'),
  )
  return (
    <>
      <ScreenHead title={peopleTexts.users} about={peopleTexts.usersAbout}>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => go('/people/users/new')}>
          {peopleTexts.newUser}
        </Button>
      </ScreenHead>
      <Group mb="sm">
        <SearchField label={peopleTexts.searchUsers} />
      </Group>
      <RecordTable<User>
        label={peopleTexts.users}
        queryKey={['people', 'users', 'list']}
        load={findUsers}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => `/people/users/${_meta.guid}`}
        empty={<EmptyState icon="people" title={peopleTexts.noMatch} />}
      />
    </>
  )
}

function Groups({ user }: { readonly user: User }) {
  const { data: groups = [] } = useQuery({ ...groupsQuery, retry: false })
  return (
    <Group gap={4}>
      {(user.groups ?? []).map((guid) => (
        <Badge key={guid} color="gray">
          {groups.find((group) => group._meta.guid === guid)?.name ?? '…'}
        </Badge>
      ))}
      {user.custom_scopes?.includes('*') ? <Badge color="sand">{peopleTexts.administrator}</Badge> : null}
    </Group>
  )
}

function UserState({ user }: { readonly user: User }) {
  if (!user.is_active) return <Badge color="gray">{peopleTexts.inactive}</Badge>
  if (user.invited_until) return <Badge color="sand">{peopleTexts.invited}</Badge>
  if (isLocked(user)) return <Badge color="red">{peopleTexts.locked}</Badge>
  if (user.is_service) return <Badge color="petrol">{peopleTexts.service}</Badge>
  return <Badge color="green">{peopleTexts.activeText}</Badge>
}
