/** What is done to the cells of a grid: edit one, clear, copy and paste a block, as in a spreadsheet. */
import { type ClipboardEvent, type KeyboardEvent, useEffect, useState } from 'react'
import type { Document } from '../../../../shared/api/data/documents.ts'
import { valueOfText } from '../../../../shared/fields/value-of-text.ts'
import { notifyAbout } from '../../../controls/notify.ts'
import { documentsTexts } from '../../../texts/documents.ts'
import { isFields, valueAt } from '../documents/document-shape.ts'
import type { Move } from './cell-editor.tsx'
import { copiedText } from './cell-text.ts'
import type { GridColumn } from './grid-column.ts'
import { blockOf, type Cursor, moved, placed, tabbed } from './grid-cursor.ts'
import type { CellEdits } from './use-cell-edits.ts'

/** Cells of one paste: each row of them is a request. */
const MOST_PASTED = 10_000

/** The document and field, and not where they stand: rows may be read again meanwhile. */
export interface Editing {
  readonly guid: string
  readonly name: string
  /** What the cell showed. */
  readonly before: unknown
  /** What was typed to begin with. */
  readonly typed: string | undefined
}

/** Rows of a paste below the last row, as values by name of field; `unread`: cells that no value of their field can be. */
export type Append = (rows: readonly ReadonlyMap<string, unknown>[], unread: readonly string[]) => void

export interface GridEditOptions {
  readonly records: readonly Document[]
  readonly columns: readonly GridColumn[]
  readonly cursor: Cursor
  readonly setCursor: (cursor: Cursor) => void
  readonly edits: CellEdits
  readonly canWrite: boolean
  readonly open: (document: Document) => void
  readonly onAppend: Append
}

export interface GridEdit {
  readonly editing: Editing | undefined
  begin(row: number, column: number, typed?: string): void
  cancel(): void
  text(text: string, move: Move): void
  value(value: unknown, move: Move): void
  copy(event: ClipboardEvent): void
  paste(event: ClipboardEvent): void
  /** True if the key did something. */
  key(event: KeyboardEvent): boolean
}

export function useGridEdit(options: GridEditOptions): GridEdit {
  const { records, columns, cursor, setCursor, edits, canWrite, open } = options
  const [editing, setEditing] = useEditing(records, columns)
  const extent = { rows: records.length, columns: columns.length }
  const begin = (row: number, at: number, typed?: string) => {
    const [document, column] = [records[row], columns[at]]
    if (!document || !column || !canWrite || column.readOnly) return
    if (column.kind === 'files') return open(document)
    if (column.kind === 'condition') {
      if (typed !== undefined) return
      const value = valueAt(edits.shown(document), column.name)
      return edits.write(document, new Map([[column.name, value !== true]]))
    }
    const before = valueAt(edits.shown(document), column.name)
    setEditing({ guid: document._meta.guid, name: column.name, before, typed })
  }
  const finish = (move: Move, store: (document: Document, column: GridColumn) => void) => {
    const place = placeOf(editing, records, columns)
    setEditing(undefined)
    if (!editing || !place) return
    store(...place)
    const to = { down: { row: cursor.row + 1, column: cursor.column }, stay: cursor }
    if (move === 'next' || move === 'previous')
      setCursor(tabbed(cursor, move === 'previous', extent) ?? cursor)
    else setCursor(placed(cursor, to[move], extent))
  }
  const clear = () =>
    forRows(options, (document, chosen) =>
      write(
        edits,
        document,
        chosen.map((one) => [one, '']),
      ),
    )
  return {
    editing,
    begin,
    cancel: () => setEditing(undefined),
    text: (text, move) => finish(move, (...place) => writeText(edits, editing, place, text)),
    value: (value, move) =>
      finish(move, (document, { name }) => {
        if (!refuseOvertaken(edits, document, editing, value)) edits.write(document, new Map([[name, value]]))
      }),
    copy(event) {
      event.clipboardData.setData('text/plain', copied(options))
      event.preventDefault()
    },
    paste(event) {
      if (!canWrite) return
      event.preventDefault()
      paste(options, readTable(event.clipboardData.getData('text/plain')))
    },
    key(event) {
      const to = event.key === 'Tab' ? tabbed(cursor, event.shiftKey, extent) : moved(cursor, event, extent)
      if (to) setCursor(to)
      else if (event.key === 'Enter' || event.key === 'F2') begin(cursor.row, cursor.column)
      else if (event.key === 'Delete' || event.key === 'Backspace') clear()
      else if (event.key === 'Escape') discard(options)
      else if (event.key === ' ' && columns[cursor.column]?.kind === 'condition')
        begin(cursor.row, cursor.column)
      else if (isTyped(event)) begin(cursor.row, cursor.column, event.key)
      else return false
      return true
    },
  }
}

