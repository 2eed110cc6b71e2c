import { Checkbox, Menu } from '@mantine/core'
import { type PointerEvent, useRef } from 'react'
import { Icon } from '../../../controls/icon.tsx'
import type { ListAddress } from '../../../controls/lists/list-address.ts'
import { documentsTexts } from '../../../texts/documents.ts'
import classes from './grid.module.css'
import type { GridColumn } from './grid-column.ts'
import { ROW_HEAD } from './grid-window.ts'

export interface ColumnActions {
  readonly sort: (name: string, order: 'asc' | 'desc') => void
  readonly filter: (name: string) => void
  readonly hide: (name: string) => void
  readonly resize: (name: string, width: number) => void
}

interface GridHeadProps {
  readonly columns: readonly GridColumn[]
  readonly lefts: readonly number[]
  readonly from: number
  readonly to: number
  readonly sort: ListAddress['sort']
  readonly actions: ColumnActions
  /** Of the rows of this page. */
  readonly selected: 'none' | 'some' | 'all'
  readonly onSelectAll: () => void
}

export function GridHead(props: GridHeadProps) {
  const { columns, lefts, from, to, sort, actions, selected, onSelectAll } = props
  return (
    <div role="rowgroup" className={classes.head} style={{ width: ROW_HEAD + (lefts.at(-1) ?? 0) }}>
      <div role="row" aria-rowindex={1}>
        <div role="columnheader" aria-colindex={1} className={classes.rowHead} style={{ height: 36 }}>
          <Checkbox
            size="xs"
            aria-label={documentsTexts.selectAllRowsPage}
            checked={selected === 'all'}
            indeterminate={selected === 'some'}
            onChange={onSelectAll}
          />
        </div>
        {columns.slice(from, to).map((column, i) => (
          <HeadCell
            key={column.name}
            column={column}
            at={from + i}
            left={ROW_HEAD + (lefts[from + i] ?? 0)}
            order={sort?.field === column.name ? sort.order : undefined}
            actions={actions}
          />
        ))}
      </div>
    </div>
  )
}

interface HeadCellProps {
  readonly column: GridColumn
  readonly at: number
  readonly left: number
  readonly order: 'asc' | 'desc' | undefined
  readonly actions: ColumnActions
}

/** Keys that make a column wider do so by this much. */
const STEP = 60

function HeadCell({ column, at, left, order, actions }: HeadCellProps) {
  const { name, label, width } = column
  return (
    <div
      role="columnheader"
      aria-colindex={at + 2}
      aria-sort={order === undefined ? undefined : order === 'asc' ? 'ascending' : 'descending'}
      className={classes.headCell}
      style={{ left, width }}
      title={column.field?.help || undefined}
    >
      <Menu position="bottom-start" width={190}>
        <Menu.Target>
          <button type="button" className={classes.headButton}>
            <span className={classes.text}>{label}</span>
            {order === undefined ? null : <Icon name={order === 'asc' ? 'up' : 'down'} size={13} />}
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => actions.sort(name, 'asc')}>{documentsTexts.sortAscending}</Menu.Item>
          <Menu.Item onClick={() => actions.sort(name, 'desc')}>{documentsTexts.sortDescending}</Menu.Item>
          <Menu.Item onClick={() => actions.filter(name)}>{documentsTexts.filter}</Menu.Item>
          <Menu.Item closeMenuOnClick={false} onClick={() => actions.resize(name, width + STEP)}>
            {documentsTexts.wider}
          </Menu.Item>
          <Menu.Item closeMenuOnClick={false} onClick={() => actions.resize(name, width - STEP)}>
            {documentsTexts.narrower}
          </Menu.Item>
          <Menu.Item onClick={() => actions.hide(name)}>{documentsTexts.hideColumn}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Resizer width={width} onResize={(wide) => actions.resize(name, wide)} />
    </div>
  )
}

/** Drags the right edge of a column; the menu does the same by keyboard. */
function Resizer({
  width,
  onResize,
}: {
  readonly width: number
  readonly onResize: (width: number) => void
}) {
  const begun = useRef<{ readonly x: number; readonly width: number }>(undefined)
  const drag = (event: PointerEvent) => {
    if (begun.current) onResize(begun.current.width + event.clientX - begun.current.x)
  }
  return (
    <div
      aria-hidden="true"
      className={classes.resize}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        begun.current = { x: event.clientX, width }
      }}
      onPointerMove={drag}
      onPointerUp={() => {
        begun.current = undefined
      }}
    />
  )
}
