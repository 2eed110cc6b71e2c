/** Where the cursor of a grid stands, and the block of cells between it and its anchor. */
export interface Place {
  readonly row: number
  readonly column: number
}

export interface Cursor extends Place {
  /** The other corner of the block that is selected. */
  readonly anchor: Place
}

export interface Block {
  readonly from: Place
  /** Inclusive. */
  readonly to: Place
}

export interface Extent {
  readonly rows: number
  readonly columns: number
}

export const start: Cursor = { row: 0, column: 0, anchor: { row: 0, column: 0 } }

/** `extend`: the anchor stays, as with Shift. Stays within the grid. */
export function placed(cursor: Cursor, to: Place, { rows, columns }: Extent, extend = false): Cursor {
  const row = Math.max(0, Math.min(rows - 1, to.row))
  const column = Math.max(0, Math.min(columns - 1, to.column))
  return { row, column, anchor: extend ? cursor.anchor : { row, column } }
}

export function blockOf({ row, column, anchor }: Cursor): Block {
  return {
    from: { row: Math.min(row, anchor.row), column: Math.min(column, anchor.column) },
    to: { row: Math.max(row, anchor.row), column: Math.max(column, anchor.column) },
  }
}

/**
 * The cursor after the rows were read again: it stays on its document, and so does the block, unless other rows stand between its
 * corners now. `was` and `now`: guids of the rows.
 */
export function reread(cursor: Cursor, was: readonly string[], now: readonly string[]): Cursor {
  const { from, to } = blockOf(cursor)
  const guid = was[cursor.row]
  const row = guid === undefined ? -1 : now.indexOf(guid)
  const by = row < 0 ? 0 : row - cursor.row
  const isWhole = was
    .slice(from.row, to.row + 1)
    .every((one, i) => from.row + by >= 0 && now[from.row + by + i] === one)
  const column = cursor.column
  if (!isWhole) return { row: cursor.row + by, column, anchor: { row: cursor.row + by, column } }
  return {
    row: cursor.row + by,
    column,
    anchor: { row: cursor.anchor.row + by, column: cursor.anchor.column },
  }
}

interface Key {
  readonly key: string
  readonly shiftKey: boolean
  readonly ctrlKey: boolean
  readonly metaKey: boolean
}

/** Rows that a page of keys moves by. */
const PAGE = 12

/** Where a key leads; undefined for keys that do not move. Tab goes on, and past the end to the next row. */
export function moved(cursor: Cursor, key: Key, extent: Extent): Cursor | undefined {
  const { row, column } = cursor
  const far = key.ctrlKey || key.metaKey
  const last: Place = { row: extent.rows - 1, column: extent.columns - 1 }
  const steps: Readonly<Record<string, Place>> = {
    ArrowUp: { row: far ? 0 : row - 1, column },
    ArrowDown: { row: far ? last.row : row + 1, column },
    ArrowLeft: { row, column: far ? 0 : column - 1 },
    ArrowRight: { row, column: far ? last.column : column + 1 },
    PageUp: { row: row - PAGE, column },
    PageDown: { row: row + PAGE, column },
    Home: { row: far ? 0 : row, column: 0 },
    End: { row: far ? last.row : row, column: last.column },
  }
  const to = steps[key.key]
  return to && placed(cursor, to, extent, key.shiftKey)
}

/** The next cell in reading order, or the one before; undefined past the ends: there the focus leaves the grid. */
export function tabbed(cursor: Cursor, back: boolean, extent: Extent): Cursor | undefined {
  const at = cursor.row * extent.columns + cursor.column + (back ? -1 : 1)
  if (at < 0 || at >= extent.rows * extent.columns) return undefined
  return placed(cursor, { row: Math.floor(at / extent.columns), column: at % extent.columns }, extent)
}
