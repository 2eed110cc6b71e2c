/** The lines of a file that an import refused, as a file of their own with what is wrong: to be mended, and imported. */
import { csvCell, isMarked, markedText, plainCell } from '../csv-cell.ts'
import { isJsonObject } from '../json.ts'
import type { TableCell } from './recognized-table.ts'

export interface RefusedLine {
  readonly line: number
  readonly message: string
  readonly reasons?: Readonly<Record<string, string>>
  readonly cells?: readonly TableCell[]
}

export interface ReasonsFile {
  readonly ending: 'csv' | 'ndjson'
  readonly text: string
}

/** Columns that an import leaves out by itself. */
const LINE = '_meta.line'
const REASONS = '_meta.reasons'
const BYTE_ORDER_MARK = '\ufeff'

/** CSV with the columns of the file, the number of each line and its reasons; NDJSON where the file has no columns. */
export function fileOfReasons(
  columns: readonly { readonly column: string }[],
  lines: readonly RefusedLine[],
): ReasonsFile {
  if (columns.length === 0)
    return { ending: 'ndjson', text: lines.map((line) => `${lineWithReasons(line)}\n`).join('') }
  const rows = lines.map((line) => [
    ...columns.map((_column, at) => exactCell(line.cells?.[at] ?? '')),
    line.line,
    reasonsText(line),
  ])
  const head = [...columns.map(({ column }) => column), LINE, REASONS]
  const text = [head, ...rows].map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('')
  return { ending: 'csv', text: `${BYTE_ORDER_MARK}${text}` }
}

function reasonsText({ reasons = {}, message }: RefusedLine): string {
  return Object.values(reasons).join(' ') || message
}

function exactCell(cell: TableCell): string | number {
  if (typeof cell === 'boolean') return String(cell)
  if (typeof cell === 'number' || !isMarked(cell)) return cell
  return markedText(plainCell(cell))
}

function lineWithReasons(line: RefusedLine): string {
  const text = String(line.cells?.[0] ?? '').replaceAll(/[\r\n]+/g, ' ')
  try {
    const document: unknown = JSON.parse(text)
    if (!isJsonObject(document)) return text
    const meta = isJsonObject(document._meta) ? document._meta : {}
    return JSON.stringify({ ...document, _meta: { ...meta, line: line.line, reasons: reasonsText(line) } })
  } catch {
    return text
  }
}
