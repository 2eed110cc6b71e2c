import { Badge, Group, Text } from '@mantine/core'
import type { UserLog } from '../../../shared/api/user-logs.ts'
import { findUserLogs } from '../../api/operations.ts'
import { duration } from '../../controls/amounts.ts'
import { EmptyState } from '../../controls/empty-state.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { RecordTable } from '../../controls/lists/record-table.tsx'
import { SearchField } from '../../controls/lists/search-field.tsx'
import { filtersOf, SelectFilter } from '../../controls/lists/select-filter.tsx'
import { MethodTag } from '../../controls/method-tag.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { Time } from '../../controls/time.tsx'

const events = {
  sign_in: ['signed in', 'green'],
  sign_in_failed: ['sign-in failed', 'red'],
  sign_out: ['signed out', 'gray'],
  request: ['request', 'petrol'],
  lost: ['lost', 'sand'],
} as const

/** The first path; the record itself lists all. */
function pathText(path: NonNullable<UserLog['path']>): string {
  const [first = '', ...more] = typeof path === 'string' ? [path] : path
  return more.length === 0 ? first : `${first} and ${more.length} more`
}

const columns: readonly Column<UserLog>[] = [
  {
    id: 'user',
    label: 'User',
    sort: 'user.username',
    width: 110,
    render: ({ user }) => user?.username ?? 'unknown user',
  },
  {
    id: 'event',
    label: 'What',
    sort: 'event',
    width: 105,
    render: ({ event }) => <Badge color={events[event][1]}>{events[event][0]}</Badge>,
  },
  {
    id: 'path',
    label: 'Request',
    render: ({ method, path, count }) =>
      count !== undefined ? (
        <Text size="sm">{count} requests could not be recorded in time</Text>
      ) : path === undefined ? null : (
        <Group gap={6} wrap="nowrap">
          <MethodTag method={method ?? ''} />
          <Text fz={13} ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {pathText(path)}
          </Text>
        </Group>
      ),
  },
  {
    id: 'status',
    label: 'Status',
    sort: 'status',
    numeric: true,
    width: 80,
    render: ({ status }) => status ?? '',
  },
  {
    id: 'time',
    label: 'Took',
    sort: 'milliseconds',
    numeric: true,
    width: 90,
    render: ({ milliseconds }) => (milliseconds === undefined ? '' : duration(milliseconds)),
  },
  {
    id: 'ip',
    label: 'From',
    sort: 'ip',
    width: 110,
    render: ({ ip, agent }) => <span title={agent}>{ip}</span>,
  },
  {
    id: 'when',
    label: 'When',
    sort: '_meta.cms',
    width: 170,
    render: ({ _meta }) => <Time at={_meta.created} exact />,
  },
]

/** Who signed in, and what users asked for. */
export function UserLogScreen() {
  const [, , words] = useListAddress()
  return (
    <>
      <ScreenHead title="User log" about="Sign-ins, and the requests of users. Kept for 30 days." />
      <Group mb="sm" gap="sm">
        <SearchField label="Search the user log" />
        <SelectFilter
          name="event"
          label="What"
          options={Object.entries(events).map(([value, [label]]) => ({ value, label }))}
        />
      </Group>
      <RecordTable<UserLog>
        label="User log"
        queryKey={['logs', 'user']}
        load={findUserLogs}
        body={filtersOf(words, { event: 'event', user: 'user.username' })}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        minWidth={900}
        empty={<EmptyState icon="people" title="No match" />}
      />
    </>
  )
}
