import type { TableDialect } from '../../blocks/rows/table-text.ts'
import type { Cell } from '../../blocks/rows/xlsx-file.ts'
import type { SheetRow } from '../../blocks/rows/xlsx-rows.ts'
import { runCooperatively } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { headerLine, type RecognizedFormat, recognizedFormat } from '../../shared/rows/recognized-table.ts'
import { documentOf, type Session } from '../../storage/database.ts'
import { createRows } from './import-batch.ts'
import { type ColumnTarget, columnTargets, isKnownColumn } from './import-columns.ts'
import { wrongCells } from './import-problems.ts'
import { type ImportRow, type LineProblem, lineProblem } from './import-rows.ts'
import { allCells, type FileReading, inWords, rowsOf } from './table-import-rows.ts'

const ROWS = 20
/** Rows whose texts say how a column writes its values. */
const SAMPLED = 1_000
const MOST_SAMPLED = 4_000_000
/** Lines among which those of a title, the names and what separates cells are found. */
const HEAD = 50

export interface PreviewedRow {
  readonly line: number
  /** As it would be stored, with its defaults; undefined if it is refused. */
  readonly document?: JsonObject
  readonly problem?: LineProblem
  /** Of a table whose reading is recognized. */
  readonly cells?: readonly Cell[]
}

export interface PreviewedColumn {
  readonly column: string
  readonly field: string | null
  readonly format?: RecognizedFormat
}

export interface ImportPreview {
  /** None for NDJSON, whose lines have names of their own. */
  readonly columns: readonly PreviewedColumn[]
  readonly rows: readonly PreviewedRow[]
  /** Undefined for NDJSON. */
  readonly dialect?: TableDialect
  /** The line of the names, where it was to be recognized. */
  readonly header?: number
}

/** What the first rows of a file would become. `recognize`: also its line of names, and how columns write numbers and days. */
export async function previewRows(
  session: Session,
  name: string,
  path: string,
  { reading, recognize }: { readonly reading: FileReading; readonly recognize: boolean },
): Promise<ImportPreview> {
  const table = reading.format === 'ndjson' ? { columns: [] } : await tableOf(path, reading, recognize)
  const known = recognize ? recognizedReading(reading, table) : reading
  const first: ImportRow[] = []
  // All of them before one is tried: the session has the writer of the embedded engine from then on.
  for await (const row of rowsOf(known)(path)) if (first.push(row) === ROWS) break
  const shown: PreviewedRow[] = []
  try {
    for (const row of first)
      shown.push({
        ...(await previewed(session, name, row, recognize)),
        ...(recognize && row.cells && { cells: row.cells() }),
      })
  } finally {
    await session.transaction.rollback()
  }
  return { ...table, rows: shown }
}

type FoundTable = Omit<ImportPreview, 'rows'>

async function tableOf(path: string, reading: FileReading, recognize: boolean): Promise<FoundTable> {
  const isOpen = recognize && reading.header === undefined
  const { rows, ...known } = await firstRows(path, reading, { isOpen, most: recognize ? SAMPLED : 1 })
  const isField = (text: string) => isKnownColumn(text, reading.rules)
  const header = isOpen ? headerLine(rows.slice(0, HEAD), isField) : rows[0]?.line
  const [names, ...sampled] = rows.filter(({ line }) => header !== undefined && line >= header)
  if (!names) return { columns: [], ...known }
  const columns: PreviewedColumn[] = []
  for (const [at, target] of columnTargets(names.cells.map(String), reading).entries()) {
    const format = recognize ? await formatOf(target, at, sampled) : undefined
    columns.push({ column: target.column, field: target.field ?? null, ...(format && { format }) })
  }
  return { columns, ...(recognize && { header: names.line }), ...known }
}

/** `isOpen`: the line of the names is not known yet. Holds so many rows, and characters of them. */
async function firstRows(
  path: string,
  reading: FileReading,
  { isOpen, most }: { readonly isOpen: boolean; readonly most: number },
) {
  let dialect: TableDialect | undefined
  const found = (one: TableDialect) => {
    dialect = one
  }
  const rows: SheetRow[] = []
  let size = 0
  try {
    const lines = isOpen ? { from: 1, to: HEAD } : undefined
    for await (const row of allCells(path, reading, found, lines)) {
      if (!isOpen && row.line < (reading.header ?? 1)) continue
      rows.push(row)
      for (const cell of row.cells) size += typeof cell === 'string' ? cell.length : 0
      if (rows.length === most || size > MOST_SAMPLED) break
    }
  } catch (error) {
    throw inWords(error)
  }
  return { rows, ...(dialect && { dialect }) }
}

async function formatOf(
  target: ColumnTarget,
  at: number,
  rows: readonly SheetRow[],
): Promise<RecognizedFormat | undefined> {
  if (target.field === undefined) return undefined
  const texts = new Set<string>()
  for (const { cells } of rows) {
    const cell = cells[at]
    if (typeof cell === 'string') texts.add(cell)
  }
  return runCooperatively(recognizedFormat(target, texts))
}

/** What is open is read in the first way that is offered, so that the other columns of its rows can be shown. */
function recognizedReading(reading: FileReading, { columns, header, dialect }: FoundTable): FileReading {
  const found = columns.flatMap(({ column, format }) => {
    const as = format?.format ?? format?.readings[0]?.format
    return as === undefined ? [] : [[column, as] as const]
  })
  return {
    ...reading,
    header,
    formats: { ...Object.fromEntries(found), ...reading.formats },
    separator: reading.separator ?? dialect?.separator,
  }
}

async function previewed(
  session: Session,
  name: string,
  row: ImportRow,
  recognize: boolean,
): Promise<PreviewedRow> {
  let problem: LineProblem | undefined
  const note = (error: unknown) => {
    problem = recognize ? wrongCells(row, error) : lineProblem(row.line, error)
  }
  const [created] = await createRows(session, name, [row], (_row, error) => note(error)).catch(
    (error: unknown) => {
      if (!(error instanceof QuoinError) || error.code !== 'DENIED_BY_RULE') throw error
      note(error)
      return []
    },
  )
  if (problem || !created) return { line: row.line, ...(problem && { problem }) }
  const { _meta, ...document } = documentOf(created.document)
  return { line: row.line, document }
}
