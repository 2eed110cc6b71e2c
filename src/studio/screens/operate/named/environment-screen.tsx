import { Code, Text } from '@mantine/core'
import type { EnvironmentValue } from '../../../../shared/api/operate/settings.ts'
import { environmentValues } from '../../../api/environment.ts'
import { EmptyState } from '../../../controls/empty-state.tsx'
import { shortJson } from '../../../controls/json/json-text.ts'
import type { Column } from '../../../controls/lists/column.ts'
import { namedTexts } from '../../../texts/named.ts'
import { EnvironmentDialog } from './environment-dialog.tsx'
import { NamedScreen } from './named-screen.tsx'

const value: Column<EnvironmentValue> = {
  id: 'value',
  label: namedTexts.value,
  render: ({ value }) => <Code>{shortJson(value, 90)}</Code>,
}

/** Named values of the cluster for expressions. */
export function EnvironmentScreen() {
  return (
    <NamedScreen
      title={namedTexts.environment}
      about={namedTexts.environmentAbout}
      action={namedTexts.newValue}
      address="/operate/environment"
      records={environmentValues}
      columns={[value]}
      empty={
        <EmptyState icon="operate" title={namedTexts.noValues}>
          <Text size="sm">
            {namedTexts.noValuesText} <Code>=env.BASE_URL + '/orders'</Code>
            {namedTexts.noValuesRest}
          </Text>
        </EmptyState>
      }
      removal={({ name }) => namedTexts.removeValueText(name)}
      Dialog={EnvironmentDialog}
    />
  )
}
