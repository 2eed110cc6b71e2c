import { Group, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { JobSummary } from '../../../shared/api/queues.ts'
import { findJobs, queuesQuery } from '../../api/operations.ts'
import { EmptyState } from '../../controls/empty-state.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { RecordTable } from '../../controls/lists/record-table.tsx'
import { SearchField } from '../../controls/lists/search-field.tsx'
import { filtersOf, SelectFilter } from '../../controls/lists/select-filter.tsx'
import { openAddress } from '../../controls/open-address.ts'
import { RunLink } from '../../controls/run-link.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { Time } from '../../controls/time.tsx'
import { JobDrawer } from './job-drawer.tsx'
import { JobState } from './job-state.tsx'
import { QueueTable } from './queue-table.tsx'

const columns: readonly Column<JobSummary>[] = [
  { id: 'title', label: 'Job', sort: 'title', render: ({ title, type }) => title || type },
  { id: 'queue', label: 'Queue', sort: 'queue', render: ({ queue }) => queue },
  { id: 'status', label: 'State', sort: 'status', width: 110, render: (job) => <JobState job={job} /> },
  {
    id: 'attempts',
    label: 'Attempts',
    sort: 'attempts',
    numeric: true,
    width: 100,
    render: ({ attempts, max_attempts }) => `${attempts} of ${max_attempts}`,
  },
  {
    id: 'when',
    label: 'Due',
    sort: 'scheduled_for',
    width: 130,
    render: ({ scheduled_for }) => <Time at={scheduled_for} />,
  },
  {
    id: 'error',
    label: 'Last error',
    render: ({ error }) => (
      <Text size="sm" c={error === null ? 'dimmed' : 'red'} lineClamp={1}>
        {error ?? ''}
      </Text>
    ),
  },
  {
    id: 'run',
    label: 'Run',
    width: 70,
    render: ({ failed_in: failedIn }) => (failedIn === null ? null : <RunLink run={failedIn.run} />),
  },
]

/** Queues with what waits in each, and the jobs themselves; dead letters are jobs in the state dead. */
export function QueuesScreen() {
  const [, , words] = useListAddress()
  const { data: queues = [] } = useQuery(queuesQuery)
  return (
    <>
      <ScreenHead
        title="Queues and jobs"
        about="Background jobs. A job that failed too often is a dead letter: read its error, then run it again."
      />
      <QueueTable />
      <Title order={2} mt="xl" mb="sm">
        Jobs
      </Title>
      <Group mb="sm" gap="sm">
        <SearchField label="Search jobs" />
        <SelectFilter name="queue" label="Queue" options={queues.map(({ name }) => name)} />
        <SelectFilter
          name="status"
          label="State"
          options={[
            { value: 'waiting', label: 'Waiting' },
            { value: 'running', label: 'Running' },
            { value: 'done', label: 'Done' },
            { value: 'dead', label: 'Dead letters' },
          ]}
        />
        <SelectFilter
          name="type"
          label="Kind"
          options={['function', 'event', 'tick', 'change', 'wait', 'failure']}
          width={130}
        />
      </Group>
      <RecordTable<JobSummary>
        label="Jobs"
        queryKey={['jobs', 'list']}
        load={findJobs}
        body={filtersOf(words, { queue: 'queue', status: 'status', type: 'type' })}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress('/operate/queues', words, _meta.guid)}
        refetchInterval={5_000}
        minWidth={860}
        empty={
          <EmptyState icon="operate" title="No jobs">
            <Text size="sm">Storage events, schedules and the queue block create jobs.</Text>
          </EmptyState>
        }
      />
      <JobDrawer />
    </>
  )
}
