import { Anchor, Badge, Code, Group, Stack, Switch, Text } from '@mantine/core'
import { Link, useSearchParams } from 'wouter'
import type { SystemLog } from '../../../shared/api/operate/logs.ts'
import { findSystemLogs, jobOf, oneOf } from '../../api/operations.ts'
import { Facts } from '../../controls/facts.tsx'
import { JsonView } from '../../controls/json/json-view.tsx'
import {
  filtersOf,
  SearchField,
  SelectFilter,
  TimeFilter,
  timeFilterOf,
} from '../../controls/lists/filters.tsx'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { type Column, RecordTable } from '../../controls/lists/record-table.tsx'
import { RecordDrawer } from '../../controls/record-drawer.tsx'
import { RunLink } from '../../controls/run-link.tsx'
import { openAddress } from '../../controls/save-file.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { operateTexts } from '../../texts/operate.ts'
import { useRetention } from './retention-labels.ts'

const columns: readonly Column<SystemLog>[] = [
  {
    id: 'message',
    label: operateTexts.message,
    render: ({ message }) => <span style={{ overflowWrap: 'anywhere' }}>{message}</span>,
  },
  {
    id: 'level',
    label: operateTexts.level,
    sort: 'level',
    width: 90,
    render: ({ level }) => <Badge color={levelColours[level]}>{level}</Badge>,
  },
  {
    id: 'run',
    label: operateTexts.run,
    width: 70,
    render: (record) => {
      const job = jobOf(record)
      if (record.run !== undefined) return <RunLink run={record.run} />
      return job === undefined ? null : (
        <Anchor component={Link} href={`/operate/queues?open=${job}`} size="sm" title={operateTexts.showJob}>
          {operateTexts.job}
        </Anchor>
      )
    },
  },
  {
    id: 'when',
    label: operateTexts.when,
    sort: '_meta.cms',
    width: 180,
    render: ({ _meta }) => <Time at={_meta.created} exact />,
  },
]

const TAIL = 2_000

/** What the cluster and its blueprints logged, as it comes. */
export function SystemLogScreen() {
  const [{ page }, , words] = useListAddress()
  const retention = useRetention('QUOIN_KEEP_LOGS')
  const [, setWords] = useSearchParams()
  const isLive = words.get('live') !== '0'
  const setLive = (live: boolean) =>
    setWords(
      (before) => {
        const next = new URLSearchParams(before)
        if (live) next.delete('live')
        else next.set('live', '0')
        return next
      },
      { replace: true },
    )
  return (
    <>
      <ScreenHead title={operateTexts.systemLog} about={operateTexts.systemLogAbout(retention)} />
      <Group mb="sm" gap="sm">
        <SearchField label={operateTexts.searchMessages} />
        <SelectFilter
          name="level"
          label={operateTexts.level}
          options={['debug', 'info', 'warn', 'error']}
          width={130}
        />
        <TimeFilter />
        <Switch
          ml="auto"
          label={operateTexts.follow}
          checked={isLive}
          onChange={(event) => setLive(event.currentTarget.checked)}
        />
      </Group>
      <RecordTable<SystemLog>
        label={operateTexts.systemLog}
        queryKey={['logs', 'system']}
        load={findSystemLogs}
        body={{
          filters: {
            ...filtersOf(words, { level: 'level', run: 'run', blueprint: 'blueprint', block: 'block' })
              .filters,
            ...timeFilterOf(words),
          },
        }}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress('/operate/system-log', words, _meta.guid)}
        refetchInterval={isLive && page === 1 ? TAIL : false}
        empty={
          <EmptyState icon="check" title={operateTexts.noLogRecords}>
            <Text size="sm">{operateTexts.noLogRecordsText}</Text>
          </EmptyState>
        }
      />
      <SystemLogDrawer />
    </>
  )
}

function SystemLogDrawer() {
  return (
    <RecordDrawer<SystemLog>
      title={operateTexts.logRecord}
      queryKey={['logs', 'system', 'one']}
      load={oneOf(findSystemLogs)}
    >
      {(record) => <Opened record={record} />}
    </RecordDrawer>
  )
}

function Opened({ record }: { readonly record: SystemLog }) {
  const { _meta, level, message, value, run, blueprint, block, pin } = record
  return (
    <Stack gap="md">
      <Text style={{ overflowWrap: 'anywhere' }}>{message}</Text>
      <Facts
        facts={{
          [operateTexts.level]: <Badge color={levelColours[level]}>{level}</Badge>,
          [operateTexts.when]: <Time at={_meta.created} exact />,
          [operateTexts.block]:
            blueprint === undefined ? undefined : (
              <Anchor
                component={Link}
                href={`/blueprints/${blueprint}${block === undefined ? '' : `?block=${block}`}`}
                size="sm"
              >
                {operateTexts.openInTheBlueprint}
              </Anchor>
            ),
          [operateTexts.job]: jobOf(record) && (
            <Anchor component={Link} href={`/operate/queues?open=${jobOf(record)}`} size="sm">
              {operateTexts.showJob}
            </Anchor>
          ),
          [operateTexts.pin]: pin === undefined ? undefined : <Code>{pin}</Code>,
          [operateTexts.run]:
            run === undefined ? undefined : (
              <>
                <RunLink run={run} label={operateTexts.showCanvas} /> <Code>{run}</Code>{' '}
                <Anchor component={Link} href={`/operate/system-log?run=${run}`} size="sm">
                  {operateTexts.allItLogged}
                </Anchor>
              </>
            ),
        }}
      />
      {value === undefined ? null : <JsonView value={value} label={operateTexts.loggedValue} />}
    </Stack>
  )
}

const levelColours = { debug: 'gray', info: 'petrol', warn: 'sand', error: 'red' } as const
