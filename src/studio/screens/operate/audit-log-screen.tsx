import { Anchor, Badge, Code, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { AuditLog } from '../../../shared/api/operate/logs.ts'
import { wordsOfField } from '../../../shared/fields/field-names.ts'
import { blueprintNamesQuery } from '../../api/blueprints.ts'
import { findAuditLogs, oneOf } from '../../api/operations.ts'
import { Facts } from '../../controls/facts.tsx'
import { diffValues } from '../../controls/json/diff-values.ts'
import { DifferenceTable } from '../../controls/json/difference-table.tsx'
import { JsonView } from '../../controls/json/json-view.tsx'
import { filtersOf, SearchField, SelectFilter } from '../../controls/lists/filters.tsx'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { type Column, RecordTable } from '../../controls/lists/record-table.tsx'
import { RecordDrawer } from '../../controls/record-drawer.tsx'
import { openAddress } from '../../controls/save-file.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { operateTexts } from '../../texts/operate.ts'

const columns: readonly Column<AuditLog>[] = [
  {
    id: 'name',
    label: operateTexts.what,
    sort: 'name',
    width: '25%',
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
    width: 110,
    render: ({ category }) => resourceName(category),
  },
  {
    id: 'action',
    label: operateTexts.action,
    sort: 'action',
    width: 95,
    render: ({ action }) => <Badge color={actionColours[action]}>{action}</Badge>,
  },
  {
    id: 'changes',
    label: operateTexts.fields,
    render: ({ changes }) =>
      changes.length === 0 ? null : (
        <Text size="sm" c="dimmed" lineClamp={2}>
          {changedWords(changes)}
        </Text>
      ),
  },
  {
    id: 'user',
    label: operateTexts.by,
    sort: 'user.username',
    width: 80,
    render: ({ user }) => user.username,
  },
  {
    id: 'when',
    label: operateTexts.when,
    sort: '_meta.cms',
    width: 165,
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

function AuditLogDrawer() {
  return (
    <RecordDrawer<AuditLog>
      title={operateTexts.change}
      queryKey={['logs', 'audit', 'one']}
      load={oneOf(findAuditLogs)}
    >
      {(record) => <Opened record={record} />}
    </RecordDrawer>
  )
}

function Opened({ record }: { readonly record: AuditLog }) {
  const { _meta, category, action, guid, name, blueprint, user, before, after } = record
  return (
    <Stack gap="md">
      <Facts
        facts={{
          [operateTexts.what]: name,
          [operateTexts.resource]: resourceName(category),
          [operateTexts.blueprint]:
            blueprint === undefined ? undefined : (
              <Anchor component={Link} href={`/blueprints/${blueprint}?block=${guid}`} size="sm">
                {operateTexts.openInTheBlueprint}
              </Anchor>
            ),
          [operateTexts.action]: <Badge color={actionColours[action]}>{action}</Badge>,
          [operateTexts.by]: user.username,
          [operateTexts.when]: <Time at={_meta.created} exact />,
          [operateTexts.record]: (
            <span>
              <Code>{guid}</Code>{' '}
              <Anchor component={Link} href={`/operate/audit-log?record=${guid}`} size="sm">
                {operateTexts.allItsChanges}
              </Anchor>
            </span>
          ),
        }}
      />
      {before === null || after === null ? (
        <JsonView value={after ?? before} label={after === null ? operateTexts.before : operateTexts.after} />
      ) : (
        <DifferenceTable differences={diffValues(before, after)} />
      )}
    </Stack>
  )
}

const actionColours = {
  created: 'green',
  updated: 'petrol',
  removed: 'red',
  restored: 'green',
  deleted: 'red',
  imported: 'green',
  exported: 'petrol',
  used: 'petrol',
  run: 'petrol',
  undone: 'sand',
} as const

const names: ReadonlyMap<string, string> = new Map(Object.entries(operateTexts.resources))

/** For a filter: the resources of the audit log in the order of their names. */
const resourceOptions = [...names]
  .map(([value, label]) => ({ value, label }))
  .toSorted((a, b) => (a.label < b.label ? -1 : 1))

/** What people call a resource of the audit log; a newer server may know more of them. */
function resourceName(category: string): string {
  return names.get(category) ?? wordsOfField(category)
}

/** Names of fields that changed: `custom_scopes` → `custom scopes`. */
function changedWords(fields: readonly string[]): string {
  return fields.map((field) => field.replaceAll('_', ' ')).join(', ')
}
