import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldsQuery, findDocuments } from '../../../api/storages.ts'
import type { CellEditorProps } from './cell-editor-props.ts'
import { documentName } from './document-name.ts'
import classes from './grid.module.css'

const MOST_OFFERED = 30

/** Chooses a document by its name: what is typed is searched for in the storage that the field refers to. */
export function ReferenceEditor({ column, value, typed, onValue, onCancel }: CellEditorProps) {
  const storage = column.field?.reference?.storage ?? ''
  const [search, setSearch] = useState(typed ?? '')
  const [wanted] = useDebouncedValue(search.trim(), 150)
  const { data: fields } = useQuery({ ...fieldsQuery(storage), retry: false })
  const { data, error, isFetching } = useQuery({
    queryKey: ['documents', storage, 'offered', wanted],
    queryFn: ({ signal }) =>
      findDocuments(storage, { limit: MOST_OFFERED, ...(wanted !== '' && { query: words(wanted) }) }, signal),
  })
  const current = typeof value === 'string' && value !== '' ? value : null
  const offered = (data?.records ?? []).map((record) => ({
    value: record._meta.guid,
    label: documentName(record, fields),
  }))
  return (
    <Select
      className={classes.select}
      aria-label={column.label}
      placeholder={`Search ${storage}`}
      data={offered}
      filter={({ options }) => options}
      nothingFoundMessage={error ? 'Could not search' : isFetching ? 'Searching …' : 'No match'}
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

/** Words as free text, the last one as the beginning of one. */
function words(typed: string): string {
  return `${typed.replaceAll(/["|*()~+-]/g, ' ').trim()}*`
}
