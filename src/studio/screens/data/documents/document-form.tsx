import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useMemo, useState } from 'react'
import type { Document } from '../../../../shared/api/data/documents.ts'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { fieldsQuery, findDocuments, inOrder } from '../../../api/storages.ts'
import { fieldMessage } from '../../../controls/field-errors.tsx'
import { useDraft } from '../../../controls/hooks.ts'
import { LoadingScreen } from '../../../controls/states.tsx'
import { dataTexts } from '../../../texts/data.ts'
import { type GridColumn, gridColumn } from '../grid/grid-column.ts'
import { useReferenceNames } from '../grid/use-reference-names.ts'
import { DocumentField } from './document-field.tsx'
import { shapeOf, valueAt } from './document-shape.ts'
import { SaveBar } from './save-bar.tsx'
import {
  type Begun,
  type Edits,
  editsSince,
  latestOf,
  useDocumentSave,
  versionOf,
} from './use-document-save.ts'

const noWidths: ReadonlyMap<string, number> = new Map()
const noDocuments: readonly Document[] = []
const noColumns: readonly GridColumn[] = []

interface DocumentFormProps {
  readonly storage: StorageRecord
  /** None: a new one. */
  readonly document: Document | undefined
  /** It stays with what was typed while another tab is looked at. */
  readonly isShown: boolean
}

/** A field for each of the document's, for each that a rule asks for, and for those that other documents have. */
export function DocumentForm({ storage, document, isShown }: DocumentFormProps) {
  const form = useFormEdits(storage, document)
  const { fields } = form.changes
  const [broken, setBroken] = useState<ReadonlySet<string>>(new Set())
  const [added, setAdded] = useState<readonly string[]>([])
  const [discards, setDiscards] = useState(0)
  const columns = useFieldColumns(storage, document, [...added, ...form.names])
  const save = useDocumentSave(storage, document, form.saved, form.lock)
  const referenceNames = useReferenceNames(columns ?? noColumns, document ? [document] : noDocuments)
  const edit = (name: string, value: unknown, isBroken: boolean) => {
    setBroken((before) => new Set([...before].filter((one) => one !== name).concat(isBroken ? name : [])))
    form.set(name, value)
  }
  if (!columns) return <LoadingScreen />
  return (
    <Stack gap="md" maw={720}>
      {columns.map((column) => {
        const name = column.name
        const stored = valueAt(form.version(name) ?? {}, name)
        return (
          <DocumentField
            key={`${name} ${discards}`}
            column={column}
            value={Object.hasOwn(fields, name) ? fields[name] : stored}
            referenceName={typeof stored === 'string' ? referenceNames.get(stored) : undefined}
            isChanged={document !== undefined && Object.hasOwn(fields, name)}
            error={fieldMessage(save.error, name)}
            onChange={edit}
          />
        )
      })}
      {columns.length === 0 ? (
        <Text size="sm" c="dimmed">
          {dataTexts.noFieldsYet}
        </Text>
      ) : null}
      <AddField taken={columns.map(({ name }) => name)} onAdd={(name) => setAdded([...added, name])} />
      {isShown ? (
        <SaveBar
          document={document}
          changes={form.changes}
          save={save}
          isBroken={broken.size > 0}
          onSave={() => save.mutate(fields)}
          onDiscard={() => {
            form.discard()
            setBroken(new Set())
            setDiscards((count) => count + 1)
          }}
          onReloaded={form.compare}
        />
      ) : null}
    </Stack>
  )
}

/** What was typed, each field over the version of the document in which its edit began. */
function useFormEdits(storage: StorageRecord, document: Document | undefined) {
  const { draft: edits, set, saved } = useDraft<Edits>({})
  const [begun, setBegun] = useState<Begun>({})
  const changes = editsSince(edits, begun, document)
  const begin = (names: readonly string[], from: Document) =>
    setBegun((before) => ({ ...before, ...Object.fromEntries(names.map((name) => [name, from])) }))
  return {
    changes,
    names: Object.keys(edits),
    version: (name: string) => versionOf(name, begun, document),
    // The server refuses it for an older version: then the user is asked to compare.
    lock: begun[changes.disputed[0] ?? ''] ?? document,
    set(name: string, value: unknown) {
      const version = versionOf(name, begun, document)
      if (version && !Object.hasOwn(changes.fields, name)) begin([name], version)
      set(name, value)
    },
    saved(sent: Edits, stored: Document) {
      // What was typed into them since began with what was sent.
      begin(Object.keys(sent), stored)
      saved(sent)
    },
    discard: () => saved(edits),
    compare: () => document && begin(Object.keys(edits), latestOf(storage, document)),
  }
}

/** Fields with a rule, those of documents, and those that were added here, in their order. */
function useFieldColumns(
  storage: StorageRecord,
  document: Document | undefined,
  added: readonly string[],
): readonly GridColumn[] | undefined {
  const { data: rules = [], isPending } = useQuery({ ...fieldsQuery(storage.name), retry: false })
  const { data: sample } = useQuery({
    queryKey: ['documents', storage._meta.guid, 'sample'],
    queryFn: ({ signal }) => findDocuments(storage._meta.guid, { limit: 50 }, signal),
    enabled: document === undefined,
  })
  const shape = useMemo(() => shapeOf(document ? [document] : (sample?.records ?? [])), [document, sample])
  // What is inside a value of a field, such as the name of a file, is no field of its own.
  const others = shape.filter(({ name }) => !rules.some((rule) => name.startsWith(`${rule.name}.`)))
  if (isPending) return undefined
  const names = [...new Set([...inOrder(rules), ...others].map(({ name }) => name).concat(added))]
  const known = { fields: rules, shape, widths: noWidths }
  return (
    names
      .map((name) => gridColumn(name, known))
      // Of a new document Quoin has written nothing yet.
      .filter(({ readOnly }) => document !== undefined || !readOnly)
  )
}

function AddField({
  taken,
  onAdd,
}: {
  readonly taken: readonly string[]
  readonly onAdd: (name: string) => void
}) {
  const [name, setName] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name !== '' && !taken.includes(name)) onAdd(name)
    setName('')
  }
  return (
    <form onSubmit={submit}>
      <Group gap="xs">
        <TextInput
          aria-label={dataTexts.nameFieldAdd}
          placeholder={dataTexts.anotherField}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" variant="default">
          {dataTexts.add}
        </Button>
      </Group>
    </form>
  )
}
