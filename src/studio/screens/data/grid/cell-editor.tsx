import { MultiSelect, Select } from '@mantine/core'
import { type KeyboardEvent, useEffect, useState } from 'react'
import { documentsTexts } from '../../../texts/documents.ts'
import { copiedText, localMinutes } from './cell-text.ts'
import classes from './grid.module.css'
import type { GridColumn } from './grid-column.ts'
import { useOfferedDocuments } from './use-offered-documents.ts'

/** The key that ends an edit, and where it leads. Alt or Shift with Enter is a line end, where there are lines. */
function endOf(event: KeyboardEvent, hasLines = false): Move | undefined {
  if (event.nativeEvent.isComposing) return undefined
  if (event.key === 'Tab') return event.shiftKey ? 'previous' : 'next'
  if (event.key === 'Enter' && !(hasLines && (event.shiftKey || event.altKey))) return 'down'
  return undefined
}

/** In the place of a cell's value: an input by the type of the field. Enter and Tab store, Escape does not. */
export function CellEditor(props: CellEditorProps) {
  switch (props.column.kind) {
    case 'choice':
      return <ChoiceEditor {...props} />
    case 'choices':
      return <ChoicesEditor {...props} />
    case 'reference':
      return <ReferenceEditor {...props} />
    case 'area':
    case 'json':
      return <AreaEditor {...props} />
    default:
      return <TextEditor {...props} />
  }
}

function TextEditor({ column, value, typed, onText, onCancel }: CellEditorProps) {
  const inputType = { day: 'date', instant: 'datetime-local' }[String(column.kind)] ?? 'text'
  const isDate = inputType !== 'text'
  const first = column.kind === 'instant' ? localMinutes(value) : copiedText(value)
  const [text, setText] = useState(isDate ? first : (typed ?? first))
  const done = (move: Move) => {
    if (isDate && text === first) return onCancel()
    onText(column.kind === 'instant' && text !== '' ? new Date(text).toISOString() : text, move)
  }
  return (
    <input
      className={classes.input}
      type={inputType}
      inputMode={column.kind === 'number' ? 'decimal' : undefined}
      aria-label={column.label}
      ref={(input) => input?.focus()}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={() => done('stay')}
      onKeyDown={(event) => {
        const move = endOf(event)
        if (event.key === 'Escape') onCancel()
        else if (move) done(move)
        else return event.stopPropagation()
        event.preventDefault()
        event.stopPropagation()
      }}
    />
  )
}

function AreaEditor({ column, value, typed, onText, onCancel }: CellEditorProps) {
  const [text, setText] = useState(typed ?? copiedText(value))
  return (
    <textarea
      className={`${classes.input} ${classes.area}`}
      aria-label={column.label}
      rows={5}
      ref={(area) => area?.focus()}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={() => onText(text, 'stay')}
      onKeyDown={(event) => {
        event.stopPropagation()
        const move = endOf(event, true)
        if (event.key === 'Escape') onCancel()
        else if (move) onText(text, move)
        else return
        event.preventDefault()
      }}
    />
  )
}

function ChoiceEditor({ column, value, typed, onText, onCancel }: CellEditorProps) {
  const [search, setSearch] = useState(typed ?? '')
  const [isMoved, setMoved] = useState(false)
  const current = value === undefined || value === null ? '' : String(value)
  const requested = search.trim().toLowerCase()
  const onEnter = (event: KeyboardEvent) => {
    const isUntouched = requested === '' && !isMoved
    if (!isUntouched && isMarked()) return
    event.preventDefault()
    event.stopPropagation()
    // What fits the last key is not marked yet: Enter takes the first.
    const first = column.choices.find((choice) => choice.toLowerCase().includes(requested))
    if (isUntouched) onCancel()
    else if (first !== undefined) onText(first, 'down')
  }
  return (
    <Select
      className={classes.select}
      aria-label={column.label}
      data={[...column.choices]}
      placeholder={current}
      value={noOption}
      searchable
      clearable={column.field?.required !== true && current !== ''}
      autoFocus
      // The letter that opened it is typed already: selected, the next one would replace it.
      onFocus={() => undefined}
      defaultDropdownOpened
      selectFirstOptionOnChange
      searchValue={search}
      onSearchChange={setSearch}
      onChange={(choice) => onText(choice ?? '', 'down')}
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

function ChoicesEditor({ column, value, onValue, onCancel }: CellEditorProps) {
  const first = Array.isArray(value) ? value.map(String) : []
  const [chosen, setChosen] = useState(first)
  const typedChoices = () => chosen.map((one) => column.rawChoices.find((raw) => String(raw) === one) ?? one)
  return (
    <MultiSelect
      className={classes.select}
      aria-label={column.label}
      data={[...column.choices]}
      value={chosen}
      onChange={setChosen}
      searchable
      autoFocus
      defaultDropdownOpened
      onBlur={() => onValue(typedChoices(), 'stay')}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Escape') onCancel()
        else if (event.key === 'Tab') {
          event.preventDefault()
          onValue(typedChoices(), event.shiftKey ? 'previous' : 'next')
        }
      }}
    />
  )
}

/** Chooses a document by its name: what is typed is searched for in the storage that the field refers to. */
function ReferenceEditor({ column, value, typed, onValue, onCancel }: CellEditorProps) {
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
      placeholder={documentsTexts.search(storage)}
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

/**
 * A value that no option has. With the value of the cell, or null, a select replaces what is typed by the name of that value, or by
 * nothing, whenever its options change.
 */
const noOption = ''

/** Whether an option of an open list is marked, which Enter takes. */
function isMarked(): boolean {
  return document.querySelector('[data-combobox-selected]') !== null
}

interface CellEditorProps {
  readonly column: GridColumn
  readonly value: unknown
  /** What was typed to begin with; it replaces the value. */
  readonly typed: string | undefined
  /** Text as typed for inputs; `move`: where the cursor goes then. */
  readonly onText: (text: string, move: Move) => void
  /** A value that was chosen. */
  readonly onValue: (value: unknown, move: Move) => void
  readonly onCancel: () => void
}

export type Move = 'down' | 'next' | 'previous' | 'stay'
