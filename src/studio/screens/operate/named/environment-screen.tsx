import { Code, SegmentedControl, Text, Textarea } from '@mantine/core'
import type { EnvironmentValue } from '../../../../shared/api/operate/settings.ts'
import type { JsonValue } from '../../../../shared/json.ts'
import { environmentValues } from '../../../api/operate.ts'
import { useDraft } from '../../../controls/hooks.ts'
import { JsonField } from '../../../controls/json/json-field.tsx'
import { shortJson } from '../../../controls/json/json-text.ts'
import type { Column } from '../../../controls/lists/record-table.tsx'
import { EmptyState } from '../../../controls/states.tsx'
import { namedTexts } from '../../../texts/settings.ts'
import { NamedDialog, NamedForm } from './named-dialog.tsx'
import { type NamedDialogProps, NamedScreen } from './named-screen.tsx'

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

function EnvironmentDialog({ guid, onClose }: NamedDialogProps) {
  return (
    <NamedDialog
      guid={guid}
      onClose={onClose}
      records={environmentValues}
      form={(record) => <Opened record={record} onClose={onClose} />}
    />
  )
}

interface Draft {
  readonly name: string
  readonly kind: string
  readonly text: string
  readonly description: string
}

interface OpenedProps {
  readonly record: EnvironmentValue | undefined
  readonly onClose: () => void
}

function Opened({ record, onClose }: OpenedProps) {
  const form = useDraft<Draft>(draftOf(record))
  const { draft, set } = form
  const { name } = draft
  return (
    <NamedForm
      record={record}
      title={namedTexts.newValue}
      nameHelp={namedTexts.newValueNameHelp(name || 'NAME')}
      draft={draft}
      onDraft={set}
      submit={() => environmentValues.save(record, form, { draftOf, fieldsOf })}
      onClose={onClose}
    >
      <SegmentedControl
        aria-label={namedTexts.kindOfValue}
        data={[
          { value: 'text', label: namedTexts.text },
          { value: 'json', label: namedTexts.json },
        ]}
        value={draft.kind}
        onChange={(kind) => set('kind', kind)}
      />
      {draft.kind === 'text' ? (
        <Textarea
          label={namedTexts.value}
          autosize
          value={draft.text}
          onChange={(event) => set('text', event.currentTarget.value)}
        />
      ) : (
        <JsonField
          label={namedTexts.value}
          description={namedTexts.valueHelp}
          value={draft.text}
          onChange={(text) => set('text', text)}
          minRows={3}
        />
      )}
    </NamedForm>
  )
}

function draftOf(record: EnvironmentValue | undefined): Draft {
  const { name = '', value = '', description = '' } = record ?? {}
  const isText = typeof value === 'string'
  return {
    name,
    description,
    kind: isText ? 'text' : 'json',
    text: isText ? value : JSON.stringify(value, undefined, 2),
  }
}

function fieldsOf({ description, kind, text }: Draft): { description: string; value: JsonValue } {
  return { description, value: kind === 'text' ? text : JSON.parse(text) }
}