/** Which cell is edited. Ends, and says so, where its document is no longer among the rows. */
function useEditing(records: readonly Document[], columns: readonly GridColumn[]) {
  const [editing, setEditing] = useState<Editing>()
  const isGone = editing !== undefined && !placeOf(editing, records, columns)
  useEffect(() => {
    if (!isGone) return
    setEditing(undefined)
    notifyAbout(documentsTexts.notStoredHere, documentsTexts.rowIsGone)
  }, [isGone])
  return [editing, setEditing] as const
}

function writeText(
  edits: CellEdits,
  editing: Editing | undefined,
  [document, column]: readonly [Document, GridColumn],
  text: string,
): void {
  if (refuseOvertaken(edits, document, editing, text)) return
  const isSame = text === copiedText(valueAt(edits.shown(document), column.name))
  if (!isSame || isRefused(edits, document, column)) write(edits, document, [[column, text]])
}

function placeOf(
  editing: Editing | undefined,
  records: readonly Document[],
  columns: readonly GridColumn[],
): readonly [Document, GridColumn] | undefined {
  const document = records.find(({ _meta }) => _meta.guid === editing?.guid)
  const column = columns.find(({ name }) => name === editing?.name)
  return document && column && [document, column]
}

/** True where the cell holds another value than when its edit began: what was typed stays in it, with the reason. */
function refuseOvertaken(
  edits: CellEdits,
  document: Document,
  editing: Editing | undefined,
  value: unknown,
): boolean {
  if (!editing) return false
  const now = JSON.stringify(valueAt(edits.shown(document), editing.name) ?? null)
  if (now === JSON.stringify(editing.before ?? null) || now === JSON.stringify(value)) return false
  edits.refuse(document, editing.name, value, documentsTexts.cellChangedMeanwhile(now))
  return true
}

