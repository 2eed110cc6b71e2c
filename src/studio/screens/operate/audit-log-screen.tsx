import { Badge, Code, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { AuditLog } from '../../../shared/api/operate/logs.ts'
import { blueprintNamesQuery } from '../../api/blueprints.ts'
import { findAuditLogs } from '../../api/operations.ts'
import { EmptyState } from '../../controls/empty-state.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { RecordTable } from '../../controls/lists/record-table.tsx'
import { SearchField } from '../../controls/lists/search-field.tsx'
import { filtersOf, SelectFilter } from '../../controls/lists/select-filter.tsx'
import { openAddress } from '../../controls/open-address.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { Time } from '../../controls/time.tsx'
import { operateTexts } from '../../texts/operate.ts'
import { actionColours } from './action-colours.ts'
import { AuditLogDrawer } from './audit-log-drawer.tsx'
import { changedWords, resourceName, resourceOptions } from './resource-name.ts'

const columns: readonly Column<AuditLog>[] = [
  {
    id: 'name',
    label: operateTexts.what,
    sort: 'name',
    render: ({ name, guid, blueprint }) => (
      <>
        {name || <Code>{guid}</Code>}
        {blueprint === undefined ? null : <BlueprintName guid={blueprint} />}
      </>
    ),
  },
  {
    id: 'category',
    label: operateTexts.resource,
    sort: 'category',
    width: 165,
    render: ({ category }) => resourceName(category),
  },
  {
    id: 'action',
    label: operateTexts.action,
    sort: 'action',
    width: 120,
    render: ({ action }) => <Badge color={actionColours[action]}>{action}</Badge>,
  },
  {
    id: 'changes',
    label: operateTexts.fields,
    render: ({ changes }) =>
      changes.length === 0 ? null : (
        <Text size="sm" c="dimmed" lineClamp={1}>
          {changedWords(changes)}
        </Text>
      ),
  },
  {
    id: 'user',
    label: operateTexts.by,
    sort: 'user.username',
    width: 110,
    render: ({ user }) => user.username,
  },
  {
    id: 'when',
    label: operateTexts.when,
    sort: '_meta.cms',
    width: 175,
    render: ({ _meta }) => <Time at={_meta.created} exact />,
  },
]

/** Of a block. */
function BlueprintName({ guid }: { readonly guid: string }) {
  const { data } = useQuery(blueprintNamesQuery)
  const name = data?.get(guid)
  return name === undefined ? null : (
    <Text span size="sm" c="dimmed">
      {' · '}
      {name}
    </Text>
  )
}

/** Who changed what of the cluster: every management write, with the values before and after. */
export function AuditLogScreen() {
  const [, , words] = useListAddress()
  return (
    <>
      <ScreenHead title={operateTexts.auditLog} about={operateTexts.auditLogAbout} />
      <Group mb="sm" gap="sm">
        <SearchField label={operateTexts.searchTheAuditLog} />
        <SelectFilter name="category" label={operateTexts.resource} options={resourceOptions} width={200} />
        <SelectFilter
          name="action"
          label={operateTexts.action}
          options={Object.keys(actionColours)}
          width={140}
        />
      </Group>
      <RecordTable<AuditLog>
        label={operateTexts.auditLog}
        queryKey={['logs', 'audit']}
        load={findAuditLogs}
        body={filtersOf(words, {
          category: 'category',
          action: 'action',
          user: 'user.username',
          record: 'guid',
        })}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress('/operate/audit-log', words, _meta.guid)}
        minWidth={720}
        empty={<EmptyState icon="history" title={operateTexts.noMatch} />}
      />
      <AuditLogDrawer />
    </>
  )
}
