import { Alert, Checkbox, PasswordInput, TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { SecretRecord } from '../../../../shared/api/operate/secrets.ts'
import { secretKeyQuery, secrets } from '../../../api/operate.ts'
import { useDraft } from '../../../controls/hooks.ts'
import { namedTexts } from '../../../texts/settings.ts'
import { NamedDialog, NamedForm } from './named-dialog.tsx'
import type { NewNamedProps } from './named-screen.tsx'

export function SecretDialog({ guid, name = '', onClose, onCreated }: NewNamedProps) {
  return (
    <NamedDialog
      guid={guid}
      onClose={onClose}
      records={secrets}
      form={(record) => <Opened {...{ record, name, onClose, onCreated }} />}
    />
  )
}

interface OpenedProps {
  readonly record: SecretRecord | undefined
  readonly name: string
  readonly onClose: () => void
  readonly onCreated: NewNamedProps['onCreated']
}

function Opened({ record, name: input, onClose, onCreated }: OpenedProps) {
  const form = useDraft(draftOf(record, input))
  const { draft, set } = form
  const { data: key } = useQuery(secretKeyQuery)
  const { value, hosts, anywhere } = draft
  return (
    <NamedForm
      record={record}
      title={namedTexts.newSecret}
      nameHelp={namedTexts.newSecretNameHelp}
      draft={draft}
      onDraft={set}
      submit={async () => {
        await secrets.save(record, form, { draftOf, fieldsOf })
        onCreated?.(draft.name)
      }}
      onClose={onClose}
    >
      {key?.problem ? (
        <Alert color="red" title={namedTexts.noKey}>
          {key.problem}
        </Alert>
      ) : null}
      <PasswordInput
        label={record ? namedTexts.newValue : namedTexts.value}
        description={record ? namedTexts.storedValueHelp : namedTexts.newValueHelp}
        required={!record}
        disabled={Boolean(key?.problem)}
        autoComplete="off"
        data-autofocus={input !== '' || undefined}
        value={value}
        onChange={(event) => set('value', event.currentTarget.value)}
      />
      <TagsInput
        label={namedTexts.hosts}
        description={namedTexts.hostsHelp}
        placeholder={!anywhere && hosts.length === 0 ? namedTexts.hostExample : ''}
        disabled={anywhere}
        value={anywhere ? [] : [...hosts]}
        onChange={(list) => set('hosts', list)}
      />
      <Checkbox
        label={namedTexts.anyServer}
        description={namedTexts.anyServerHelp}
        checked={anywhere}
        onChange={(event) => set('anywhere', event.currentTarget.checked)}
      />
    </NamedForm>
  )
}

/** A value that is empty stays as it is. */
function fieldsOf({ value, description, hosts, anywhere }: ReturnType<typeof draftOf>) {
  return { description, hosts: anywhere ? null : [...hosts], ...(value !== '' && { value }) }
}

function draftOf(record: SecretRecord | undefined, name = '') {
  const hosts: readonly string[] = record?.hosts ?? []
  return { name, value: '', description: record?.description ?? '', hosts, anywhere: record?.hosts === null }
}
