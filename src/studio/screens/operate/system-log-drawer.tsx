import { Anchor, Badge, Code, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { SystemLog } from '../../../shared/api/operate/logs.ts'
import { findSystemLogs, jobOf, oneOf } from '../../api/operations.ts'
import { Facts } from '../../controls/facts.tsx'
import { JsonView } from '../../controls/json/json-view.tsx'
import { RecordDrawer } from '../../controls/record-drawer.tsx'
import { RunLink } from '../../controls/run-link.tsx'
import { Time } from '../../controls/time.tsx'
import { operateTexts } from '../../texts/operate.ts'
import { levelColours } from './level-colours.ts'

export function SystemLogDrawer() {
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
