import { Anchor, Badge, Group, Switch, Text } from '@mantine/core'
import { Link, useSearchParams } from 'wouter'
import type { SystemLog } from '../../../shared/api/operate/logs.ts'
import { findSystemLogs, jobOf } from '../../api/operations.ts'
import { EmptyState } from '../../controls/empty-state.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { RecordTable } from '../../controls/lists/record-table.tsx'
import { SearchField } from '../../controls/lists/search-field.tsx'
import { filtersOf, SelectFilter } from '../../controls/lists/select-filter.tsx'
import { TimeFilter, timeFilterOf } from '../../controls/lists/time-filter.tsx'
import { openAddress } from '../../controls/open-address.ts'
import { RunLink } from '../../controls/run-link.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { Time } from '../../controls/time.tsx'
import { operateTexts } from '../../texts/operate.ts'
import { useKeptFor } from './kept-for-words.ts'
import { levelColours } from './level-colours.ts'
import { SystemLogDrawer } from './system-log-drawer.tsx'

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
  const kept = useKeptFor('QUOIN_KEEP_LOGS')
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
      <ScreenHead title={operateTexts.systemLog} about={operateTexts.systemLogAbout(kept)} />
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
