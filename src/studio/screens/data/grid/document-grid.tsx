import {
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { useLocation } from 'wouter'
import type { Document } from '../../../../shared/api/data/documents.ts'
import { ListFooter } from '../../../controls/lists/record-table.tsx'
import { ErrorNotice, LoadingScreen } from '../../../controls/states.tsx'
import { documentsTexts } from '../../../texts/documents.ts'
import type { DocumentGridProps } from './document-grid-props.ts'
import classes from './grid.module.css'
import type { GridColumn } from './grid-column.ts'
import { type Cursor, placed, reread, start } from './grid-cursor.ts'
import { GridHead } from './grid-head.tsx'
import { cellId } from './grid-row.tsx'
import { GridRows } from './grid-rows.tsx'
import { columnLefts, ROW_HEAD, ROW_HEIGHT, useGridWindow } from './grid-window.ts'
import { type GridEdit, useGridEdit } from './use-grid-edit.ts'

/** A page of documents as a spreadsheet. The grid has the focus, and names the active cell to screen readers. */
export function DocumentGrid(props: DocumentGridProps) {
  const { shown, empty } = props
  const { data, error, isPending, isPlaceholderData, refetch } = shown
  if (error && !data)
    return <ErrorNotice error={error} title={documentsTexts.couldNotLoadList} onRetry={refetch} />
  if (isPending || !data) return <LoadingScreen />
  return (
    <>
      {error ? (
        <ErrorNotice error={error} title={documentsTexts.couldNotReloadList} onRetry={refetch} />
      ) : null}
      <div className="surface" aria-busy={isPlaceholderData}>
        {data.records.length === 0 ? (
          <div className={classes.empty}>{empty}</div>
        ) : (
          <Filled {...props} records={data.records} />
        )}
      </div>
      <ListFooter shown={shown} />
    </>
  )
}

function Filled(props: DocumentGridProps & { readonly records: readonly Document[] }) {
  const { label, shown, columns, selection, edits, hrefOf, onAppend, records } = props
  // The rows of another question are only looked at until its answer is there.
  const canWrite = props.canWrite && !shown.isPlaceholderData
  const [cursor, setCursor] = useFollowingCursor(records)
  const [, go] = useLocation()
  const scroller = useRef<HTMLDivElement>(null)
  const lefts = useMemo(() => columnLefts(columns.map(({ width }) => width)), [columns])
  const seen = useGridWindow(scroller, records.length, lefts)
  const extent = { rows: records.length, columns: columns.length }
  const at = placed(cursor, cursor, extent, true)
  const open = (document: Document) => go(hrefOf(document._meta.guid))
  const edit = useGridEdit({ records, columns, cursor: at, setCursor, edits, canWrite, open, onAppend })
  useFollow(scroller, at, columns, lefts, edit)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.nativeEvent.isComposing) return
    const document = records[at.row]
    if (event.key === ' ' && event.shiftKey) selection.toggle(at.row, false)
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && document) open(document)
    else if (!edit.key(event)) return
    event.preventDefault()
    event.stopPropagation()
  }
  const first = (shown.page - 1) * shown.limit
  return (
    <div
      ref={scroller}
      role="grid"
      tabIndex={0}
      className={`${classes.scroller} ${shown.isPlaceholderData ? classes.stale : ''}`}
      aria-label={label}
      aria-rowcount={(shown.data?.total ?? 0) + 1}
      aria-colcount={columns.length + 1}
      aria-multiselectable
      aria-readonly={!canWrite}
      aria-activedescendant={cellId(at.row, at.column)}
      onKeyDown={onKeyDown}
      onCopy={(event) => event.target === scroller.current && edit.copy(event)}
      onPaste={(event) => event.target === scroller.current && edit.paste(event)}
      {...mouseOf(scroller, at, setCursor, extent, edit)}
    >
      <GridHead
        columns={columns}
        lefts={lefts}
        from={seen.fromColumn}
        to={seen.toColumn}
        sort={shown.address.sort}
        actions={props.actions}
        selected={selection.here}
        onSelectAll={selection.togglePage}
      />
      <GridRows {...props} cursor={at} edit={edit} lefts={lefts} seen={seen} first={first} />
    </div>
  )
}

/** A cursor that stays on its document when rows are read again and stand elsewhere. */
function useFollowingCursor(records: readonly Document[]): [Cursor, (cursor: Cursor) => void] {
  const guids = useMemo(() => records.map(({ _meta }) => _meta.guid), [records])
  const [placed, setPlaced] = useState({ cursor: start, guids })
  return [reread(placed.cursor, placed.guids, guids), (cursor) => setPlaced({ cursor, guids })]
}

/** Keeps the cursor in sight when it moves, and the focus in the grid when an edit ends. */
function useFollow(
  scroller: RefObject<HTMLDivElement | null>,
  { row, column }: Cursor,
  columns: readonly GridColumn[],
  lefts: readonly number[],
  { editing }: GridEdit,
): void {
  const moved = useRef(false)
  const left = lefts[column] ?? 0
  const width = columns[column]?.width ?? 0
  useEffect(() => {
    const element = scroller.current
    if (!element || !moved.current) {
      moved.current = true
      return
    }
    const top = row * ROW_HEIGHT
    const height = element.clientHeight - 2 * ROW_HEIGHT
    if (top < element.scrollTop) element.scrollTop = top
    else if (top > element.scrollTop + height) element.scrollTop = top - height
    const wide = element.clientWidth - ROW_HEAD
    if (left < element.scrollLeft) element.scrollLeft = left
    else if (left + width > element.scrollLeft + wide) element.scrollLeft = left + width - wide
  }, [scroller, row, left, width])
  const was = useRef(editing)
  useEffect(() => {
    if (was.current && !editing && !document.activeElement?.closest('[role=dialog], input'))
      scroller.current?.focus({ preventScroll: true })
    was.current = editing
  }, [scroller, editing])
}

/** A press moves the cursor, dragging selects a block, two clicks edit. */
function mouseOf(
  scroller: RefObject<HTMLDivElement | null>,
  cursor: Cursor,
  setCursor: (cursor: Cursor) => void,
  extent: { readonly rows: number; readonly columns: number },
  edit: GridEdit,
) {
  const go = (event: MouseEvent, extend: boolean) => {
    const place = placeOf(event.target)
    if (place) setCursor(placed(cursor, place, extent, extend))
    return place
  }
  return {
    onMouseDown: (event: MouseEvent) => {
      if (event.button !== 0 || isControl(event.target)) return
      if (!go(event, event.shiftKey)) return
      event.preventDefault()
      scroller.current?.focus({ preventScroll: true })
    },
    onMouseOver: (event: MouseEvent) => {
      if (event.buttons === 1 && !edit.editing && !isControl(event.target)) go(event, true)
    },
    onDoubleClick: (event: MouseEvent) => {
      const place = placeOf(event.target)
      if (place && !isControl(event.target)) edit.begin(place.row, place.column)
    },
    onFocus: () => undefined,
  }
}

function isControl(target: EventTarget): boolean {
  return (
    target instanceof Element &&
    target.closest('input, textarea, button, a, [role=option], [role=alert]') !== null
  )
}

function placeOf(target: EventTarget): { readonly row: number; readonly column: number } | undefined {
  const cell = target instanceof Element ? target.closest('[data-column]') : null
  const row = cell?.closest('[data-row]')
  if (!cell || !row) return undefined
  return { row: Number(row.getAttribute('data-row')), column: Number(cell.getAttribute('data-column')) }
}
