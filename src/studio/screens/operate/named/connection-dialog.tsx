import { TextInput } from '@mantine/core'
import type { ConnectionRecord } from '../../../../shared/api/operate/connections.ts'
import { connections } from '../../../api/connections.ts'
import { JsonField } from '../../../controls/json/json-field.tsx'
import { useDraft } from '../../../controls/use-draft.ts'
import { namedTexts } from '../../../texts/named.ts'
import { draftOf, fieldsOf } from './connection-draft.ts'
import { NamedDialog, NamedForm } from './named-dialog.tsx'
import type { NamedDialogProps } from './named-screen.tsx'
import { SignInFields } from './sign-in-fields.tsx'
import { TryConnection } from './try-connection.tsx'

export function ConnectionDialog({ guid, onClose }: NamedDialogProps) {
  return (
    <NamedDialog
      guid={guid}
      records={connections}
      form={(record) => <Opened key={record?._meta.update_hash} record={record} onClose={onClose} />}
    />
  )
}

interface OpenedProps {
  readonly record: ConnectionRecord | undefined
  readonly onClose: () => void
}

function Opened({ record, onClose }: OpenedProps) {
  const { draft, set } = useDraft(draftOf(record))
  return (
    <NamedForm
      record={record}
      title={namedTexts.newConnection}
      nameHelp={namedTexts.newConnectionNameHelp}
      draft={draft}
      onDraft={set}
      submit={async () => connections.save(record?._meta.guid, draft.name, fieldsOf(draft))}
      onClose={onClose}
    >
      <TextInput
        label={namedTexts.baseAddress}
        description={namedTexts.baseAddressHelp}
        placeholder="https://shop.example/v1"
        required
        value={draft.baseUrl}
        onChange={(event) => set('baseUrl', event.currentTarget.value)}
      />
      <SignInFields draft={draft} set={set} />
      <JsonField
        label={namedTexts.headers}
        description={namedTexts.headersHelp}
        value={draft.headers}
        onChange={(text) => set('headers', text)}
        minRows={2}
      />
      {record ? <TryConnection guid={record._meta.guid} isChanged={isChanged(record, draft)} /> : null}
    </NamedForm>
  )
}

function isChanged(record: ConnectionRecord, draft: ReturnType<typeof draftOf>): boolean {
  return JSON.stringify(draftOf(record)) !== JSON.stringify(draft)
}
