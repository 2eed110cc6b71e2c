import { Code, Text } from '@mantine/core'
import type { EnvironmentValue } from '../../../../shared/api/environment.ts'
import { environmentValues } from '../../../api/environment.ts'
import { EmptyState } from '../../../controls/empty-state.tsx'
import { shortJson } from '../../../controls/json/json-text.ts'
import type { Column } from '../../../controls/lists/column.ts'
import { EnvironmentDialog } from './environment-dialog.tsx'
import { NamedScreen } from './named-screen.tsx'

const value: Column<EnvironmentValue> = {
  id: 'value',
  label: 'Value',
  render: ({ value }) => <Code>{shortJson(value, 90)}</Code>,
}

/** Named values of the cluster for expressions. */
export function EnvironmentScreen() {
  return (
    <NamedScreen
      title="Environment"
      about="Named values of this cluster, such as base URLs and limits. Expressions read them as env.NAME."
      action="New value"
      address="/operate/environment"
      records={environmentValues}
      columns={[value]}
      empty={
        <EmptyState icon="operate" title="No values">
          <Text size="sm">
            Add a value such as BASE_URL and read it in any expression: <Code>=env.BASE_URL + '/orders'</Code>
            . A change needs no deploy. Passwords and keys belong under Secrets.
          </Text>
        </EmptyState>
      }
      removal={({ name }) => `Expressions that read env.${name} get nothing from then on.`}
      Dialog={EnvironmentDialog}
    />
  )
}
