import { Autocomplete, Button, FileButton, Group, Select, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConnectionRecord, TriedConnection } from '../../../../shared/api/operate/connections.ts'
import type { ApiDocumentRecord } from '../../../../shared/api/operate/operations.ts'
import { apiDocument, fetchApiDocument, sendApiDocument } from '../../../api/api-documents.ts'
import { messageOf } from '../../../api/api-error.ts'
import { namesOf } from '../../../api/named-records.ts'
import { connections, secrets, tryConnection } from '../../../api/operate.ts'
import { useDraft } from '../../../controls/hooks.ts'
import { JsonField } from '../../../controls/json/json-field.tsx'
import { Message } from '../../../controls/states.tsx'
import { namedTexts } from '../../../texts/settings.ts'
import { type ConnectionDraft, draftOf, fieldsOf, type SignInKind, signInLabels } from './connection-draft.ts'
import { NamedDialog, NamedForm } from './named-dialog.tsx'
import type { NewNamedProps } from './named-screen.tsx'

interface SignInFieldsProps {
  readonly draft: ConnectionDraft
  readonly set: <Name extends keyof ConnectionDraft>(name: Name, value: ConnectionDraft[Name]) => void
}

type TextName = 'username' | 'header' | 'tokenUrl' | 'clientId' | 'scope'

interface TextField {
  readonly name: TextName
  readonly label: string
  readonly placeholder?: string
  readonly optional?: true
}

const fields: Readonly<Record<SignInKind, readonly TextField[]>> = {
  none: [],
  bearer: [],
  basic: [{ name: 'username', label: namedTexts.userName }],
  header: [{ name: 'header', label: namedTexts.header, placeholder: 'x-api-key' }],
  oauth2: [
    { name: 'tokenUrl', label: namedTexts.addressOfTokens, placeholder: 'https://shop.example/token' },
    { name: 'clientId', label: namedTexts.clientId },
    { name: 'scope', label: namedTexts.scope, optional: true },
  ],
}

const kinds: readonly SignInKind[] = ['none', 'bearer', 'basic', 'header', 'oauth2']

/** How requests over a connection are signed in. The secret is named: its value is set under Secrets. */
function SignInFields({ draft, set }: SignInFieldsProps) {
  const { data = [] } = useQuery(secrets.all)
  return (
    <>
      <Select
        label={namedTexts.signIn}
        allowDeselect={false}
        data={kinds.map((kind) => ({ value: kind, label: signInLabels[kind] }))}
        value={draft.kind}
        onChange={(chosen) => set('kind', kinds.find((kind) => kind === chosen) ?? 'none')}
      />
      {fields[draft.kind].map(({ name, label, placeholder, optional }) => (
        <TextInput
          key={name}
          label={label}
          placeholder={placeholder}
          required={!optional}
          value={draft[name]}
          onChange={(event) => set(name, event.currentTarget.value)}
        />
      ))}
      {draft.kind === 'none' ? null : (
        <Autocomplete
          label={namedTexts.secret}
          description={namedTexts.secretHelp}
          required
          data={[...namesOf(data)]}
          value={draft.secret}
          onChange={(name) => set('secret', name)}
        />
      )}
    </>
  )
}

export function ConnectionDialog({ guid, name = '', onClose, onCreated }: NewNamedProps) {
  return (
    <NamedDialog
      guid={guid}
      onClose={onClose}
      records={connections}
      form={(record) => <Opened {...{ record, name, onClose, onCreated }} />}
    />
  )
}

interface OpenedProps {
  readonly record: ConnectionRecord | undefined
  readonly name: string
  readonly onClose: () => void
  readonly onCreated: NewNamedProps['onCreated']
}

function Opened({ record, name, onClose, onCreated }: OpenedProps) {
  const form = useDraft(draftOf(record, name))
  const { draft, set } = form
  return (
    <NamedForm
      record={record}
      title={namedTexts.newConnection}
      nameHelp={namedTexts.newConnectionNameHelp}
      draft={draft}
      onDraft={set}
      submit={async () => {
        await connections.save(record, form, { draftOf, fieldsOf })
        onCreated?.(draft.name)
      }}
      onClose={onClose}
    >
      <TextInput
        label={namedTexts.baseAddress}
        description={namedTexts.baseAddressHelp}
        placeholder="https://shop.example/v1"
        required
        data-autofocus={name !== '' || undefined}
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
      {record ? <ApiDocument guid={record._meta.guid} /> : null}
    </NamedForm>
  )
}

