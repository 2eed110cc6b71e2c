import { Anchor, Badge, Code, Group, Pagination, Skeleton, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'wouter'
import type { BlockRecord } from '../../../shared/api/blueprints/blueprint-actions.ts'
import type { WhoMay } from '../../../shared/api/people/explain.ts'
import { groupsQuery, usersQuery } from '../../api/account.ts'
import { blueprintNamesQuery } from '../../api/blueprints.ts'
import { call, search } from '../../api/request.ts'
import { CardTable } from '../../controls/lists/card-table.tsx'
import { SearchField } from '../../controls/lists/filters.tsx'
import { lastNumberedPage, useListAddress, whoMayPath } from '../../controls/lists/list-address.ts'
import type { Column } from '../../controls/lists/record-table.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState, ErrorNotice } from '../../controls/states.tsx'
import { peopleTexts } from '../../texts/people.ts'
import { meaningOf, type ScopeUse, scopeUses } from './known-scopes.ts'

const noNames: ReadonlyMap<string, string> = new Map()

/** Every scope that a user or group holds or a trigger requires, with both lists. */
export function ScopesScreen() {
  const groups = useQuery(groupsQuery)
  const users = useQuery(usersQuery)
  const triggers = useQuery({
    queryKey: ['blueprints', peopleTexts.scopedTriggers],
    queryFn: ({ signal }) =>
      search<BlockRecord>(
        '/blueprintactions/search',
        { filters: { scopes: { exists: true } }, limit: 1000 },
        signal,
      ),
  })
  const { data: names = noNames } = useQuery(blueprintNamesQuery)
  const error = groups.error ?? users.error ?? triggers.error
  const uses =
    groups.data && users.data && triggers.data
      ? scopeUses(groups.data, users.data, triggers.data.records)
      : undefined
  return (
    <>
      <ScreenHead title={peopleTexts.scopes} about={peopleTexts.scopesAbout} />
      {error ? <ErrorNotice error={error} title={peopleTexts.couldNotLoadScopes} /> : null}
      {uses ? (
        <ScopeTable uses={uses} names={names} />
      ) : (
        <div className="surface">
          <Skeleton height={240} />
        </div>
      )}
    </>
  )
}

interface ScopeTableProps {
  readonly uses: readonly ScopeUse[]
  /** Of blueprints, by guid. */
  readonly names: ReadonlyMap<string, string>
}

function ScopeTable({ uses, names }: ScopeTableProps) {
  if (uses.length === 0)
    return (
      <div className="surface">
        <EmptyState icon="key" title={peopleTexts.noScopesInUse} />
      </div>
    )
  const access: Column<ScopeUse> = {
    id: 'access',
    label: peopleTexts.grantsAccessTo,
    render: ({ blueprints }) =>
      blueprints.length === 0 ? null : (
        <Group gap={8}>
          {blueprints.map((guid) => (
            <Anchor
              key={guid}
              component={Link}
              href={`/blueprints/${guid}`}
              size="sm"
              style={{ overflowWrap: 'anywhere' }}
            >
              {names.get(guid) ?? guid}
            </Anchor>
          ))}
        </Group>
      ),
  }
  return (
    <CardTable
      label={peopleTexts.scopes}
      columns={[...columns, access]}
      records={uses}
      keyOf={({ scope }) => scope}
      minWidth={720}
    />
  )
}

const columns: readonly Column<ScopeUse>[] = [
  {
    id: 'scope',
    label: peopleTexts.scope,
    render: ({ scope }) => (
      <div>
        <Anchor component={Link} href={whoMayPath('scope', scope)} size="sm">
          <Code>{scope}</Code>
        </Anchor>
        <Text size="xs" c="dimmed">
          {meaningOf(scope)}
        </Text>
      </div>
    ),
  },
  { id: 'groups', label: peopleTexts.heldByGroups, render: ({ groups }) => <Badges names={groups} /> },
  { id: 'users', label: peopleTexts.heldByUsers, render: ({ users }) => <Badges names={users} /> },
]

function Badges({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <Group gap={4}>
      {names.map((name) => (
        <Badge key={name} color="gray">
          {name}
        </Badge>
      ))}
    </Group>
  )
}

const subjects = ['endpoint', 'page', 'storage', 'scope'] as const
const OF_ONE_PAGE = 50

/** Who may call an endpoint, open a page, use a storage or hold a scope, and why: the address says which. */
export function WhoMayScreen() {
  const [words] = useSearchParams()
  const subject = subjects.find((one) => words.has(one))
  const named = subject === undefined ? '' : (words.get(subject) ?? '')
  const [{ query, page }] = useListAddress()
  const found = useQuery({
    queryKey: ['people', 'who-may', subject, named, query, page],
    queryFn: ({ signal }) => {
      const offset = Math.min(page - 1, lastNumberedPage(OF_ONE_PAGE) - 1) * OF_ONE_PAGE
      const body = { [subject ?? '']: named, offset, ...(query !== '' && { contains: query.slice(0, 200) }) }
      return call<WhoMay>('POST', '/users/explain', { body, signal })
    },
    enabled: named !== '',
    placeholderData: keepPreviousData,
  })
  const parent = { href: '/people', label: peopleTexts.users }
  return (
    <>
      <ScreenHead title={peopleTexts.whoMay(named)} parent={parent} about={found.data?.because} />
      {found.error ? <ErrorNotice error={found.error} onRetry={found.refetch} /> : null}
      <Group mb="sm">
        <SearchField label={peopleTexts.searchUsers} />
      </Group>
      {found.data ? <WhoMayTable {...found.data} page={page} /> : null}
    </>
  )
}

function WhoMayTable({ open_to, groups, users, total, page }: WhoMay & { readonly page: number }) {
  const [, readdress] = useListAddress()
  const isRuled = users.some(({ see }) => see !== undefined)
  if (users.length === 0)
    return (
      <EmptyState
        icon="people"
        title={open_to === 'public' ? peopleTexts.publicScope : peopleTexts.noMatch}
      />
    )
  return (
    <>
      {groups.length === 0 ? null : (
        <Group gap={4} mb="sm">
          <Text size="sm">{peopleTexts.heldByGroups}</Text>
          <Badges names={groups.map(({ name }) => name)} />
        </Group>
      )}
      <CardTable
        label={peopleTexts.users}
        columns={isRuled ? [userColumn, ...ruleColumns] : [userColumn, whyColumn]}
        records={users}
        keyOf={({ guid }) => guid}
        minWidth={640}
      />
      {total > OF_ONE_PAGE ? (
        <Pagination
          mt="sm"
          total={Math.min(Math.ceil(total / OF_ONE_PAGE), lastNumberedPage(OF_ONE_PAGE))}
          value={page}
          onChange={(next) => readdress({ page: String(next) })}
        />
      ) : null}
    </>
  )
}

type Allowed = WhoMay['users'][number]

const userColumn: Column<Allowed> = {
  id: 'user',
  label: peopleTexts.user,
  render: ({ guid, username }) => (
    <Anchor
      component={Link}
      href={`/people/users/${guid}/access`}
      size="sm"
      style={{ overflowWrap: 'anywhere' }}
    >
      {username}
    </Anchor>
  ),
}
const whyColumn: Column<Allowed> = { id: 'because', label: peopleTexts.why, render: ({ because }) => because }
const ruleColumns: readonly Column<Allowed>[] = [
  { id: 'see', label: peopleTexts.sees, render: ({ see }) => see },
  { id: 'create', label: peopleTexts.creates, render: ({ create }) => create },
  { id: 'change', label: peopleTexts.changes, render: ({ change }) => change },
  { id: 'remove', label: peopleTexts.removes, render: ({ remove }) => remove },
]
