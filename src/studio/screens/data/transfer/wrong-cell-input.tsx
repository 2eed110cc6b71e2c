import { Autocomplete, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import { transferTexts } from '../../../texts/transfer.ts'
import { useOfferedDocuments } from '../grid/use-offered-documents.ts'
import type { WrongCell } from './wrong-lines.ts'

interface WrongCellProps {
  readonly cell: WrongCell
  readonly line: number
  readonly text: string
  readonly field: FieldRecord | undefined
  readonly onChange: (text: string) => void
}

/** The text of a wrong cell. Behind a field that refers to others are their names, to choose from. */
export function WrongCellInput({ cell, line, text, field, onChange }: WrongCellProps) {
  const { column, reason } = cell
  const props = {
    size: 'sm',
    label: column === '' ? transferTexts.wholeLine : column.slice(0, 60),
    'aria-label': transferTexts.cellOf(column, line),
    value: text,
    error: reason || undefined,
    dir: 'auto',
  } as const
  const storage = field?.reference?.storage
  if (column === '')
    return (
      <Textarea {...props} autosize maxRows={6} onChange={(event) => onChange(event.currentTarget.value)} />
    )
  if (storage !== undefined) return <NameInput {...props} storage={storage} onChange={onChange} />
  return <TextInput {...props} onChange={(event) => onChange(event.currentTarget.value)} />
}

interface NameProps {
  readonly storage: string
  readonly value: string
  readonly onChange: (text: string) => void
}

/** What is offered is asked for when the field is entered: a page has many of them. */
function NameInput({ storage, ...props }: NameProps) {
  const [isOpen, setOpen] = useState(false)
  const { offered } = useOfferedDocuments(storage, props.value, isOpen)
  const names = [...new Set(offered.map(({ label }) => label))]
  return (
    <Autocomplete {...props} data={names} filter={({ options }) => options} onFocus={() => setOpen(true)} />
  )
}
