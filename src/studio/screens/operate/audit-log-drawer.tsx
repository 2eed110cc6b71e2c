import { Anchor, Badge, Code, Stack } from '@mantine/core'
import { Link } from 'wouter'
import type { AuditLog } from '../../../shared/api/operate/logs.ts'
import { findAuditLogs, oneOf } from '../../api/operations.ts'
import { Facts } from '../../controls/facts.tsx'
import { diffValues } from '../../controls/json/diff-values.ts'
import { DifferenceTable } from '../../controls/json/difference-table.tsx'
import { JsonView } from '../../controls/json/json-view.tsx'
import { RecordDrawer } from '../../controls/record-drawer.tsx'
import { Time } from '../../controls/time.tsx'
import { operateTexts } from '../../texts/operate.ts'
import { actionColours } from './action-colours.ts'
import { resourceName } from './resource-name.ts'

export function AuditLogDrawer() {
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
