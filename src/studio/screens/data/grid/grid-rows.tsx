import { Button, Group } from '@mantine/core'
import { type ReactNode, useCallback, useRef } from 'react'
import type { Document } from '../../../../shared/api/data/documents.ts'
import { documentsTexts } from '../../../texts/documents.ts'
import { valueAt } from '../documents/document-shape.ts'
import { CellEditor } from './cell-editor.tsx'
import type { DocumentGridProps } from './document-grid-props.ts'
import classes from './grid.module.css'
import { blockOf, type Cursor } from './grid-cursor.ts'
import { GridRow } from './grid-row.tsx'
import { type GridWindow, ROW_HEAD, ROW_HEIGHT } from './grid-window.ts'
import type { CellEdits } from './use-cell-edits.ts'
import type { GridEdit } from './use-grid-edit.ts'

interface GridRowsProps extends DocumentGridProps {
  readonly records: readonly Document[]
  readonly cursor: Cursor
  readonly edit: GridEdit
  readonly lefts: readonly number[]
  readonly seen: GridWindow
  /** Number of the first row, from 0. */
  readonly first: number
}

/** The rows that can be seen. The row of the cursor is always drawn, since the grid names its cell. */
export function GridRows(props: GridRowsProps) {
  const { records, columns, lefts, seen, first, names, selection, cursor, hrefOf } = props
  const block = blockOf(cursor)
  // One function for all times, so that rows are not drawn again for it.
  const toggle = useRef(selection.toggle)
  toggle.current = selection.toggle
  const onSelect = useCallback((row: number, extend: boolean) => toggle.current(row, extend), [])
  const rows = [...Array(seen.toRow - seen.fromRow).keys()].map((i) => seen.fromRow + i)
  if (!rows.includes(cursor.row)) rows.push(cursor.row)
  return (
    <div
      role="rowgroup"
      className={classes.body}
      style={{ height: records.length * ROW_HEIGHT, width: ROW_HEAD + (lefts.at(-1) ?? 0) }}
    >
      {rows.map((row) => {
        const record = records[row]
        if (!record) return null
        const isActive = row === cursor.row
        const isIn = row >= block.from.row && row <= block.to.row
        return (
          <GridRow
            key={record._meta.guid}
            document={props.edits.of(record._meta.guid) ? props.edits.shown(record) : record}
            href={hrefOf(record._meta.guid)}
            row={row}
            number={first + row}
            columns={columns}
            lefts={lefts}
            from={isActive ? Math.min(seen.fromColumn, cursor.column) : seen.fromColumn}
            to={isActive ? Math.max(seen.toColumn, cursor.column + 1) : seen.toColumn}
            names={names}
            isSelected={selection.has(record._meta.guid)}
            active={isActive ? cursor.column : -1}
            blockFrom={isIn ? block.from.column : -1}
            blockTo={isIn ? block.to.column : -1}
            problems={problemsOf(props, record, row)}
            onSelect={onSelect}
            {...(isActive &&
              props.edit.editing?.guid === record._meta.guid && { editor: editorOf(props, record) })}
          />
        )
      })}
    </div>
  )
}

function editorOf({ columns, edits, edit }: GridRowsProps, record: Document): ReactNode {
  const column = columns.find(({ name }) => name === edit.editing?.name)
  if (!column) return null
  return (
    <CellEditor
      key={`${record._meta.guid} ${column.name}`}
      column={column}
      value={valueAt(edits.shown(record), column.name)}
      typed={edit.editing?.typed}
      onText={edit.text}
      onValue={edit.value}
      onCancel={edit.cancel}
    />
  )
}

function problemsOf(
  {
    edits,
    edit,
    columns,
  }: { readonly edits: CellEdits; readonly edit: GridEdit } & Pick<GridRowsProps, 'columns'>,
  record: Document,
  row: number,
): ReadonlyMap<string, ReactNode> | undefined {
  const { guid } = record._meta
  const refused = [...(edits.of(guid) ?? [])].filter(([, { problem }]) => problem !== undefined)
  if (refused.length === 0) return undefined
  return new Map(
    refused.map(([name, { problem = '' }]) => [
      name,
      <CellProblem
        key={name}
        id={`problem-${guid}-${name}`}
        message={problem}
        onEdit={() =>
          edit.begin(
            row,
            columns.findIndex((one) => one.name === name),
          )
        }
        onDiscard={() => edits.discard(guid, name)}
      />,
    ]),
  )
}

interface CellProblemProps {
  readonly id: string
  readonly message: string
  readonly onEdit: () => void
  readonly onDiscard: () => void
}

/** At the cell: why what was typed is not stored. It keeps what was typed. */
function CellProblem({ id, message, onEdit, onDiscard }: CellProblemProps) {
  return (
    <div className={classes.problem} id={id} role="alert">
      {message}
      <Group gap="xs" mt={6}>
        <Button size="compact-xs" variant="default" tabIndex={-1} onClick={onEdit}>
          {documentsTexts.editEnter}
        </Button>
        <Button size="compact-xs" variant="default" tabIndex={-1} onClick={onDiscard}>
          {documentsTexts.discardEsc}
        </Button>
      </Group>
    </div>
  )
}
