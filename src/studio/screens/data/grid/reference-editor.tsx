import { Select } from '@mantine/core'
import { type KeyboardEvent, useEffect, useState } from 'react'
import { gridTexts } from '../../../texts/grid.ts'
import type { CellEditorProps } from './cell-editor-props.ts'
import classes from './grid.module.css'
import { isMarked, noOption } from './marked-option.ts'
import { useOfferedDocuments } from './use-offered-documents.ts'

/** Chooses a document by its name: what is typed is searched for in the storage that the field refers to. */
export function ReferenceEditor({ column, value, typed, onValue, onCancel }: CellEditorProps) {
  const storage = column.field?.reference?.storage ?? ''
  const [search, setSearch] = useState(typed ?? '')
  const [isMoved, setMoved] = useState(false)
  // Enter came before the answer: the first that is found is taken.
  const [isEntered, setEntered] = useState(false)
  const { offered, nothing, isAnswered } = useOfferedDocuments(storage, search)
  const first = offered[0]?.value
  useEffect(() => {
    if (!isEntered || !isAnswered) return
    setEntered(false)
    if (first !== undefined) onValue(first, 'down')
  }, [isEntered, isAnswered, first, onValue])
  const onEnter = (event: KeyboardEvent) => {
    const isUntouched = search.trim() === '' && !isMoved
    if (!isUntouched && isAnswered && isMarked()) return
    event.preventDefault()
    event.stopPropagation()
    // What is listed may be of the keys before.
    const words = search.trim().toLowerCase()
    const fitting =
      words === '' ? undefined : offered.find(({ label }) => label.toLowerCase().includes(words))
    if (isUntouched) onCancel()
    else if (fitting) onValue(fitting.value, 'down')
    else setEntered(true)
  }
  return (
    <Select
      className={classes.select}
      aria-label={column.label}
      placeholder={gridTexts.search(storage)}
      data={[...offered]}
      filter={({ options }) => options}
      nothingFoundMessage={nothing}
      value={noOption}
      searchable
      clearable={column.field?.required !== true && typeof value === 'string' && value !== ''}
      autoFocus
      // The letter that opened it is typed already: selected, the next one would replace it.
      onFocus={() => undefined}
      defaultDropdownOpened
      selectFirstOptionOnChange
      searchValue={search}
      onSearchChange={(text) => {
        setSearch(text)
        setEntered(false)
      }}
      onChange={(guid) => onValue(guid, 'down')}
      onBlur={onCancel}
      onKeyDownCapture={(event) => {
        if (event.key === 'Enter') onEnter(event)
      }}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Escape' || event.key === 'Tab') onCancel()
        if (event.key.startsWith('Arrow')) setMoved(true)
      }}
    />
  )
}
