import { Alert, Badge, Group, Skeleton, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { JobSummary, Queue } from '../../../shared/api/operate/queues.ts'
import { findJobs, queuesQuery } from '../../api/operations.ts'
import { BadNumber } from '../../controls/field-errors.tsx'
import { CardTable } from '../../controls/lists/card-table.tsx'
import { filtersOf, SearchField, SelectFilter } from '../../controls/lists/filters.tsx'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { type Column, RecordTable } from '../../controls/lists/record-table.tsx'
import { RunLink } from '../../controls/run-link.tsx'
import { openAddress } from '../../controls/save-file.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState, ErrorNotice } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { operateTexts } from '../../texts/operate.ts'
import { JobDrawer, JobState } from './job-drawer.tsx'
import { QueueControls, queueName } from './queue-controls.tsx'

/** A word of up to 63 letters. */
function QueueName({ name }: { readonly name: string }) {
  return <span style={{ overflowWrap: 'anywhere' }}>{queueName(name)}</span>
}

const queueTableColumns: readonly Column<Queue>[] = [
  {
    id: 'name',
    label: operateTexts.queue,
    render: ({ name, paused }) => (
      <Group gap={6}>
        <QueueName name={name} />
        {paused ? <Badge color="sand">{operateTexts.paused}</Badge> : null}
      </Group>
    ),
  },
  { id: 'depth', label: operateTexts.waiting, numeric: true, render: ({ depth }) => depth.toLocaleString() },
  {
    id: 'running',
    label: operateTexts.running,
    numeric: true,
    render: ({ running }) => running.toLocaleString(),
  },
  {
    id: 'done',
    label: operateTexts.doneThisWeek,
    numeric: true,
    render: ({ done }) => done.toLocaleString(),
  },
  {
    id: 'dead',
    label: operateTexts.deadLetters,
    numeric: true,
    render: ({ dead }) => <BadNumber value={dead} />,
  },
  {
    id: 'oldest',
    label: operateTexts.oldestDue,
    render: ({ oldest }) => <Time at={oldest} never={operateTexts.noneDue} />,
  },
  { id: 'steer', label: operateTexts.steer, render: (queue) => <QueueControls queue={queue} /> },
]

function QueueTable() {
  const { data, error, refetch } = useQuery(queuesQuery)
  if (error) return <ErrorNotice error={error} title={operateTexts.couldNotLoadQueues} onRetry={refetch} />
  if (!data) return <Skeleton height={90} />
  if (data.length === 0) return <Alert color="gray">{operateTexts.noQueues}</Alert>
  return (
    <CardTable
      label={operateTexts.queues}
      columns={queueTableColumns}
      records={data}
      keyOf={({ name }) => name}
      minWidth={720}
    />
  )
}

const kinds = Object.entries(operateTexts.jobKinds).map(([value, label]) => ({ value, label }))

const columns: readonly Column<JobSummary>[] = [
  {
    id: 'title',
    label: operateTexts.job,
    sort: 'title',
    render: ({ title, type }) => title || operateTexts.jobKinds[type],
  },
  {
    id: 'queue',
    label: operateTexts.queue,
    sort: 'queue',
    width: 140,
    render: ({ queue }) => <QueueName name={queue} />,
  },
  {
    id: 'status',
    label: operateTexts.state,
    sort: 'status',
    width: 110,
    render: (job) => <JobState job={job} />,
  },
  {
    id: 'attempts',
    label: operateTexts.attempts,
    sort: 'attempts',
    numeric: true,
    width: 100,
    render: ({ attempts, max_attempts }) => operateTexts.attemptsOf(attempts, max_attempts),
  },
  {
    id: 'when',
    label: operateTexts.due,
    sort: 'scheduled_for',
    width: 130,
    render: ({ scheduled_for }) => <Time at={scheduled_for} />,
  },
  {
    id: 'error',
    label: operateTexts.lastError,
    render: ({ error }) => (
      <Text
        size="sm"
        c={error === null ? 'dimmed' : 'red'}
        lineClamp={1}
        style={{ overflowWrap: 'anywhere' }}
      >
        {error ?? ''}
      </Text>
    ),
  },
  {
    id: 'run',
    label: operateTexts.run,
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
      <ScreenHead title={operateTexts.queuesAndJobs} about={operateTexts.queuesAndJobsAbout} />
      <QueueTable />
      <Title order={2} mt="xl" mb="sm">
        {operateTexts.jobs}
      </Title>
      <Group mb="sm" gap="sm">
        <SearchField label={operateTexts.searchJobs} />
        <SelectFilter
          name="queue"
          label={operateTexts.queue}
          options={queues.map(({ name }) => ({ value: name, label: queueName(name) }))}
        />
        <SelectFilter
          name="status"
          label={operateTexts.state}
          options={[
            { value: 'waiting', label: operateTexts.waiting },
            { value: 'running', label: operateTexts.running },
            { value: 'done', label: operateTexts.done },
            { value: 'dead', label: operateTexts.deadLetters },
          ]}
        />
        <SelectFilter name="type" label={operateTexts.kind} options={kinds} />
      </Group>
      <RecordTable<JobSummary>
        label={operateTexts.jobs}
        queryKey={['jobs', 'list']}
        load={findJobs}
        body={filtersOf(words, { queue: 'queue', status: 'status', type: 'type' })}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress('/operate/queues', words, _meta.guid)}
        refetchInterval={5_000}
        minWidth={720}
        empty={
          <EmptyState icon="operate" title={operateTexts.noJobs}>
            <Text size="sm">{operateTexts.noJobsText}</Text>
          </EmptyState>
        }
      />
      <JobDrawer />
    </>
  )
}
