/** The lines of a file that an import refused: what is wrong in them, what of it was mended, and what is sent again. */
import type { Imported, LineProblem } from '../../../../shared/api/data/documents.ts'
import { fileOfReasons, type ReasonsFile } from '../../../../shared/rows/reasons-file.ts'
import type { TableCell } from '../../../../shared/rows/recognized-table.ts'
import { isFields } from '../documents/document-shape.ts'

export interface FileColumn {
  readonly column: string
  readonly field: string | null
}

export interface WrongLine {
  /** In the file. */
  readonly line: number
  readonly message: string
  /** What is wrong with each field. */
  readonly reasons: Readonly<Record<string, string>>
  /** As they stand in the file; none where they were too long to be sent. */
  readonly cells: readonly TableCell[]
  /** What was typed in place of cells, by their place. */
  readonly mended: Readonly<Record<number, string>>
}

export interface WrongLines {
  /** None for NDJSON: each line is one cell then. */
  readonly columns: readonly FileColumn[]
  readonly lines: readonly WrongLine[]
}

/** What an import has brought so far. */
export interface ImportedLines extends WrongLines {
  /** None of the file was imported yet, since it has wrong lines. */
  readonly isPending: boolean
  /** Documents that were made. */
  readonly imported: number
  /** Guids of the imports that can be undone. */
  readonly undo: readonly string[]
  /** Lines that were left out, and their numbers where not all of them are listed. */
  readonly refused: number
  readonly refusedLines: string | undefined
}

/** The refused lines in what the server says. */
export function problemsIn(lines: unknown): readonly LineProblem[] {
  if (!Array.isArray(lines)) return []
  return lines.filter(isFields).map(({ line, fields, message, reasons, cells }) => ({
    line: Number(line),
    fields: Array.isArray(fields) ? fields.map(String) : [],
    message: String(message),
    ...(isFields(reasons) && { reasons: textsIn(reasons) }),
    ...(Array.isArray(cells) && { cells: cells.filter(isCell) }),
  }))
}

function isCell(value: unknown): value is TableCell {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function textsIn(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))
}

/** In the order of the file. What was mended in these lines before stays. */
export function wrongLinesOf(
  problems: readonly LineProblem[],
  columns: readonly FileColumn[],
  before: readonly WrongLine[] = [],
): WrongLines {
  const known = new Map(before.map((one) => [one.line, one]))
  const lines = problems.map(({ line, message, reasons = {}, cells }): WrongLine => {
    const last = known.get(line)
    return { line, message, reasons, cells: cells ?? last?.cells ?? [], mended: last?.mended ?? {} }
  })
  return { columns, lines: lines.toSorted((a, b) => a.line - b.line) }
}

export interface WrongCell {
  /** Of the column in the file. */
  readonly at: number
  readonly column: string
  readonly field: string
  readonly reason: string
}

export interface LineView {
  readonly wrong: readonly WrongCell[]
  /** What is wrong with it beside its cells, such as a field that no column goes into. */
  readonly others: readonly string[]
}

/** A name such as `customer.name` stands for the field `customer`. */
function columnOf(columns: readonly FileColumn[], field: string): number {
  const at = columns.findIndex((one) => one.field === field)
  return at >= 0 ? at : columns.findIndex((one) => one.field?.startsWith(`${field}.`) ?? false)
}

export function viewOf({ columns }: WrongLines, { message, reasons, cells, mended }: WrongLine): LineView {
  if (cells.length === 0) return { wrong: [], others: [message] }
  if (columns.length === 0) return { wrong: [{ at: 0, column: '', field: '', reason: message }], others: [] }
  const wrong: WrongCell[] = []
  const others: string[] = []
  for (const [field, reason] of Object.entries(reasons)) {
    const at = columnOf(columns, field)
    if (at < 0) others.push(reason)
    else wrong.push({ at, column: columns[at]?.column ?? '', field, reason })
  }
  if (wrong.length === 0 && others.length === 0) others.push(message)
  // What was typed stays to be changed, also where the server found nothing wrong with it.
  for (const place of Object.keys(mended).map(Number))
    if (!wrong.some(({ at }) => at === place)) {
      const { column = '', field } = columns[place] ?? {}
      wrong.push({ at: place, column, field: field ?? '', reason: '' })
    }
  return { wrong: wrong.toSorted((a, b) => a.at - b.at), others }
}

/** What a cell has by now. */
export function cellText({ cells, mended }: WrongLine, at: number): string {
  return mended[at] ?? String(cells[at] ?? '')
}

export function isMended({ mended }: WrongLine): boolean {
  return Object.keys(mended).length > 0
}

export function withCell(state: WrongLines, line: number, at: number, text: string): WrongLines {
  return {
    columns: state.columns,
    lines: state.lines.map((one) => (one.line === line ? mendedLine(one, at, text) : one)),
  }
}

function mendedLine(line: WrongLine, at: number, text: string): WrongLine {
  const { [at]: _before, ...others } = line.mended
  // The text of the file again is no change.
  const isSame = text === String(line.cells[at] ?? '')
  return { ...line, mended: isSame ? others : { ...others, [at]: text } }
}