function isTyped({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return [...key].length === 1 && !ctrlKey && !metaKey && !altKey
}

function isRefused(edits: CellEdits, { _meta }: Document, { name }: GridColumn): boolean {
  return edits.of(_meta.guid)?.get(name)?.problem !== undefined
}

function discard({ records, columns, cursor, edits }: GridEditOptions): void {
  const [document, column] = [records[cursor.row], columns[cursor.column]]
  if (document && column) edits.discard(document._meta.guid, column.name)
}

/** The rows of the selected block, each with its columns that can be written. */
function forRows(
  { records, columns, cursor, canWrite }: GridEditOptions,
  work: (document: Document, columns: readonly GridColumn[]) => void,
): void {
  const { from, to } = blockOf(cursor)
  const chosen = columns.slice(from.column, to.column + 1).filter(({ readOnly }) => !readOnly)
  if (!canWrite || chosen.length === 0) return
  for (const document of records.slice(from.row, to.row + 1)) work(document, chosen)
}

function copied({ records, columns, cursor, edits }: GridEditOptions): string {
  const { from, to } = blockOf(cursor)
  const names = columns.slice(from.column, to.column + 1).map(({ name }) => name)
  const rows = records.slice(from.row, to.row + 1).map((record) => {
    const document = edits.shown(record)
    return names.map((name) => copiedText(valueAt(document, name)))
  })
  return writeTable(rows)
}

type Texts = readonly (readonly [GridColumn, string])[]

/** Stores what texts mean in their columns; those that mean nothing there stay in their cells with the reason. */
function write(edits: CellEdits, document: Document, texts: Texts): void {
  const { values, refused } = readTexts(texts)
  for (const [name, text, problem] of refused) edits.refuse(document, name, text, problem)
  const stored = edits.shown(document)
  for (const [name, value] of values)
    if (
      JSON.stringify(value ?? null) === JSON.stringify(valueAt(stored, name) ?? null) &&
      !isWritten(edits, document, name)
    )
      values.delete(name)
  if (values.size > 0) edits.write(document, values)
}

function isWritten(edits: CellEdits, { _meta }: Document, name: string): boolean {
  return edits.of(_meta.guid)?.has(name) === true
}

function readTexts(texts: Texts) {
  const values = new Map<string, unknown>()
  const refused: (readonly [string, string, string])[] = []
  for (const [{ name, type, field }, text] of texts) {
    const limits = isFields(field?.validation_rules) ? field.validation_rules : {}
    const read = valueOfText({ type, limits }, text)
    if ('value' in read) values.set(name, read.value)
    else refused.push([name, text, documentsTexts.valueProblem(read.problem)])
  }
  return { values, refused }
}

function paste(options: GridEditOptions, table: readonly (readonly string[])[]): void {
  const { records, columns, cursor, setCursor, edits, onAppend } = options
  const { from } = blockOf(cursor)
  const wide = Math.max(0, ...table.map((row) => row.length))
  if (table.length * wide > MOST_PASTED) {
    notifyAbout(
      documentsTexts.nothingWasPasted,
      documentsTexts.tooManyCells(table.length, wide, MOST_PASTED.toLocaleString()),
    )
    return
  }
  const [single] = table.length === 1 && wide === 1 ? (table[0] ?? []) : []
  if (single !== undefined) {
    const fill = (chosen: readonly GridColumn[]): Texts => chosen.map((column) => [column, single])
    forRows(options, (document, chosen) => write(edits, document, fill(chosen)))
    return
  }
  const textsOf = (row: readonly string[]): Texts =>
    row.flatMap((text, i) => {
      const column = columns[from.column + i]
      return column && !column.readOnly ? [[column, text] as const] : []
    })
  for (const [i, row] of table.entries()) {
    const document = records[from.row + i]
    if (document) write(edits, document, textsOf(row))
  }
  const more = table.slice(Math.max(0, records.length - from.row))
  const read = more.map((row) => readTexts(textsOf(row)))
  const unread = read.flatMap(({ refused }, i) =>
    refused.map(([name, text]) => documentsTexts.unreadCell(i + 1, name, text)),
  )
  if (more.length > 0)
    onAppend(
      read.map(({ values }) => values),
      unread,
    )
  const to = { row: from.row + table.length - 1, column: from.column + wide - 1 }
  const extent = { rows: records.length, columns: columns.length }
  setCursor({ ...placed(cursor, to, extent), anchor: from })
}

// Blocks of cells as spreadsheets put them on the clipboard: tabs between cells, quotes around cells with tabs or line ends.

export function writeTable(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map(quoted).join('\t')).join('\n')
}

function quoted(cell: string): string {
  return /[\t\r\n]/.test(cell) || cell.startsWith('"') ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** Reads what {@link writeTable} wrote, or a spreadsheet. A line end behind the last row begins no other one. */
export function readTable(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const { cell, end } = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at)
    row.push(cell)
    const sign = text[end]
    at = sign === '\r' && text[end + 1] === '\n' ? end + 2 : end + 1
    if (sign === '\t' && at < text.length) continue
    if (sign === '\t') row.push('')
    rows.push(row)
    row = []
  }
  return rows
}

interface Cell {
  readonly cell: string
  /** Where the sign is that ends it. */
  readonly end: number
}

function plainCell(text: string, at: number): Cell {
  const length = text.slice(at).search(/[\t\r\n]/)
  const end = length < 0 ? text.length : at + length
  return { cell: text.slice(at, end), end }
}

/** A quote that nothing closes is text. */
function quotedCell(text: string, at: number): Cell {
  const [whole, inner = ''] = /^"((?:[^"]|"")*)"(?=[\t\r\n]|$)/.exec(text.slice(at)) ?? []
  if (whole === undefined) return plainCell(text, at)
  return { cell: inner.replaceAll('""', '"'), end: at + whole.length }
}