function isChanged(record: ConnectionRecord, draft: ReturnType<typeof draftOf>): boolean {
  return JSON.stringify(draftOf(record)) !== JSON.stringify(draft)
}

interface TryConnectionProps {
  readonly guid: string
  /** What is typed differs from what is stored, which is what is tried. */
  readonly isChanged: boolean
}

/** Sends one request over the stored connection, and says what came of it. */
function TryConnection({ guid, isChanged }: TryConnectionProps) {
  const [path, setPath] = useState('')
  const send = useMutation({ mutationFn: () => tryConnection(guid, path) })
  return (
    <>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          label={namedTexts.tryAPath}
          description={namedTexts.tryAPathHelp}
          placeholder={namedTexts.ordersLimit1}
          style={{ flex: 1 }}
          value={path}
          onChange={(event) => setPath(event.currentTarget.value)}
        />
        <Button variant="default" loading={send.isPending} disabled={isChanged} onClick={() => send.mutate()}>
          {namedTexts.try}
        </Button>
      </Group>
      <Text size="sm" role="status" c={send.data?.ok ? 'green' : send.data || send.error ? 'red' : 'dimmed'}>
        <Message
          text={isChanged ? namedTexts.saveFirst : send.error ? send.error.message : reported(send.data)}
        />
      </Text>
    </>
  )
}

function reported(tried: TriedConnection | undefined): string {
  if (!tried) return ''
  return tried.problem ?? namedTexts.tried(tried.status, Math.round(tried.milliseconds ?? 0))
}

/** The OpenAPI document of a connection: fetched or sent, and what it offers. */
function ApiDocument({ guid }: { readonly guid: string }) {
  const [url, setUrl] = useState('')
  const { data } = useQuery({
    queryKey: ['api-document', guid],
    queryFn: ({ signal }) => apiDocument(guid, signal),
  })
  const change = useMutation({
    mutationFn: (from: string | File) =>
      typeof from === 'string' ? fetchApiDocument(guid, from) : sendApiDocument(guid, from),
  })
  const source = data?.source ?? ''
  return (
    <>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          label={namedTexts.apiDocument}
          description={namedTexts.apiDocumentHelp}
          placeholder={source || 'https://shop.example/openapi.json'}
          style={{ flex: 1 }}
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <Button
          variant="default"
          loading={change.isPending}
          disabled={url.trim() === '' && source === ''}
          onClick={() => change.mutate(url.trim())}
        >
          {namedTexts.fetchDocument}
        </Button>
        <FileButton
          accept=".json,.yaml,.yml,application/json"
          onChange={(file) => file && change.mutate(file)}
        >
          {(props) => (
            <Button {...props} variant="default" disabled={change.isPending}>
              {namedTexts.sendFile}
            </Button>
          )}
        </FileButton>
      </Group>
      <Text size="sm" role="status" c={change.error ? 'red' : 'dimmed'} style={{ overflowWrap: 'anywhere' }}>
        <Message text={change.error ? messageOf(change.error) : about(data)} />
        {change.data && change.data.changed > 0
          ? ` ${namedTexts.operationsChanged(change.data.changed)}`
          : ''}
      </Text>
      {data && data.left_out.length > 0 ? <LeftOut document={data} /> : null}
    </>
  )
}

/** What of the document no block offers. */
function LeftOut({ document }: { readonly document: ApiDocumentRecord }) {
  return (
    <details>
      <Text component="summary" size="sm">
        {namedTexts.leftOut(document.left_out_count)}
      </Text>
      {document.left_out.slice(0, 100).map(({ operation, what }) => (
        <Text key={`${operation} ${what}`} size="xs" c="dimmed">
          {operation === '' ? what : `${operation}: ${what}`}
        </Text>
      ))}
    </details>
  )
}

function about(document: ApiDocumentRecord | null | undefined): string {
  if (!document) return ''
  return namedTexts.documentHas(`${document.title} ${document.version}`.trim(), document.operations)
}
