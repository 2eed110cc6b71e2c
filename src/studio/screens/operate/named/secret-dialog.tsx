import { PasswordInput } from '@mantine/core'
import type { SecretRecord } from '../../../../shared/api/operate/secrets.ts'
import { secrets } from '../../../api/secrets.ts'
import { useDraft } from '../../../controls/use-draft.ts'
import { namedTexts } from '../../../texts/named.ts'
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
      title={namedTexts.newSecret}
      nameHelp={namedTexts.newSecretNameHelp}
      draft={draft}
      onDraft={set}
      // Empty: as it is.
      submit={() => secrets.save(record?._meta.guid, name, { description, ...(value !== '' && { value }) })}
      onClose={onClose}
    >
      <PasswordInput
        label={record ? namedTexts.newValue : namedTexts.value}
        description={record ? namedTexts.keptValueHelp : namedTexts.newValueHelp}
        required={!record}
        autoComplete="off"
        value={value}
        onChange={(event) => set('value', event.currentTarget.value)}
      />
    </NamedForm>
  )
}
