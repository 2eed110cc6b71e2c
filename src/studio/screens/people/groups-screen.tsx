import {
  ActionIcon,
  Badge,
  Button,
  NumberInput,
  Group as Row,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Group } from '../../../shared/api/people/users.ts'
import { findGroups, forgetPeople, readGroup, usersOfGroup } from '../../api/account.ts'
import { queryClient } from '../../api/query-client.ts'
import { call } from '../../api/request.ts'
import { saveChanges } from '../../api/save-changes.ts'
import { RemoveAction } from '../../controls/actions.tsx'
import { confirm } from '../../controls/confirm.ts'
import { useFieldError } from '../../controls/field-errors.tsx'
import { FormDialog, ReadForm } from '../../controls/form-dialog.tsx'
import { useDraft, useOpened } from '../../controls/hooks.ts'
import { Icon } from '../../controls/icon.tsx'
import { SearchField } from '../../controls/lists/filters.tsx'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { type Column, NameCell, RecordTable } from '../../controls/lists/record-table.tsx'
import { openAddress } from '../../controls/save-file.ts'
import { scopeLabels } from '../../controls/scope-labels.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState } from '../../controls/states.tsx'
import { ScopeBadge } from '../../controls/tags.tsx'
import { peopleTexts } from '../../texts/people.ts'
import { rightsTexts } from '../../texts/properties.ts'
import { changedRights, type Rights } from './known-scopes.ts'
import { ChangedRights, ScopeInput } from './scope-input.tsx'

const SHOWN = 5

const columns: readonly Column<Group>[] = [
  {
    id: 'name',
    label: peopleTexts.group,
    sort: 'name',
    width: '30%',
    render: ({ name, description }) => <NameCell name={name} about={description} />,
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
      <RemoveAction label={peopleTexts.removeTheGroup(group.name)} onClick={() => void askToRemove(group)} />
    ),
  },
]

/** Begins the name of a dialog that makes a group like another one; its guid follows. */
const COPY = 'copy-'

function copyColumn(show: (dialog: string) => void): Column<Group> {
  return {
    id: 'copy',
    label: '',
    width: 48,
    render: ({ _meta, name }) => (
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={peopleTexts.copyTheGroup(name)}
        title={peopleTexts.copy}
        onClick={(event) => {
          event.preventDefault()
          show(`${COPY}${_meta.guid}`)
        }}
      >
        <Icon name="copy" size={16} />
      </ActionIcon>
    ),
  }
}

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
        columns={columns.toSpliced(-1, 0, copyColumn(show))}
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

async function askToRemove({ _meta, name, ...group }: Group): Promise<void> {
  // Without the scope to view users they are not counted.
  const count = await queryClient.fetchQuery(usersOfGroup(_meta.guid)).catch(() => undefined)
  const words = rightsOf(group).scopes.map(scopeLabels).join(', ')
  confirm({
    title: peopleTexts.removeTheGroupTitle(name),
    text: `${rightsTexts.removeTheGroupText(rightsTexts.usersOfGroup(count), words)} ${words === '' ? '' : rightsTexts.heldElsewhere}`,
    action: peopleTexts.remove,
    run: async () => {
      await call('DELETE', `/_system/authentication-groups/${_meta.guid}`)
      await forgetPeople()
    },
  })
}

interface GroupDialogProps {
  /** Of the group; `new`, or empty for none. */
  readonly guid: string
  readonly onClose: () => void
}

function GroupDialog({ guid, onClose }: GroupDialogProps) {
  const isCopy = guid.startsWith(COPY)
  const source = isCopy ? guid.slice(COPY.length) : guid
  return (
    <ReadForm guid={source} queryKey={['people', 'groups', 'one']} load={readGroup} onClose={onClose}>
      {(group) =>
        group === undefined ? (
          <Opened onClose={onClose} />
        ) : (
          <Opened {...(isCopy ? { like: group } : { group })} onClose={onClose} />
        )
      }
    </ReadForm>
  )
}

interface OpenedProps {
  /** That is changed. */
  readonly group?: Group
  /** That the new one begins like. */
  readonly like?: Group
  readonly onClose: () => void
}

function Opened({ group, like, onClose }: OpenedProps) {
  const { description, scopes, is_active, second_factor_days } = group ??
    like ?? {
      description: '',
      scopes: [],
      is_active: true,
      second_factor_days: null,
    }
  const name = group?.name ?? (like ? peopleTexts.copyOf(like.name) : '')
  const form = useDraft<GroupDraft>({ name, description, scopes, is_active, second_factor_days })
  const submit = async () => {
    if (group) await saveChanges(`/_system/authentication-groups/${group._meta.guid}`, form.draft, form.shown)
    else await call('POST', '/_system/authentication-groups', { body: form.draft })
    await forgetPeople()
  }
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={group ? group.name : peopleTexts.newGroup}
      action={group ? peopleTexts.save : peopleTexts.create}
      submit={submit}
    >
      <Fields form={form} />
      <Changes group={group} draft={form.draft} />
    </FormDialog>
  )
}

type GroupDraft = Pick<Group, 'name' | 'description' | 'scopes' | 'is_active' | 'second_factor_days'>
type Draft = ReturnType<typeof useDraft<GroupDraft>>

function Fields({ form: { draft, set } }: { readonly form: Draft }) {
  const error = useFieldError()
  return (
    <>
      <TextInput
        label={peopleTexts.name}
        required
        data-autofocus
        value={draft.name}
        error={error('name')}
        onChange={(event) => set('name', event.currentTarget.value)}
      />
      <Textarea
        label={peopleTexts.description}
        autosize
        value={draft.description}
        error={error('description')}
        onChange={(event) => set('description', event.currentTarget.value)}
      />
      <ScopeInput
        label={peopleTexts.scopes}
        description={peopleTexts.groupScopesHelp}
        value={draft.scopes}
        error={error('scopes')}
        onChange={(scopes) => set('scopes', scopes)}
      />
      <NumberInput
        label={peopleTexts.factorDays}
        description={peopleTexts.factorDaysHelp}
        min={0}
        max={90}
        allowDecimal={false}
        value={draft.second_factor_days ?? ''}
        error={error('second_factor_days')}
        onChange={(days) => set('second_factor_days', typeof days === 'number' ? days : null)}
      />
      <Switch
        label={peopleTexts.active}
        description={peopleTexts.activeHelp}
        checked={draft.is_active}
        onChange={(event) => set('is_active', event.currentTarget.checked)}
      />
    </>
  )
}

interface ChangesProps {
  /** As it is stored; of a new one nothing is. */
  readonly group: Group | undefined
  readonly draft: GroupDraft
}

/** What the group gives to its users from then on, and to how many of them. */
function Changes({ group, draft }: ChangesProps) {
  const rights = changedRights(rightsOf(group), rightsOf(draft), [])
  const isChanged = rights.added.length + rights.removed.length > 0
  const counted = useQuery({
    ...usersOfGroup(group?._meta.guid ?? ''),
    enabled: isChanged && group !== undefined,
  })
  const count = group === undefined ? 0 : counted.data
  return (
    <ChangedRights
      who={rightsTexts.usersOfGroup(count)}
      {...rights}
      {...(rights.removed.length > 0 && { note: rightsTexts.heldElsewhere })}
    />
  )
}

function rightsOf(group: Pick<Group, 'scopes' | 'is_active'> | undefined): Rights {
  return { scopes: group?.is_active ? group.scopes : [], groups: [] }
}
