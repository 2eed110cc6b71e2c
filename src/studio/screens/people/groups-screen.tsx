import { Badge, Button, Group as Row, Text } from '@mantine/core'
import type { Group } from '../../../shared/api/people/users.ts'
import { findGroups, forgetPeople } from '../../api/people.ts'
import { call } from '../../api/request.ts'
import { confirm } from '../../controls/confirm.ts'
import { EmptyState } from '../../controls/empty-state.tsx'
import { Icon } from '../../controls/icon.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { RecordTable } from '../../controls/lists/record-table.tsx'
import { SearchField } from '../../controls/lists/search-field.tsx'
import { openAddress } from '../../controls/open-address.ts'
import { RemoveAction } from '../../controls/remove-action.tsx'
import { ScopeBadge } from '../../controls/scope-badge.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { useOpened } from '../../controls/use-opened.ts'
import { peopleTexts } from '../../texts/people.ts'
import { GroupDialog } from './group-dialog.tsx'

const SHOWN = 5

const columns: readonly Column<Group>[] = [
  {
    id: 'name',
    label: peopleTexts.group,
    sort: 'name',
    width: '30%',
    render: ({ name, description }) => (
      <>
        {name}
        <Text size="xs" c="dimmed" fw={400} lineClamp={1}>
          {description}
        </Text>
      </>
    ),
  },
  {
    id: 'scopes',
    label: peopleTexts.scopes,
    render: ({ scopes }) => (
      <Row gap={4}>
        {scopes.slice(0, SHOWN).map((scope) => (
          <ScopeBadge key={scope} scope={scope} />
        ))}
        {scopes.length > SHOWN ? (
          <Text size="xs" c="dimmed">
            {peopleTexts.andMore(scopes.length - SHOWN)}
          </Text>
        ) : null}
      </Row>
    ),
  },
  {
    id: 'state',
    label: peopleTexts.state,
    sort: 'is_active',
    width: 110,
    render: ({ is_active }) => (
      <Badge color={is_active ? 'green' : 'gray'}>
        {is_active ? peopleTexts.activeText : peopleTexts.inactive}
      </Badge>
    ),
  },
  {
    id: 'remove',
    label: '',
    width: 48,
    render: (group) => (
      <RemoveAction label={peopleTexts.removeTheGroup(group.name)} onClick={() => askToRemove(group)} />
    ),
  },
]

/** Authentication groups: names for sets of scopes. */
export function GroupsScreen() {
  const [open, show] = useOpened()
  const [, , words] = useListAddress()
  return (
    <>
      <ScreenHead title={peopleTexts.groups} about={peopleTexts.groupsAbout}>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => show('new')}>
          {peopleTexts.newGroup}
        </Button>
      </ScreenHead>
      <Row mb="sm">
        <SearchField label={peopleTexts.searchGroups} />
      </Row>
      <RecordTable<Group>
        label={peopleTexts.groups}
        queryKey={['people', 'groups', 'list']}
        load={findGroups}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress('/people/groups', words, _meta.guid)}
        empty={
          <EmptyState icon="people" title={peopleTexts.noGroups}>
            <Text size="sm">{peopleTexts.noGroupsText}</Text>
          </EmptyState>
        }
      />
      <GroupDialog guid={open} onClose={() => show('')} />
    </>
  )
}

function askToRemove({ _meta, name }: Group): void {
  confirm({
    title: peopleTexts.removeTheGroupTitle(name),
    text: peopleTexts.removeTheGroupText,
    action: peopleTexts.remove,
    run: async () => {
      await call('DELETE', `/_system/authentication-groups/${_meta.guid}`)
      await forgetPeople()
    },
  })
}
