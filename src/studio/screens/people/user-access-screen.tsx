import { Anchor, Badge, Group, Stack, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { ExplainedUser } from '../../../shared/api/people/explain.ts'
import { call } from '../../api/request.ts'
import { CardTable } from '../../controls/lists/card-table.tsx'
import { SearchField } from '../../controls/lists/filters.tsx'
import { useListAddress } from '../../controls/lists/list-address.ts'
import type { Column } from '../../controls/lists/record-table.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { FailedScreen, LoadingScreen } from '../../controls/states.tsx'
import { MethodTag, PathText, ScopeBadge } from '../../controls/tags.tsx'
import { peopleTexts } from '../../texts/people.ts'
import type { ScreenProps } from '../screen-props.ts'

/** Rows of one table: a search finds the others. */
const SHOWN = 100

type Held = ExplainedUser['scopes'][number]
type EntryPoint = ExplainedUser['endpoints'][number]
type Storage = ExplainedUser['storages'][number]

/** What a user may do, and why: scopes with where they come from, endpoints, pages and storages. */
export function UserAccessScreen({ params }: ScreenProps) {
  const guid = params.guid ?? ''
  const [{ query }] = useListAddress()
  const parent = { href: `/people/users/${guid}`, label: peopleTexts.user }
  const { data, error, refetch } = useQuery({
    queryKey: ['people', 'users', 'explain', guid, query],
    queryFn: ({ signal }) =>
      call<ExplainedUser>('POST', `/users/${guid}/explain`, {
        body: { contains: query.slice(0, 200) },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
  if (error)
    return (
      <FailedScreen error={error} title={peopleTexts.couldNotLoadUser} parent={parent} onRetry={refetch} />
    )
  if (!data) return <LoadingScreen />
  const { user, scopes, endpoints, storages, total } = data
  return (
    <>
      <ScreenHead
        title={peopleTexts.mayDo(user.username)}
        parent={{ ...parent, label: user.username }}
        about={user.is_active ? peopleTexts.mayDoAbout : peopleTexts.mayDoInactive}
      />
      <Stack gap="xl">
        <Part
          title={peopleTexts.scopes}
          columns={scopeColumns}
          records={scopes}
          keyOf={({ scope }) => scope}
          total={scopes.length}
          empty={peopleTexts.holdsNoScopes}
        />
        <Group>
          <SearchField label={peopleTexts.searchAccess} />
        </Group>
        <Part
          title={peopleTexts.endpointsAndPages}
          columns={entryColumns}
          records={endpoints}
          keyOf={({ kind, method, uri }) => `${kind} ${method} ${uri}`}
          total={total.endpoints}
          empty={peopleTexts.noEndpointsFound}
        />
        <Part
          title={peopleTexts.storages}
          columns={storageColumns}
          records={storages}
          keyOf={({ name }) => name}
          total={total.storages}
          empty={peopleTexts.noStoragesFound}
        />
      </Stack>
    </>
  )
}

interface PartProps<T> {
  readonly title: string
  readonly columns: readonly Column<T>[]
  readonly records: readonly T[]
  readonly keyOf: (record: T) => string
  readonly total: number
  readonly empty: string
}

function Part<T>({ title, columns, records, keyOf, total, empty }: PartProps<T>) {
  const shown = records.slice(0, SHOWN)
  return (
    <Stack gap="sm">
      <Title order={2}>{title}</Title>
      {shown.length === 0 ? (
        <Text size="sm" c="dimmed">
          {empty}
        </Text>
      ) : (
        <CardTable label={title} columns={columns} records={shown} keyOf={keyOf} minWidth={640} />
      )}
      {total > shown.length ? (
        <Text size="sm" c="dimmed">
          {peopleTexts.andMoreFound(total - shown.length)}
        </Text>
      ) : null}
    </Stack>
  )
}

const scopeColumns: readonly Column<Held>[] = [
  {
    id: 'scope',
    label: peopleTexts.scope,
    width: '30%',
    render: ({ scope }) => <ScopeBadge scope={scope} />,
  },
  { id: 'from', label: peopleTexts.comesFrom, width: '25%', render: ({ from }) => from.join(', ') },
  {
    id: 'meaning',
    label: peopleTexts.allowsBeside,
    render: ({ meaning = '' }) => <Text size="sm">{meaning}</Text>,
  },
]

const entryColumns: readonly Column<EntryPoint>[] = [
  {
    id: 'address',
    label: peopleTexts.address,
    width: '36%',
    render: ({ method, uri }) => (
      <Group gap="xs" wrap="nowrap">
        <MethodTag method={method} />
        <PathText>{uri}</PathText>
      </Group>
    ),
  },
  {
    id: 'blueprint',
    label: peopleTexts.blueprint,
    width: '20%',
    render: ({ blueprint }) => (
      <Anchor
        component={Link}
        href={`/blueprints/${blueprint.guid}`}
        fz="sm"
        style={{ overflowWrap: 'anywhere' }}
      >
        {blueprint.name}
      </Anchor>
    ),
  },
  {
    id: 'allowed',
    label: peopleTexts.may,
    width: 90,
    render: ({ allowed }) => (
      <Badge color={allowed ? 'green' : 'gray'}>{allowed ? peopleTexts.yes : peopleTexts.no}</Badge>
    ),
  },
  { id: 'because', label: peopleTexts.why, render: ({ because }) => <Text size="sm">{because}</Text> },
]

const storageColumns: readonly Column<Storage>[] = [
  { id: 'name', label: peopleTexts.storage, width: '20%', render: ({ name }) => name },
  { id: 'see', label: peopleTexts.sees, render: ({ see }) => <Rule rule={see} /> },
  { id: 'create', label: peopleTexts.creates, render: ({ create }) => <Rule rule={create} /> },
  { id: 'change', label: peopleTexts.changes, render: ({ change }) => <Rule rule={change} /> },
  { id: 'remove', label: peopleTexts.removes, render: ({ remove }) => <Rule rule={remove} /> },
  {
    id: 'because',
    label: peopleTexts.why,
    width: '26%',
    render: ({ because }) => <Text size="sm">{because}</Text>,
  },
]

/** `all`, `none`, or the condition of a rule. */
function Rule({ rule }: { readonly rule: string }) {
  if (rule === 'all') return <Badge color="green">{peopleTexts.allDocuments}</Badge>
  if (rule === 'none') return <Badge color="gray">{peopleTexts.noDocuments}</Badge>
  return (
    <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
      {rule}
    </Text>
  )
}
