import { Badge, Group, Switch, Text } from '@mantine/core'
import type { UserLog } from '../../../shared/api/people/users.ts'
import { findUserLogs } from '../../api/operations.ts'
import { duration } from '../../controls/amounts.ts'
import { filtersOf, SearchField, SelectFilter } from '../../controls/lists/filters.tsx'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { type Column, RecordTable } from '../../controls/lists/record-table.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState } from '../../controls/states.tsx'
import { MethodTag, PathText } from '../../controls/tags.tsx'
import { Time } from '../../controls/time.tsx'
import { operateTexts } from '../../texts/operate.ts'
import { useRetention } from './retention-labels.ts'

const events = {
  sign_in: [operateTexts.signedIn, 'green'],
  sign_in_failed: [operateTexts.signInFailed, 'red'],
  sign_out: [operateTexts.signedOut, 'gray'],
  password_reset_sent: [operateTexts.password.mailSent, 'gray'],
  password_set_by_link: [operateTexts.password.setByLink, 'green'],
  signed_up: [operateTexts.signedUp, 'green'],
  request: [operateTexts.requestEvent, 'petrol'],
  lost: [operateTexts.lostEvent, 'sand'],
} as const

/** The first path; the record itself lists all. */
function pathText(path: NonNullable<UserLog['path']>): string {
  const [first = '', ...more] = typeof path === 'string' ? [path] : path
  return more.length === 0 ? first : operateTexts.firstAndMore(first, more.length)
}

const columns: readonly Column<UserLog>[] = [
  {
    id: 'user',
    label: operateTexts.user,
    sort: 'user.username',
    width: 90,
    render: ({ user }) => user?.username ?? operateTexts.unknownUser,
  },
  {
    id: 'event',
    label: operateTexts.what,
    sort: 'event',
    width: 105,
    render: ({ event }) => <Badge color={events[event][1]}>{events[event][0]}</Badge>,
  },
  {
    id: 'path',
    label: operateTexts.request,
    width: '30%',
    render: ({ method, path, count }) =>
      count !== undefined ? (
        <Text size="sm">{operateTexts.requestsNotRecorded(count)}</Text>
      ) : path === undefined ? null : (
        <Group gap={6} wrap="nowrap">
          <MethodTag method={method ?? ''} />
          <PathText>{pathText(path)}</PathText>
        </Group>
      ),
  },
  {
    id: 'status',
    label: operateTexts.status,
    sort: 'status',
    numeric: true,
    width: 70,
    render: ({ status }) => status ?? '',
  },
  {
    id: 'time',
    label: operateTexts.took,
    sort: 'milliseconds',
    numeric: true,
    width: 80,
    render: ({ milliseconds }) => (milliseconds === undefined ? '' : duration(milliseconds)),
  },
  {
    id: 'ip',
    label: operateTexts.from,
    sort: 'ip',
    width: 110,
    render: ({ ip, agent }) => <span title={agent}>{ip}</span>,
  },
  {
    id: 'when',
    label: operateTexts.when,
    sort: '_meta.cms',
    width: 170,
    render: ({ _meta }) => <Time at={_meta.created} exact />,
  },
]

/** Who signed in, and what users asked for. */
export function UserLogScreen() {
  const [, readdress, words] = useListAddress()
  const withStudio = words.get('studio') === '1'
  const retention = useRetention('QUOIN_KEEP_LOGS')
  return (
    <>
      <ScreenHead title={operateTexts.userLog} about={operateTexts.userLogAbout(retention)} />
      <Group mb="sm" gap="sm">
        <SearchField label={operateTexts.searchTheUserLog} />
        <SelectFilter
          name="event"
          label={operateTexts.what}
          options={Object.entries(events).map(([value, [label]]) => ({ value, label }))}
        />
        <Switch
          ml="auto"
          label={operateTexts.studioRequests}
          checked={withStudio}
          onChange={(event) => readdress({ studio: event.currentTarget.checked ? '1' : '' })}
        />
      </Group>
      <RecordTable<UserLog>
        label={operateTexts.userLog}
        queryKey={['logs', 'user']}
        load={findUserLogs}
        body={{
          filters: {
            ...filtersOf(words, { event: 'event', user: 'user.username' }).filters,
            ...(withStudio ? {} : { studio: { exists: false } }),
          },
        }}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        minWidth={720}
        empty={<EmptyState icon="people" title={operateTexts.noMatch} />}
      />
    </>
  )
}
