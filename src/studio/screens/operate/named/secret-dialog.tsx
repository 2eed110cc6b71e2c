import { PasswordInput } from '@mantine/core'
import type { SecretRecord } from '../../../../shared/api/secrets.ts'
import { secrets } from '../../../api/secrets.ts'
import { useDraft } from '../../../controls/use-draft.ts'
import { NamedDialog, NamedForm } from './named-dialog.tsx'
import type { NamedDialogProps } from './named-screen.tsx'

export function SecretDialog({ guid, onClose }: NamedDialogProps) {
  return (
    <NamedDialog
      guid={guid}
      records={secrets}
      form={(record) => <Opened key={record?._meta.update_hash} record={record} onClose={onClose} />}
    />
  )
}

interface OpenedProps {
  readonly record: SecretRecord | undefined
  readonly onClose: () => void
}

function Opened({ record, onClose }: OpenedProps) {
  const { draft, set } = useDraft({ name: '', value: '', description: record?.description ?? '' })
  const { name, value, description } = draft
  return (
    <NamedForm
      record={record}
      title="New secret"
      nameHelp="Letters, digits and _. Pins of the type secret hold this name."
      draft={draft}
      onDraft={set}
      // Empty: as it is.
      submit={() => secrets.save(record?._meta.guid, name, { description, ...(value !== '' && { value }) })}
      onClose={onClose}
    >
      <PasswordInput
        label={record ? 'New value' : 'Value'}
        description={
          record ? 'Empty: the value stays as it is. It is never shown.' : 'It is never shown again.'
        }
        required={!record}
        autoComplete="off"
        value={value}
        onChange={(event) => set('value', event.currentTarget.value)}
      />
    </NamedForm>
  )
}
