import { Select } from '@mantine/core'
import { useState } from 'react'
import { documentsTexts } from '../../../texts/documents.ts'
import type { GridColumn } from './grid-column.ts'
import { useOfferedDocuments } from './use-offered-documents.ts'

interface ReferenceSelectProps {
  readonly column: GridColumn
  readonly label: string
  readonly description?: string | undefined
  readonly withAsterisk?: boolean
  readonly error: string | undefined
  /** The document that is chosen, and what it is called. */
  readonly value?: string | null
  readonly name?: string | undefined
  readonly onChange: (guid: string | null) => void
}

/** In a form: a document of the storage that a field refers to, by its name. */
export function ReferenceSelect({ column, value, name, onChange, ...shown }: ReferenceSelectProps) {
  const storage = column.field?.reference?.storage ?? ''
  const [search, setSearch] = useState('')
  const [chosen, choose] = useState('')
  const { offered, nothing } = useOfferedDocuments(storage, search)
  const isOffered = typeof value !== 'string' || offered.some((one) => one.value === value)
  return (
    <Select
      {...shown}
      placeholder={documentsTexts.search(storage)}
      data={isOffered ? [...offered] : [{ value, label: chosen || name || value }, ...offered]}
      filter={({ options }) => options}
      nothingFoundMessage={nothing}
      searchable
      clearable
      {...(value !== undefined && { value })}
      onSearchChange={setSearch}
      onChange={(guid, option) => {
        choose(option?.label ?? '')
        onChange(guid)
      }}
    />
  )
}
