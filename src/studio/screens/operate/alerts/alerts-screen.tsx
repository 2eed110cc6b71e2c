import { Anchor, Badge, Button, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { AlertRecord } from '../../../../shared/api/alerts.ts'
import { alerts, testAlert } from '../../../api/alerts.ts'
import { EmptyState } from '../../../controls/empty-state.tsx'
import type { Column } from '../../../controls/lists/column.ts'
import { notifyDone } from '../../../controls/notify.ts'
import { Time } from '../../../controls/time.tsx'
import { NamedScreen } from '../named/named-screen.tsx'
import { AlertDialog } from './alert-dialog.tsx'
import { conditionWords, figureWords } from './alert-words.ts'

const columns: readonly Column<AlertRecord>[] = [
  {
    id: 'state',
    label: 'State',
    width: 190,
    render: ({ active, firing, since }) => (
      <>
        <Badge color={firing ? 'red' : active ? 'green' : 'gray'}>
          {firing ? 'firing' : active ? 'quiet' : 'off'}
        </Badge>{' '}
        {since > 0 ? <Time at={since} /> : null}
      </>
    ),
  },
  {
    id: 'condition',
    label: 'Fires at',
    render: ({ figure, threshold, minutes }) => (
      <>
        {figureWords[figure].label}
        <Text size="xs" c="dimmed">
          {conditionWords(figure, threshold, minutes)}
        </Text>
      </>
    ),
  },
  {
    id: 'tells',
    label: 'Tells',
    render: ({ mail, webhook }) => (
      <span style={{ overflowWrap: 'anywhere' }}>
        {[...mail, ...(webhook === '' ? [] : [webhook])].join(', ') || 'nothing yet'}
      </span>
    ),
  },
  {
    id: 'cause',
    label: 'Cause',
    width: 80,
    render: ({ figure, firing }) => {
      const { cause } = figureWords[figure]
      return firing && cause ? (
        <Anchor component={Link} href={cause.address} size="sm">
          {cause.label}
        </Anchor>
      ) : null
    },
  },
  {
    id: 'test',
    label: '',
    width: 80,
    render: ({ _meta, name }) => (
      <Button
        variant="default"
        size="compact-sm"
        aria-label={`Test ${name}`}
        onClick={async () => notifyDone(`${await testAlert(_meta.guid)} messages on their way`)}
      >
        Test
      </Button>
    ),
  },
]

/** Rules that tell people when a figure of the cluster is bad. */
export function AlertsScreen() {
  return (
    <NamedScreen
      title="Alerts"
      about="Tell people by mail or webhook, once when a figure is bad and once when that is over. Checked each minute."
      action="New alert"
      address="/operate/alerts"
      records={alerts}
      columns={columns}
      empty={
        <EmptyState icon="operate" title="No alerts">
          <Text size="sm">
            Begin with dead letters and the share of failed requests. A cluster that is down tells nothing:
            watch /health/ready from outside.
          </Text>
        </EmptyState>
      }
      removal={() => 'It is no longer checked.'}
      Dialog={AlertDialog}
    />
  )
}
