import { SegmentedControl, Text, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { EnvironmentValue } from '../../../shared/api/environment.ts'
import type { JsonValue } from '../../../shared/json.ts'
import { readEnvironmentValue, saveEnvironmentValue } from '../../api/environment.ts'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { JsonField } from '../../controls/json/json-field.tsx'
import { Time } from '../../controls/time.tsx'
import { useDraft } from '../../controls/use-draft.ts'

interface EnvironmentDialogProps {
  /** Of the value; `new`, or empty for none. */
  readonly guid: string
  readonly onClose: () => void
}

export function EnvironmentDialog({ guid, onClose }: EnvironmentDialogProps) {
  const isNew = guid === 'new'
  const { data } = useQuery({
    queryKey: ['environment', 'one', guid],
    queryFn: ({ signal }) => readEnvironmentValue(guid, signal),
    enabled: guid !== '' && !isNew,
  })
  if (isNew) return <Opened onClose={onClose} />
  return data && guid !== '' ? <Opened key={data._meta.update_hash} record={data} onClose={onClose} /> : null
}

interface Draft {
  readonly name: string
  readonly kind: string
  readonly text: string
  readonly description: string
}

interface OpenedProps {
  readonly record?: EnvironmentValue
  readonly onClose: () => void
}

function Opened({ record, onClose }: OpenedProps) {
  const { draft, set } = useDraft<Draft>(draftOf(record))
  const submit = () => {
    const { name, description } = draft
    return saveEnvironmentValue(record?._meta.guid, { name, description, value: writtenValue(draft) })
  }
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={record ? record.name : 'New value'}
      action={record ? 'Save' : 'Create'}
      submit={submit}
    >
      {record ? (
        <Text size="sm" c="dimmed">
          Changed <Time at={record._meta.updated} /> by {record.modified_by.username}
        </Text>
      ) : (
        <TextInput
          label="Name"
          description={`Letters, digits and _. Expressions read env.${draft.name || 'NAME'}.`}
          required
          data-autofocus
          value={draft.name}
          onChange={(event) => set('name', event.currentTarget.value)}
        />
      )}
      <SegmentedControl
        aria-label="Kind of value"
        data={[
          { value: 'text', label: 'Text' },
          { value: 'json', label: 'JSON' },
        ]}
        value={draft.kind}
        onChange={(kind) => set('kind', kind)}
      />
      {draft.kind === 'text' ? (
        <Textarea
          label="Value"
          autosize
          value={draft.text}
          onChange={(event) => set('text', event.currentTarget.value)}
        />
      ) : (
        <JsonField
          label="Value"
          description="A number, true or false, a list or an object."
          value={draft.text}
          onChange={(text) => set('text', text)}
          minRows={3}
        />
      )}
      <Textarea
        label="Description"
        autosize
        value={draft.description}
        onChange={(event) => set('description', event.currentTarget.value)}
      />
    </FormDialog>
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

function writtenValue({ kind, text }: Draft): JsonValue {
  return kind === 'text' ? text : JSON.parse(text)
}
