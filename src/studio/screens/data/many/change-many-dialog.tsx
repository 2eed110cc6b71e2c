import { Select, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { valueOfText } from '../../../../shared/fields/value-of-text.ts'
import { useFieldError } from '../../../controls/field-errors.tsx'
import { FormDialog } from '../../../controls/form-dialog.tsx'
import { documentsTexts } from '../../../texts/documents.ts'
import { isFields } from '../documents/document-shape.ts'
import type { GridColumn } from '../grid/grid-column.ts'
import { ReferenceSelect } from '../grid/reference-select.tsx'

interface ChangeManyProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly title: string
  readonly about: string
  /** Of the fields that can be written. */
  readonly columns: readonly GridColumn[]
  readonly submit: (name: string, value: unknown) => Promise<unknown>
}

/** One value for a field of all selected documents. */
export function ChangeManyDialog({ opened, onClose, title, about, columns, submit }: ChangeManyProps) {
  const [name, setName] = useState('')
  const [text, setText] = useState('')
  const column = columns.find((one) => one.name === name)
  const store = async () => {
    if (!column) throw new Error(documentsTexts.chooseAFieldFirst)
    await submit(column.name, read(column, text))
    setText('')
  }
  return (
    <FormDialog opened={opened} onClose={onClose} title={title} action={documentsTexts.change} submit={store}>
      <Select
        label={documentsTexts.field}
        data={columns.map((one) => ({ value: one.name, label: one.label }))}
        required
        searchable
        data-autofocus
        value={name === '' ? null : name}
        onChange={(chosen) => {
          setName(chosen ?? '')
          setText('')
        }}
      />
      {column ? <Value key={column.name} column={column} text={text} onChange={setText} /> : null}
      <Text size="sm" c="dimmed">
        {about}
      </Text>
    </FormDialog>
  )
}

interface ValueProps {
  readonly column: GridColumn
  readonly text: string
  readonly onChange: (text: string) => void
}

function Value({ column, text, onChange }: ValueProps) {
  const error = useFieldError()(column.name)
  const options = column.kind === 'condition' ? ['yes', 'no'] : column.choices
  if (column.kind === 'reference')
    return (
      <ReferenceSelect
        column={column}
        label={documentsTexts.value}
        error={error}
        onChange={(guid) => onChange(guid ?? '')}
      />
    )
  if (column.kind === 'condition' || column.kind === 'choice')
    return (
      <Select
        label={documentsTexts.value}
        data={[...options]}
        clearable
        error={error}
        value={text === '' ? null : text}
        onChange={(chosen) => onChange(chosen ?? '')}
      />
    )
  return (
    <Textarea
      label={documentsTexts.value}
      description={documentsTexts.valueHelp}
      autosize
      minRows={1}
      maxRows={8}
      error={error}
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function read({ type, field, label }: GridColumn, text: string): unknown {
  const limits = isFields(field?.validation_rules) ? field.validation_rules : {}
  const value = valueOfText({ type, limits }, text)
  if ('problem' in value) throw new Error(documentsTexts.fieldProblem(label, value.problem))
  return value.value
}
