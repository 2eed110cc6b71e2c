import { Badge, Code, Text } from '@mantine/core'
import type { ConnectionRecord } from '../../../../shared/api/connections.ts'
import { connections } from '../../../api/connections.ts'
import { EmptyState } from '../../../controls/empty-state.tsx'
import type { Column } from '../../../controls/lists/column.ts'
import { ConnectionDialog } from './connection-dialog.tsx'
import { signInLabels } from './connection-draft.ts'
import { NamedScreen } from './named-screen.tsx'

const columns: readonly Column<ConnectionRecord>[] = [
  {
    id: 'base_url',
    label: 'Base address',
    sort: 'base_url',
    render: ({ base_url: address }) => <Code style={{ overflowWrap: 'anywhere' }}>{address}</Code>,
  },
  {
    id: 'auth',
    label: 'Sign-in',
    render: ({ auth }) =>
      auth.kind === 'none' ? (
        <Text size="sm" c="dimmed">
          None
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
      title="Connections"
      about="Other servers: their base address, headers and how requests are signed in. Blocks name them; secrets stay under Secrets."
      action="New connection"
      address="/operate/connections"
      records={connections}
      columns={columns}
      empty={
        <EmptyState icon="operate" title="No connections">
          <Text size="sm">
            Add a server such as https://shop.example/v1 and name it in the pin <Code>connection</Code> of{' '}
            <Code>http_request</Code>. The pin <Code>url</Code> is then a path below it.
          </Text>
        </EmptyState>
      }
      removal={() => 'Blocks that name it fail from then on.'}
      Dialog={ConnectionDialog}
    />
  )
}
