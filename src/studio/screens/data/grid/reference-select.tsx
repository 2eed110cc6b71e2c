import { Select } from '@mantine/core'
import { useState } from 'react'
import { gridTexts } from '../../../texts/grid.ts'
import type { GridColumn } from './grid-column.ts'
import { useOfferedDocuments } from './use-offered-documents.ts'

interface ReferenceSelectProps {
  readonly column: GridColumn
  readonly label: string
  readonly error: string | undefined
  readonly onChange: (guid: string | null) => void
}

/** In a form: a document of the storage that a field refers to, by its name. */
export function ReferenceSelect({ column, label, error, onChange }: ReferenceSelectProps) {
  const storage = column.field?.reference?.storage ?? ''
  const [search, setSearch] = useState('')
  const { offered, nothing } = useOfferedDocuments(storage, search)
  return (
    <Select
      label={label}
      placeholder={gridTexts.search(storage)}
      data={[...offered]}
      filter={({ options }) => options}
      nothingFoundMessage={nothing}
      searchable
      clearable
      error={error}
      onSearchChange={setSearch}
      onChange={onChange}
    />
  )
}