/** The other lines whose cell in this column is wrong with the same text, and is not as it is in this line yet. */
export function alikeLines(state: WrongLines, line: WrongLine, at: number): readonly number[] {
  const text = String(line.cells[at] ?? '')
  const field = state.columns[at]?.field ?? ''
  return state.lines
    .filter(
      (one) =>
        one.line !== line.line &&
        String(one.cells[at] ?? '') === text &&
        cellText(one, at) !== cellText(line, at) &&
        Object.keys(one.reasons).some((reason) => field === reason || field.startsWith(`${reason}.`)),
    )
    .map((one) => one.line)
}

export function withAlike(state: WrongLines, line: WrongLine, at: number): WrongLines {
  const alike = new Set(alikeLines(state, line, at))
  const text = cellText(line, at)
  return {
    columns: state.columns,
    lines: state.lines.map((one) => (alike.has(one.line) ? mendedLine(one, at, text) : one)),
  }
}

export interface SentLines {
  /** NDJSON: of a table arrays of cells, the names of its columns first. */
  readonly text: string
  /** The lines of the file that are in it, in order. */
  readonly lines: readonly number[]
}

function mendedCells({ cells, mended }: WrongLine): readonly TableCell[] {
  const last = Math.max(cells.length, ...Object.keys(mended).map((at) => Number(at) + 1))
  return Array.from({ length: last }, (_, at) => mended[at] ?? cells[at] ?? '')
}

/** Only the lines in which something was mended. */
export function mendedText({ columns, lines }: WrongLines): SentLines {
  const sent = lines.filter(isMended)
  const rows =
    columns.length === 0
      ? sent.map((line) => cellText(line, 0).replaceAll(/[\r\n]+/g, ' '))
      : [columns.map(({ column }) => column), ...sent.map(mendedCells)].map((cells) => JSON.stringify(cells))
  return { text: rows.join('\n'), lines: sent.map(({ line }) => line) }
}

/** After mended lines were sent: without those that are stored now, and with what is wrong with the others. */
export function afterSent(
  state: WrongLines,
  { lines }: SentLines,
  problems: readonly LineProblem[],
): WrongLines {
  const head = state.columns.length === 0 ? 1 : 2
  const wrong = new Map(problems.map((problem) => [lines[problem.line - head], problem]))
  const sent = new Set(lines)
  return {
    columns: state.columns,
    lines: state.lines.flatMap((one) => {
      const problem = wrong.get(one.line)
      if (problem) return [{ ...one, message: problem.message, reasons: problem.reasons ?? {} }]
      return sent.has(one.line) ? [] : [one]
    }),
  }
}

/** With what the import of the file itself has brought. Where it was done before, the answer says only the numbers of refused lines. */
export function withReply<Lines extends ImportedLines>(saved: Lines, reply: Imported): Lines {
  const { refused = 0, refused_lines: refusedLines } = reply
  const problems = problemsIn(reply.problems)
  const isAgain = refused > 0 && problems.length === 0
  return {
    ...withCount(saved, reply),
    ...(isAgain
      ? { lines: saved.lines.filter(({ line }) => isAmong(line, refusedLines)) }
      : wrongLinesOf(problems, saved.columns, saved.lines)),
    isPending: false,
    refused,
    refusedLines,
  }
}

/** With what the import of mended lines has brought. What was mended in others meanwhile stays. */
export function withLines<Lines extends ImportedLines>(
  saved: Lines,
  sent: SentLines,
  reply: Imported,
): Lines {
  const problems = problemsIn(reply.problems)
  const isAgain = (reply.refused ?? 0) > 0 && problems.length === 0
  const head = saved.columns.length === 0 ? 1 : 2
  const stays = ({ line }: WrongLine) =>
    !sent.lines.includes(line) || isAmong(sent.lines.indexOf(line) + head, reply.refused_lines)
  return {
    ...withCount(saved, reply),
    ...(isAgain ? { lines: saved.lines.filter(stays) } : afterSent(saved, sent, problems)),
  }
}

function withCount<Lines extends ImportedLines>(saved: Lines, { imported, undo }: Imported): Lines {
  return {
    ...saved,
    imported: saved.imported + imported,
    undo: undo === undefined ? saved.undo : [...saved.undo, undo],
  }
}

/** Whether a number is in a list such as `3, 5-9`. One that ends with `…` may have any beyond. */
function isAmong(line: number, list = ''): boolean {
  const ranges = list.replace(', …', '').split(', ')
  const last = Number(ranges.at(-1)?.split('-').at(-1))
  if (list.endsWith('…') && line > last) return true
  return ranges.some((range) => {
    const [from = 0, to = from] = range.split('-').map(Number)
    return line >= from && line <= to
  })
}

/** The wrong lines as they are by now, with their numbers and reasons: to be mended elsewhere, and imported. */
export function reasonsFile({ columns, lines }: WrongLines): ReasonsFile {
  const mended = lines.map((line) => ({
    ...line,
    cells: mendedCells(line),
  }))
  return fileOfReasons(columns, mended)
}
