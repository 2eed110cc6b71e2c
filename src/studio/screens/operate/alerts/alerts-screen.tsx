import { Anchor, Badge, Button, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { AlertRecord } from '../../../../shared/api/operate/alerts.ts'
import { alerts, testAlert } from '../../../api/operate.ts'
import type { Column } from '../../../controls/lists/record-table.tsx'
import { notifyDone, notifyFailed } from '../../../controls/notify.ts'
import { EmptyState } from '../../../controls/states.tsx'
import { Time } from '../../../controls/time.tsx'
import { alertsTexts } from '../../../texts/alerts.ts'
import { NamedScreen } from '../named/named-screen.tsx'
import { AlertDialog, conditionLabels, figureWords } from './alert-dialog.tsx'

const columns: readonly Column<AlertRecord>[] = [
  {
    id: 'state',
    label: alertsTexts.state,
    width: 130,
    render: ({ active, firing, since }) => (
      <>
        <Badge color={firing ? 'red' : active ? 'green' : 'gray'}>
          {firing ? alertsTexts.firing : active ? alertsTexts.quiet : alertsTexts.off}
        </Badge>{' '}
        {since > 0 ? <Time at={since} /> : null}
      </>
    ),
  },
  {
    id: 'condition',
    label: alertsTexts.firesAt,
    width: '22%',
    render: ({ figure, threshold, minutes }) => (
      <>
        {figureWords[figure].label}
        <Text size="xs" c="dimmed">
          {conditionLabels(figure, threshold, minutes)}
        </Text>
      </>
    ),
  },
  {
    id: 'tells',
    label: alertsTexts.tells,
    width: '22%',
    render: ({ mail, webhook }) => (
      <span style={{ overflowWrap: 'anywhere' }}>
        {[...mail, ...(webhook === '' ? [] : [webhook])].join(', ') || alertsTexts.nothingYet}
      </span>
    ),
  },
  {
    id: 'cause',
    label: alertsTexts.cause,
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
        aria-label={alertsTexts.test(name)}
        onClick={() =>
          void testAlert(_meta.guid).then(
            (sent) => notifyDone(alertsTexts.messagesOnTheirWay(sent)),
            (error) => notifyFailed(alertsTexts.couldNotTest, error),
          )
        }
      >
        {alertsTexts.testText}
      </Button>
    ),
  },
]

/** Rules that tell people when a figure of the cluster is bad. */
export function AlertsScreen() {
  return (
    <NamedScreen
      title={alertsTexts.alerts}
      about={alertsTexts.alertsAbout}
      action={alertsTexts.newAlert}
      address="/operate/alerts"
      records={alerts}
      columns={columns}
      empty={
        <EmptyState icon="operate" title={alertsTexts.noAlerts}>
          <Text size="sm">{alertsTexts.noAlertsText}</Text>
        </EmptyState>
      }
      removal={() => alertsTexts.noLongerChecked}
      Dialog={AlertDialog}
    />
  )
}
