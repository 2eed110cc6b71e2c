import { FileInput, MultiSelect, Select, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import type { Asset } from '../../../../shared/api/data/assets.ts'
import { valueOfText } from '../../../../shared/fields/value-of-text.ts'
import { upload } from '../../../api/upload.ts'
import { JsonField } from '../../../controls/json/json-field.tsx'
import { jsonMistake } from '../../../controls/json/json-mistake.ts'
import { dataTexts } from '../../../texts/data.ts'
import { documentsTexts } from '../../../texts/documents.ts'
import { cellText, copiedText, localMinutes } from '../grid/cell-text.ts'
import type { GridColumn } from '../grid/grid-column.ts'
import { ReferenceSelect } from '../grid/reference-select.tsx'
import { isFields } from './document-shape.ts'

interface DocumentFieldProps {
  /** What the type of the field, or what documents hold where there is none, means for its input. */
  readonly column: GridColumn
  readonly value: unknown
  /** Of the document that a reference names. */
  readonly referenceName: string | undefined
  readonly isChanged: boolean
  readonly error: string | undefined
  /** `isBroken`: what is typed is no value yet. */
  readonly onChange: (name: string, value: unknown, isBroken: boolean) => void
}

interface Shared {
  readonly label: string
  readonly description: string | undefined
  readonly withAsterisk: boolean
  readonly error: string | undefined
}

type InputProps = DocumentFieldProps & { readonly shared: Shared }

/** One field of a document: an input by its type. */
export function DocumentField(props: DocumentFieldProps) {
  const { column, value, isChanged, error } = props
  const { kind, field, label, readOnly } = column
  const shared = {
    label: isChanged ? dataTexts.changed(label) : label,
    description: readOnly ? dataTexts.writtenByQuoin : field?.description || undefined,
    withAsterisk: !readOnly && (field?.required ?? false),
    error,
  }
  if (readOnly) return <TextInput {...shared} disabled value={cellText(column, value).text} readOnly />
  // Fields of the type date hold texts or Unix seconds; they stay what they are.
  const isNumber = kind === 'number' || kind === 'seconds' || typeof value === 'number'
  const Input = kind !== 'choice' && isNumber ? NumberField : (inputs[kind] ?? TextField)
  return <Input {...props} shared={shared} />
}

const inputs: Readonly<Partial<Record<GridColumn['kind'], (props: InputProps) => ReactElement>>> = {
  choice: ChoiceField,
  choices: ChoicesField,
  condition: ConditionField,
  day: DayField,
  instant: InstantField,
  reference: ReferenceField,
  files: FilesField,
  json: JsonValueField,
}

function ChoiceField({ column, value, onChange, shared }: InputProps) {
  const { name, choices, rawChoices, field } = column
  return (
    <Select
      {...shared}
      data={[...choices]}
      clearable={!field?.required}
      value={value === undefined || value === null ? null : String(value)}
      onChange={(one) => onChange(name, rawChoices.find((raw) => String(raw) === one) ?? null, false)}
    />
  )
}

function ChoicesField({ column, value, onChange, shared }: InputProps) {
  const { name, choices, rawChoices } = column
  return (
    <MultiSelect
      {...shared}
      data={[...choices]}
      value={Array.isArray(value) ? value.map(String) : []}
      onChange={(chosen) =>
        onChange(
          name,
          chosen.map((one) => rawChoices.find((raw) => String(raw) === one) ?? one),
          false,
        )
      }
    />
  )
}

function ConditionField({ column, value, onChange, shared }: InputProps) {
  return (
    <Switch
      label={shared.label}
      description={shared.description}
      error={shared.error}
      checked={value === true}
      onChange={(event) => onChange(column.name, event.currentTarget.checked, false)}
    />
  )
}

/** The text as it is typed, `12.` on its way to `12.5`, until the value becomes another one than it means. */
function useTyped(value: unknown, textOf: (value: unknown) => string) {
  const [typed, setTyped] = useState<{ readonly text: string; readonly value: unknown }>()
  const isTyped = typed !== undefined && JSON.stringify(typed.value) === JSON.stringify(value)
  return {
    text: isTyped ? typed.text : textOf(value),
    isTyped,
    type: (text: string, means: unknown) => setTyped({ text, value: means }),
  }
}

function NumberField({ column, value, onChange, shared }: InputProps) {
  const { text, isTyped, type: typeText } = useTyped(value, copiedText)
  const type = column.kind === 'number' ? column.type : 'number'
  const [problem, setProblem] = useState('')
  const limits = isFields(column.field?.validation_rules) ? column.field.validation_rules : {}
  return (
    <TextInput
      {...shared}
      error={(isTyped && problem) || shared.error}
      inputMode="decimal"
      value={text}
      rightSection={
        typeof limits.currency === 'string' ? (
          <Text size="sm" c="dimmed">
            {limits.currency}
          </Text>
        ) : null
      }
      rightSectionWidth={60}
      onChange={({ currentTarget }) => {
        const read = valueOfText({ type, limits }, currentTarget.value)
        const means = 'problem' in read ? value : read.value
        typeText(currentTarget.value, means)
        setProblem('problem' in read ? documentsTexts.fieldProblem(column.label, read.problem) : '')
        onChange(column.name, means, 'problem' in read)
      }}
    />
  )
}

function DayField({ column, value, onChange, shared }: InputProps) {
  return (
    <TextInput
      {...shared}
      type="date"
      value={typeof value === 'string' ? value.slice(0, 10) : ''}
      onChange={(event) => onChange(column.name, event.currentTarget.value || null, false)}
    />
  )
}

function InstantField({ column, value, onChange, shared }: InputProps) {
  return (
    <TextInput
      {...shared}
      type="datetime-local"
      value={localMinutes(value)}
      onChange={({ currentTarget: { value: typed } }) =>
        onChange(column.name, typed === '' ? null : new Date(typed).toISOString(), false)
      }
    />
  )
}

function ReferenceField({ column, value, referenceName, onChange, shared }: InputProps) {
  return (
    <ReferenceSelect
      {...shared}
      column={column}
      value={typeof value === 'string' && value !== '' ? value : null}
      name={referenceName}
      onChange={(guid) => onChange(column.name, guid, false)}
    />
  )
}

/** One file is chosen and stored at once, the one that was chosen last; a list of files is JSON. */
function FilesField(props: InputProps) {
  const { column, value, onChange, shared } = props
  const [problem, setProblem] = useState('')
  const name = isFields(value) && typeof value.name === 'string' ? value.name : dataTexts.noFile
  const uploading = useRef(new AbortController())
  useEffect(() => () => uploading.current.abort(), [])
  if (column.type !== 'file') return <JsonValueField {...props} />
  const store = async (file: File, signal: AbortSignal) => {
    // The document is not saved without it.
    onChange(column.name, value, true)
    const body = new FormData()
    body.set('file', file)
    const { _meta, ...stored } = await upload<Asset>({
      path: '/_system/assets/stream',
      query: { filename: file.name },
      body,
      signal,
      onProgress: () => {},
    })
    if (signal.aborted) return
    onChange(
      column.name,
      { guid: _meta.guid, name: stored.name, type: stored.type, size: stored.size },
      false,
    )
  }
  return (
    <FileInput
      {...shared}
      error={problem || shared.error}
      placeholder={name}
      clearable
      onChange={(file) => {
        setProblem('')
        uploading.current.abort()
        uploading.current = new AbortController()
        const { signal } = uploading.current
        if (file === null) return onChange(column.name, null, false)
        store(file, signal).catch((error: Error) => {
          if (signal.aborted) return
          setProblem(error.message)
          onChange(column.name, value, false)
        })
      }}
    />
  )
}

function TextField({ column, value, onChange, shared }: InputProps) {
  const isText = typeof value === 'string'
  return (
    <Textarea
      {...shared}
      autosize
      minRows={1}
      maxRows={12}
      value={isText ? value : value === undefined || value === null ? '' : JSON.stringify(value)}
      onChange={(event) => onChange(column.name, event.currentTarget.value, false)}
    />
  )
}

function JsonValueField({ column, value, onChange, shared }: InputProps) {
  const { text, type } = useTyped(value, (one) => (one === undefined ? '' : JSON.stringify(one, null, 2)))
  return (
    <JsonField
      label={shared.label}
      {...(shared.description === undefined ? {} : { description: shared.description })}
      error={shared.error}
      minRows={2}
      value={text}
      onChange={(typed) => {
        const isBroken = jsonMistake(typed) !== ''
        const means = isBroken ? value : JSON.parse(typed)
        type(typed, means)
        onChange(column.name, means, isBroken)
      }}
    />
  )
}
