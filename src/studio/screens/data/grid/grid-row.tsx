import { Badge, Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { memo, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Document } from '../../../../shared/api/data/documents.ts'
import { thumbnailQuery } from '../../../api/assets.ts'
import { Icon } from '../../../controls/icon.tsx'
import { documentsTexts } from '../../../texts/documents.ts'
import { isFields, valueAt } from '../documents/document-shape.ts'
import { cellText } from './cell-text.ts'
import classes from './grid.module.css'
import type { GridColumn } from './grid-column.ts'
import { ROW_HEAD, ROW_HEIGHT } from './grid-window.ts'
import type { ReferenceNames } from './use-reference-names.ts'

const MOST_FILES = 3

/** The first files of a cell: small pictures of images, names of others. */
function FileCell({ value }: { readonly value: unknown }) {
  const files = (Array.isArray(value) ? value : [value]).filter(isFields)
  return (
    <span className={classes.files}>
      {files.slice(0, MOST_FILES).map((file) => (
        <OneFile key={String(file.guid)} file={file} />
      ))}
      {files.length > MOST_FILES ? `+${files.length - MOST_FILES}` : null}
    </span>
  )
}

function OneFile({ file }: { readonly file: Readonly<Record<string, unknown>> }) {
  const name = typeof file.name === 'string' ? file.name : documentsTexts.file
  const type = typeof file.type === 'string' ? file.type : ''
  const size = typeof file.size === 'number' ? file.size : Number.POSITIVE_INFINITY
  const { data } = useQuery(thumbnailQuery({ guid: String(file.guid), type, size }))
  if (data) return <img src={data} alt={name} title={name} />
  return (
    <span className={classes.files} title={name}>
      <Icon name="file" size={15} />
      <span className={classes.text}>{name}</span>
    </span>
  )
}

export interface GridRowProps {
  readonly document: Document
  readonly href: string
  /** On this page, and among all documents that match, both from 0. */
  readonly row: number
  readonly number: number
  readonly columns: readonly GridColumn[]
  readonly lefts: readonly number[]
  readonly from: number
  readonly to: number
  readonly names: ReferenceNames
  readonly isSelected: boolean
  /** The column of the cursor; -1 in other rows. */
  readonly active: number
  /** Columns of the block that is selected, inclusive; -1 for none. */
  readonly blockFrom: number
  readonly blockTo: number
  /** In place of the value of the active cell, while it is edited; what is wrong with a cell, by its column. */
  readonly editor?: ReactNode
  readonly problems?: ReadonlyMap<string, ReactNode> | undefined
  readonly onSelect: (row: number, extend: boolean) => void
}

export function cellId(row: number, column: number): string {
  return `cell-${row}-${column}`
}

/** A document as a row. Drawn again only when something about it has changed. */
export const GridRow = memo(function GridRow(props: GridRowProps) {
  const { document, row, number, columns, lefts, from, to, isSelected } = props
  return (
    <div
      role="row"
      aria-rowindex={number + 2}
      aria-selected={isSelected}
      className={classes.row}
      style={{ top: row * ROW_HEIGHT, width: ROW_HEAD + (lefts.at(-1) ?? 0) }}
      data-row={row}
    >
      <RowHead {...props} />
      {columns.slice(from, to).map((column, i) => (
        <Cell
          key={column.name}
          {...props}
          column={column}
          at={from + i}
          value={valueAt(document, column.name)}
        />
      ))}
    </div>
  )
})

function RowHead({ row, number, href, isSelected, onSelect }: GridRowProps) {
  return (
    <div role="gridcell" aria-colindex={1} className={classes.rowHead}>
      <Checkbox
        size="xs"
        tabIndex={-1}
        aria-label={documentsTexts.selectRow(number + 1)}
        checked={isSelected}
        onChange={() => undefined}
        onClick={(event) => onSelect(row, event.shiftKey)}
      />
      <Link
        href={href}
        className={classes.open}
        tabIndex={-1}
        aria-label={documentsTexts.openDocument(number + 1)}
      >
        <Icon name="panel" size={16} />
      </Link>
    </div>
  )
}

interface CellProps extends GridRowProps {
  readonly column: GridColumn
  readonly at: number
  readonly value: unknown
}

function Cell({ column, at, value, row, lefts, active, blockFrom, blockTo, ...rest }: CellProps) {
  const isActive = at === active
  const problem = rest.problems?.get(column.name)
  const classNames = [
    classes.cell,
    isActive ? classes.active : '',
    at >= blockFrom && at <= blockTo ? classes.block : '',
    column.kind === 'number' ? classes.numeric : '',
    column.readOnly ? classes.readOnly : '',
    problem ? classes.refused : '',
    isActive && rest.editor ? classes.editing : '',
  ]
  return (
    <div
      role="gridcell"
      id={cellId(row, at)}
      aria-colindex={at + 2}
      aria-readonly={column.readOnly}
      aria-invalid={problem ? true : undefined}
      className={classNames.filter((one) => one !== '').join(' ')}
      style={{ left: ROW_HEAD + (lefts[at] ?? 0), width: column.width }}
      data-column={at}
    >
      {isActive && rest.editor ? rest.editor : <CellValue column={column} value={value} names={rest.names} />}
      {problem}
    </div>
  )
}

interface CellValueProps {
  readonly column: GridColumn
  readonly value: unknown
  readonly names: ReferenceNames
}

/** What a cell holds, by the type of its field. */
function CellValue({ column, value, names }: CellValueProps) {
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean')
    return <Badge color={value ? 'green' : 'gray'}>{value ? documentsTexts.yes : documentsTexts.no}</Badge>
  if (column.kind === 'files') return <FileCell value={value} />
  const { text, exact } = cellText(column, value, names)
  if (column.kind === 'choice')
    return (
      <Badge color="petrol" tt="none">
        {text}
      </Badge>
    )
  return (
    <span className={classes.text} title={exact}>
      {text}
    </span>
  )
}
