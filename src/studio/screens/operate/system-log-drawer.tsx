import { Anchor, Badge, Code, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { SystemLog } from '../../../shared/api/system-logs.ts'
import { findSystemLogs, oneOf } from '../../api/operations.ts'
import { Facts } from '../../controls/facts.tsx'
import { JsonView } from '../../controls/json/json-view.tsx'
import { RecordDrawer } from '../../controls/record-drawer.tsx'
import { RunLink } from '../../controls/run-link.tsx'
import { Time } from '../../controls/time.tsx'
import { levelColours } from './level-colours.ts'

export function SystemLogDrawer() {
  return (
    <RecordDrawer<SystemLog>
      title="Log record"
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
          Level: <Badge color={levelColours[level]}>{level}</Badge>,
          When: <Time at={_meta.created} exact />,
          Block:
            blueprint === undefined ? undefined : (
              <Anchor
                component={Link}
                href={`/blueprints/${blueprint}${block === undefined ? '' : `?block=${block}`}`}
                size="sm"
              >
                open in the blueprint
              </Anchor>
            ),
          Pin: pin === undefined ? undefined : <Code>{pin}</Code>,
          Run:
            run === undefined ? undefined : (
              <>
                <RunLink run={run} label="Show it on the canvas" /> <Code>{run}</Code>{' '}
                <Anchor component={Link} href={`/operate/system-log?run=${run}`} size="sm">
                  all it logged
                </Anchor>
              </>
            ),
        }}
      />
      {value === undefined ? null : <JsonView value={value} label="Logged value" />}
    </Stack>
  )
}
