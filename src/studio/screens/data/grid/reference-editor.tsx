import { Select } from '@mantine/core'
import { useState } from 'react'
import type { CellEditorProps } from './cell-editor-props.ts'
import classes from './grid.module.css'
import { useOfferedDocuments } from './use-offered-documents.ts'

/** Chooses a document by its name: what is typed is searched for in the storage that the field refers to. */
export function ReferenceEditor({ column, value, typed, onValue, onCancel }: CellEditorProps) {
  const storage = column.field?.reference?.storage ?? ''
  const [search, setSearch] = useState(typed ?? '')
  const { offered, nothing } = useOfferedDocuments(storage, search)
  const current = typeof value === 'string' && value !== '' ? value : null
  return (
    <Select
      className={classes.select}
      aria-label={column.label}
      placeholder={`Search ${storage}`}
      data={[...offered]}
      filter={({ options }) => options}
      nothingFoundMessage={nothing}
      value={offered.some((one) => one.value === current) ? current : null}
      searchable
      clearable={column.field?.required !== true}
      autoFocus
      defaultDropdownOpened
      selectFirstOptionOnChange
      searchValue={search}
      onSearchChange={setSearch}
      onChange={(guid) => onValue(guid, 'down')}
      onBlur={onCancel}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Escape' || event.key === 'Tab') onCancel()
        const [first] = offered
        // What was found after the last key is not marked yet: Enter takes the first.
        if (event.key !== 'Enter' || !first || document.querySelector('[data-combobox-selected]')) return
        event.preventDefault()
        onValue(first.value, 'down')
      }}
    />
  )
}
