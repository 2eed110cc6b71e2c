import { Anchor, Badge, Button, Drawer, Group, Table, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Tick } from '../../../shared/api/operate/queues.ts'
import { findTicks } from '../../api/operations.ts'
import { runByHand } from '../../api/runs.ts'
import { confirm } from '../../controls/confirm.ts'
import { useOpened } from '../../controls/hooks.ts'
import { ErrorNotice, LoadingScreen } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { operateTexts } from '../../texts/operate.ts'

const colours = {
  planned: 'gray',
  claimed: 'petrol',
  done: 'green',
  skipped: 'sand',
  caught_up: 'petrol',
  failed: 'red',
} as const

const SHOWN = 100

/** Results of the planned times of one schedule. */
export function TicksDrawer() {
  const [schedule, open] = useOpened()
  const { data, error, refetch } = useQuery({
    queryKey: ['schedules', 'ticks', schedule],
    queryFn: ({ signal }) => findTicks({ filters: { schedule }, limit: SHOWN }, signal),
    enabled: schedule !== '',
    refetchInterval: 5_000,
  })
  return (
    <Drawer opened={schedule !== ''} onClose={() => open('')} title={operateTexts.ticks}>
      <RunNow schedule={schedule} />
      {error ? <ErrorNotice error={error} title={operateTexts.couldNotLoadTicks} onRetry={refetch} /> : null}
      {data ? <Ticks ticks={data.records} total={data.total} /> : error ? null : <LoadingScreen />}
    </Drawer>
  )
}

function Ticks({ ticks, total }: { readonly ticks: readonly Tick[]; readonly total: number }) {
  if (ticks.length === 0) return <Text size="sm">{operateTexts.noTickYet}</Text>
  return (
    <>
      <Table aria-label={operateTexts.ticks}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{operateTexts.plannedFor}</Table.Th>
            <Table.Th>{operateTexts.result}</Table.Th>
            <Table.Th>{operateTexts.job}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {ticks.map(({ _meta, planned_at, state, late, job }) => (
            <Table.Tr key={_meta.guid}>
              <Table.Td>
                <Time at={planned_at} exact />
              </Table.Td>
              <Table.Td>
                <Group gap={4}>
                  <Badge color={colours[state]}>{state.replace('_', ' ')}</Badge>
                  {late ? (
                    <Badge color="sand" title={operateTexts.noNodeWasRunning}>
                      {operateTexts.late}
                    </Badge>
                  ) : null}
                </Group>
              </Table.Td>
              <Table.Td>
                {job === '' ? null : (
                  <Anchor component={Link} href={`/operate/queues?open=${job}`} size="sm">
                    {operateTexts.open}
                  </Anchor>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {total > ticks.length ? (
        <Text size="sm" c="dimmed" mt="sm">
          {operateTexts.newestOf(ticks.length, total.toLocaleString())}
        </Text>
      ) : null}
    </>
  )
}

/** Runs a schedule once, for real. Its id is the guid of the blueprint, a space and the guid of the block. */
function RunNow({ schedule }: { readonly schedule: string }) {
  const [blueprint = '', trigger = ''] = schedule.split(' ')
  const running = useMutation({
    mutationFn: () => runByHand(blueprint, { trigger, effects: 'real' }),
  })
  const run = running.data
  return (
    <>
      <Group mb="md" gap="sm">
        <Button
          size="xs"
          loading={running.isPending}
          onClick={() =>
            confirm({
              title: operateTexts.runThisScheduleNow,
              text: operateTexts.runScheduleNowText,
              action: operateTexts.runNow,
              run: async () => {
                await running.mutateAsync()
              },
            })
          }
        >
          {operateTexts.runNow}
        </Button>
        {run ? (
          <Text size="sm" role="status">
            {run.status === 'failed' ? operateTexts.itFailed : operateTexts.itRan}
            <Anchor component={Link} href={`/blueprints/${blueprint}?panel=runs&run=${run.guid}`} size="sm">
              {operateTexts.showTheRun}
            </Anchor>
          </Text>
        ) : null}
      </Group>
      <ErrorNotice error={running.error} title={operateTexts.couldNotRunSchedule} />
    </>
  )
}
