import { Badge, Code, Text } from '@mantine/core'
import type { ConnectionRecord } from '../../../../shared/api/operate/connections.ts'
import { connections } from '../../../api/operate.ts'
import type { Column } from '../../../controls/lists/record-table.tsx'
import { EmptyState } from '../../../controls/states.tsx'
import { namedTexts } from '../../../texts/settings.ts'
import { ConnectionDialog } from './connection-dialog.tsx'
import { signInLabels } from './connection-draft.ts'
import { NamedScreen } from './named-screen.tsx'

const columns: readonly Column<ConnectionRecord>[] = [
  {
    id: 'base_url',
    label: namedTexts.baseAddress,
    sort: 'base_url',
    render: ({ base_url: address }) => <Code style={{ overflowWrap: 'anywhere' }}>{address}</Code>,
  },
  {
    id: 'auth',
    label: namedTexts.signIn,
    render: ({ auth }) =>
      auth.kind === 'none' ? (
        <Text size="sm" c="dimmed">
          {namedTexts.none}
        </Text>
      ) : (
        <>
          <Badge variant="light" mr="xs">
            {signInLabels[auth.kind]}
          </Badge>
          {auth.secret}
        </>
      ),
  },
]

/** Servers that flows call by name. */
export function ConnectionsScreen() {
  return (
    <NamedScreen
      title={namedTexts.connections}
      about={namedTexts.connectionsAbout}
      action={namedTexts.newConnection}
      address="/operate/connections"
      records={connections}
      columns={columns}
      empty={
        <EmptyState icon="operate" title={namedTexts.noConnections}>
          <Text size="sm">
            {namedTexts.noConnectionsText} <Code>connection</Code> {namedTexts.of}{' '}
            <em>{namedTexts.httpRequest}</em>
            {namedTexts.thePin} <Code>url</Code> {namedTexts.thenPathBelow}
          </Text>
        </EmptyState>
      }
      removal={() => namedTexts.blocksFail}
      Dialog={ConnectionDialog}
    />
  )
}
