import { PasswordInput, Text, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { SecretRecord } from '../../../shared/api/secrets.ts'
import { readSecretRecord, saveSecret } from '../../api/secrets.ts'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { Time } from '../../controls/time.tsx'
import { useDraft } from '../../controls/use-draft.ts'

interface SecretDialogProps {
  /** Of the secret; `new`, or empty for none. */
  readonly guid: string
  readonly onClose: () => void
}

export function SecretDialog({ guid, onClose }: SecretDialogProps) {
  const isNew = guid === 'new'
  const { data } = useQuery({
    queryKey: ['secrets', 'one', guid],
    queryFn: ({ signal }) => readSecretRecord(guid, signal),
    enabled: guid !== '' && !isNew,
  })
  if (isNew) return <Opened onClose={onClose} />
  return data && guid !== '' ? <Opened key={data._meta.update_hash} record={data} onClose={onClose} /> : null
}

interface OpenedProps {
  readonly record?: SecretRecord
  readonly onClose: () => void
}

function Opened({ record, onClose }: OpenedProps) {
  const { draft, set } = useDraft({ name: '', value: '', description: record?.description ?? '' })
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={record ? record.name : 'New secret'}
      action={record ? 'Save' : 'Create'}
      submit={() => saveSecret(record?._meta.guid, draft)}
    >
      {record ? (
        <Text size="sm" c="dimmed">
          Changed <Time at={record._meta.updated} /> by {record.modified_by.username}
        </Text>
      ) : (
        <TextInput
          label="Name"
          description="Letters, digits and _. Pins of the type secret hold this name."
          required
          data-autofocus
          value={draft.name}
          onChange={(event) => set('name', event.currentTarget.value)}
        />
      )}
      <PasswordInput
        label={record ? 'New value' : 'Value'}
        description={
          record ? 'Empty: the value stays as it is. It is never shown.' : 'It is never shown again.'
        }
        required={!record}
        autoComplete="off"
        value={draft.value}
        onChange={(event) => set('value', event.currentTarget.value)}
      />
      <Textarea
        label="Description"
        autosize
        value={draft.description}
        onChange={(event) => set('description', event.currentTarget.value)}
      />
    </FormDialog>
  )
}
