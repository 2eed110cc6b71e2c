import { Badge, Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import type { Document } from '../../../../shared/api/data/documents.ts'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { documentQuery, removeDocument, restoreDocument, storageQuery } from '../../../api/storages.ts'
import { confirm } from '../../../controls/confirm.ts'
import { Icon } from '../../../controls/icon.tsx'
import { JsonField } from '../../../controls/json/json-field.tsx'
import { jsonMistake } from '../../../controls/json/json-mistake.ts'
import { notifyDone, notifyFailed } from '../../../controls/notify.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { FailedScreen, LoadingScreen } from '../../../controls/states.tsx'
import { Time } from '../../../controls/time.tsx'
import { dataTexts } from '../../../texts/data.ts'
import type { ScreenProps } from '../../screen-props.ts'
import { DocumentForm } from './document-form.tsx'
import { DocumentHistory } from './document-history.tsx'
import { isFields } from './document-shape.ts'
import { SaveBar } from './save-bar.tsx'
import {
  changesSince,
  type Edits,
  latestOf,
  objectIn,
  useDocumentSave,
  withoutMeta,
} from './use-document-save.ts'

/** One document: as a form, as JSON, and its history. */
export function DocumentScreen({ params }: ScreenProps) {
  const { storage: storageGuid = '', document: guid = '' } = params
  const isNew = guid === 'new'
  const storage = useQuery(storageQuery(storageGuid))
  const found = useQuery({ ...documentQuery(storageGuid, guid), enabled: !isNew })
  const error = storage.error ?? found.error
  if (error)
    return (
      <FailedScreen
        error={error}
        title={dataTexts.couldNotLoadDocument}
        parent={{
          href: storage.data ? `/data/storages/${storageGuid}` : '/data',
          label: storage.data?.name ?? dataTexts.storages,
        }}
        onRetry={found.refetch}
      />
    )
  if (!storage.data || (!isNew && !found.data)) return <LoadingScreen />
  return (
    <>
      <ScreenHead
        title={
          isNew ? (
            dataTexts.newDocument
          ) : (
            <span style={{ overflowWrap: 'anywhere' }}>{titleOf(found.data)}</span>
          )
        }
        about={found.data ? <About document={found.data} /> : undefined}
        parent={{ href: `/data/storages/${storageGuid}`, label: storage.data.name }}
      >
        {found.data ? <Actions storage={storageGuid} document={found.data} /> : null}
      </ScreenHead>
      <DocumentTabs storage={storage.data} document={found.data} />
    </>
  )
}

function DocumentTabs({ storage, document }: DocumentProps) {
  const [words, setWords] = useSearchParams()
  const tab = words.get('tab') ?? 'form'
  // What was typed in one that was looked at stays in it.
  const seen = useRef(new Set<string>())
  seen.current.add(tab)
  const isShown = (one: string) => one === tab
  return (
    <Tabs
      value={tab}
      onChange={(next) => setWords(next === null || next === 'form' ? {} : { tab: next }, { replace: true })}
    >
      <Tabs.List mb="md">
        <Tabs.Tab value="form">{dataTexts.form}</Tabs.Tab>
        <Tabs.Tab value="json">{dataTexts.json}</Tabs.Tab>
        {document === undefined ? null : <Tabs.Tab value="history">{dataTexts.history}</Tabs.Tab>}
      </Tabs.List>
      <Tabs.Panel value="form">
        {seen.current.has('form') ? (
          <DocumentForm storage={storage} document={document} isShown={isShown('form')} />
        ) : null}
      </Tabs.Panel>
      <Tabs.Panel value="json">
        {seen.current.has('json') ? (
          <DocumentJson storage={storage} document={document} isShown={isShown('json')} />
        ) : null}
      </Tabs.Panel>
      <Tabs.Panel value="history">
        {isShown('history') ? (
          <DocumentHistory storage={storage} guid={document?._meta.guid ?? 'new'} />
        ) : null}
      </Tabs.Panel>
    </Tabs>
  )
}

/** What people would call it: its title or name, else its guid. */
function titleOf(document: Document | undefined): string {
  for (const name of ['title', 'name', 'subject', 'email', 'label']) {
    const value = document?.[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return document?._meta.guid ?? ''
}

function About({ document: { _meta } }: { readonly document: Document }) {
  return (
    <Group component="span" gap="sm">
      {_meta.removed > 0 ? <Badge color="red">{dataTexts.removed}</Badge> : null}
      <Text span inherit>
        {dataTexts.created} <Time at={_meta.created} />
        {dataTexts.changedBefore} <Time at={_meta.updated} />
      </Text>
      <Text span inherit ff="monospace" fz="xs">
        {_meta.guid}
      </Text>
    </Group>
  )
}

function Actions({
  storage,
  document: { _meta },
}: {
  readonly storage: string
  readonly document: Document
}) {
  const [, go] = useLocation()
  const restore = async () => {
    try {
      await restoreDocument(storage, _meta.guid)
      notifyDone(dataTexts.documentRestored)
    } catch (error) {
      notifyFailed(dataTexts.couldNotRestoreDocument, error)
    }
  }
  const remove = async () => {
    try {
      await removeDocument(storage, _meta.guid, false)
      notifyDone(dataTexts.documentRemoved)
    } catch (error) {
      notifyFailed(dataTexts.couldNotRemoveDocument, error)
    }
  }
  const askToDelete = () =>
    confirm({
      title: dataTexts.deleteThisDocument,
      text: dataTexts.deleteDocumentText,
      action: dataTexts.deletePermanently,
      run: async () => {
        await removeDocument(storage, _meta.guid, true)
        go(`/data/storages/${storage}`)
      },
    })
  if (_meta.removed === 0)
    return (
      <Button variant="default" leftSection={<Icon name="trash" size={16} />} onClick={() => void remove()}>
        {dataTexts.remove}
      </Button>
    )
  return (
    <>
      <Button variant="default" color="red" onClick={askToDelete}>
        {dataTexts.deletePermanently}
      </Button>
      <Button leftSection={<Icon name="restore" size={16} />} onClick={() => void restore()}>
        {dataTexts.restore}
      </Button>
    </>
  )
}

interface DocumentProps {
  readonly storage: StorageRecord
  /** None: a new one. */
  readonly document: Document | undefined
}

interface TabProps extends DocumentProps {
  readonly isShown: boolean
}

interface TypedText {
  readonly text: string
  /** What it was begun from: what others have changed since is not taken back. */
  readonly base: Edits
  /** The version with which it was compared: what others have changed until then is to be written over. */
  readonly compared: Edits
}

/** What was typed, over what is stored, and what of it is to be sent. */
function useTypedText(storage: StorageRecord, document: Document | undefined) {
  const stored = useMemo(() => JSON.stringify(withoutMeta(document ?? {}), null, 2), [document])
  const [typed, setTyped] = useState<TypedText>()
  const begun: TypedText = typed ?? { text: stored, base: document ?? {}, compared: document ?? {} }
  const { text, base, compared } = begun
  const mistake = mistakeIn(text)
  const changes = mistake === '' ? changesSince(base, objectIn(text), document ?? {}, compared) : noChanges
  // The server refuses it for an older version: then the user is asked to compare.
  const isOld = changes.disputed.length > 0 && isDocument(compared)
  return {
    ...{ text, mistake, changes, lock: isOld ? compared : document },
    type: (next: string) => setTyped({ ...begun, text: next }),
    /** What was typed since is begun from it. The query tells its components of what is stored by a timer. */
    saved: (sent: string, fields: Edits) =>
      void setTimeout(() =>
        setTyped((now) =>
          now === undefined || now.text === sent
            ? undefined
            : { ...now, base: { ...now.base, ...fields }, compared: { ...now.compared, ...fields } },
        ),
      ),
    discard: () => setTyped(undefined),
    compare: () => setTyped((now) => now && document && { ...now, compared: latestOf(storage, document) }),
  }
}

/** The document as text. What is saved are the fields that differ from what it was when the text was begun. */
function DocumentJson({ storage, document, isShown }: TabProps) {
  const typed = useTypedText(storage, document)
  const { text, mistake, changes } = typed
  const sent = useRef(text)
  const save = useDocumentSave(storage, document, (done) => typed.saved(sent.current, done), typed.lock)
  return (
    <Stack gap="sm" maw={860}>
      <JsonField
        label={dataTexts.document}
        description={dataTexts.documentHelp}
        value={text}
        onChange={typed.type}
        error={mistake || undefined}
        minRows={12}
      />
      {isShown ? (
        <SaveBar
          document={document}
          changes={changes}
          save={save}
          isBroken={mistake !== ''}
          onSave={() => {
            sent.current = text
            save.mutate(changes.fields)
          }}
          onDiscard={typed.discard}
          onReloaded={typed.compare}
        />
      ) : null}
    </Stack>
  )
}

const noChanges = { fields: {}, lost: [], disputed: [] }

function isDocument(base: Edits): base is Document {
  return isFields(base._meta)
}

function mistakeIn(text: string): string {
  const mistake = jsonMistake(text)
  if (mistake !== '') return mistake
  return isFields(JSON.parse(text)) ? '' : dataTexts.documentIsObject
}
