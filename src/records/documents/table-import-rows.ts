import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { CsvProblem, csvRows, type LineRange } from '../../blocks/rows/csv-rows.ts'
import { decodedText, type FoundDialect, type TextEncoding } from '../../blocks/rows/table-text.ts'
import type { Cell } from '../../blocks/rows/xlsx-file.ts'
import { type SheetRow, xlsxRows } from '../../blocks/rows/xlsx-rows.ts'
import { runCooperatively } from '../../shared/cooperative.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { TextDialect } from '../../shared/fields/value-of-text.ts'
import { jsonInSteps } from '../../shared/json-in-steps.ts'
import {
  type ColumnFormats,
  type ColumnMapping,
  columnTargets,
  documentOfCells,
  type KnownFields,
  mappedObject,
} from './import-columns.ts'
import { type FileColumn, type ImportRow, ndjsonRows, type RowsOf } from './import-rows.ts'
import { atLine, linesOf } from './ndjson-lines.ts'
import type { ReadRow } from './read-row.ts'

export interface FileReading extends KnownFields {
  /** `arrays`: NDJSON whose lines are arrays of cells. */
  readonly format: 'csv' | 'xlsx' | 'ndjson' | 'arrays'
  readonly mapping: ColumnMapping
  readonly dialect: TextDialect
  /** Of the texts of single columns. */
  readonly formats: ColumnFormats
  /** Of CSV; found out from the line of the names if not given. */
  readonly separator?: string | undefined
  /** Of XLSX: the name of the sheet; the first if not given. */
  readonly sheet?: string | undefined
  /** The line that names the columns; the first with anything in it if not given. Lines before it are left out. */
  readonly header?: number | undefined
  /** The file is the beginning of one: a last row or character that is not whole is left out. */
  readonly isBeginning?: boolean | undefined
}

/** How a file's rows are read. */
export function rowsOf(reading: FileReading): RowsOf {
  if (reading.format !== 'ndjson') return (path) => tableRows(path, reading)
  return (path) => mappedRows(path, reading)
}

async function* mappedRows(
  path: string,
  { mapping, named: names, rules, isBeginning }: FileReading,
): AsyncGenerator<ImportRow, void> {
  const isMapped = Object.keys(mapping).length > 0
  const renamed = (row: ImportRow): ReadRow => {
    const read = row.read()
    return isMapped ? { ...read, document: mappedObject(read.document, mapping) } : read
  }
  for await (const row of ndjsonRows(path, isBeginning))
    yield { ...row, named: names, rules, read: () => named(row.line, () => renamed(row)) }
}

async function* tableRows(path: string, reading: FileReading): AsyncGenerator<ImportRow, void> {
  const { dialect, named: names, rules } = reading
  let targets: ReturnType<typeof columnTargets> | undefined
  let columns: readonly FileColumn[] = []
  try {
    for await (const { line, cells } of cellsOf(path, reading)) {
      if (targets === undefined) {
        targets = targetsOf(line, cells, reading)
        columns = targets.map(({ column, field = null }) => ({ column, field }))
        continue
      }
      const known = targets
      const size = cells.reduce((sum: number, cell) => sum + (typeof cell === 'string' ? cell.length : 8), 0)
      yield {
        line,
        size,
        cells: () => cells,
        columns,
        named: names,
        rules,
        read: () => named(line, () => documentOfCells(known, cells, dialect)),
      }
    }
  } catch (error) {
    throw inWords(error)
  }
}

/** Where the columns go. INVALID_BODY for a header line that is empty, since the first row behind it has values. */
function targetsOf(line: number, cells: readonly Cell[], reading: FileReading) {
  const { header } = reading
  if (header !== undefined && line !== header)
    throw new QuoinError(
      'INVALID_BODY',
      `Line ${header} of the file is empty: it has no names of columns. Nothing was imported.`,
      { fields: ['header'] },
    )
  return columnTargets(cells.map(String), reading)
}

export function inWords(error: unknown): unknown {
  if (!(error instanceof CsvProblem)) return error
  return new QuoinError('INVALID_BODY', `The file ${error.message}. Nothing was imported.`)
}

function named<T>(line: number, read: () => T): T {
  try {
    return read()
  } catch (error) {
    // What is named already stays as it is.
    throw error instanceof QuoinError && error.cause instanceof QuoinError ? error : atLine(line, error)
  }
}

/** Rows from that of the names on. */
async function* cellsOf(path: string, reading: Where, found?: FoundDialect): AsyncGenerator<SheetRow, void> {
  const { header = 1 } = reading
  for await (const row of allCells(path, reading, found)) if (row.line >= header) yield row
}

type Where = Pick<FileReading, 'format' | 'separator' | 'sheet' | 'header' | 'isBeginning'>

/** An import has a limit of its own. */
export async function* allCells(
  path: string,
  { format, separator, sheet, header = 1, isBeginning }: Where,
  found?: FoundDialect,
  lines: LineRange = { from: header, to: header },
): AsyncGenerator<SheetRow, void> {
  if (format === 'arrays') yield* arrayRows(path, isBeginning)
  else if (format === 'csv') {
    let encoding: TextEncoding = 'utf-8'
    const decoded = (one: TextEncoding) => {
      encoding = one
    }
    const text = decodedText(createReadStream(path), Number.POSITIVE_INFINITY, decoded, isBeginning)
    const separated = (one: string) => found?.({ format: 'csv', encoding, separator: one })
    yield* csvRows(text, separator, separated, { ...lines, isBeginning })
  } else {
    const { size } = await stat(path)
    yield* xlsxRows({ size, read: (start, end) => createReadStream(path, { start, end }) }, found, sheet)
  }
}

const MOST_CELLS = 500
/** A row of CSV has at most a million characters, of which JSON escapes some. */
const MOST_BYTES = 2_000_000

/** The rows of a table that a program sends: as JSON, so that numbers and conditions of a workbook stay what they are. */
async function* arrayRows(path: string, isBeginning?: boolean): AsyncGenerator<SheetRow, void> {
  for await (const { number, bytes } of linesOf(createReadStream(path), isBeginning)) {
    if (bytes.length > MOST_BYTES)
      throw new QuoinError(
        'INVALID_BODY',
        `Line ${number} has more than ${MOST_BYTES} bytes. Nothing was imported.`,
      )
    const cells = await parsedCells(bytes.toString('utf8'))
    if (!cells)
      throw new QuoinError(
        'INVALID_BODY',
        `Line ${number} is no JSON array of at most ${MOST_CELLS} texts, numbers and conditions. Nothing was imported.`,
      )
    yield { line: number, cells }
  }
}

/** In turns: two megabytes may hold a million cells, or objects. */
async function parsedCells(text: string): Promise<readonly Cell[] | undefined> {
  try {
    const value: unknown = await runCooperatively(jsonInSteps(text, { mostNames: MOST_CELLS }))
    return Array.isArray(value) && value.length <= MOST_CELLS && value.every(isCell) ? value : undefined
  } catch {
    return undefined
  }
}

function isCell(value: unknown): value is Cell {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
