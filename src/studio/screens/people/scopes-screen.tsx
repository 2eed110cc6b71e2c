import { Anchor, Badge, Code, Group, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { BlockRecord } from '../../../shared/api/blueprints/blueprint-actions.ts'
import { groupsQuery, usersQuery } from '../../api/account.ts'
import { blueprintNamesQuery } from '../../api/blueprints.ts'
import { search } from '../../api/request.ts'
import { CardTable } from '../../controls/lists/card-table.tsx'
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
        <Code>{scope}</Code>
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
