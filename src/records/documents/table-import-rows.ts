import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { CsvProblem, csvRows } from '../../blocks/rows/csv-rows.ts'
import { decodedText, type TextEncoding } from '../../blocks/rows/csv-text-of.ts'
import type { FoundDialect, TableDialect } from '../../blocks/rows/table-dialect.ts'
import { type SheetRow, xlsxRows } from '../../blocks/rows/xlsx-rows.ts'
import { QuoinError } from '../../shared/errors.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import type { TextDialect } from '../../shared/fields/value-of-text.ts'
import { type ColumnMapping, columnTargets, documentOfCells, mappedObject } from './import-columns.ts'
import { type ImportRow, ndjsonRows, type RowsOf } from './import-rows.ts'
import type { NamedReference } from './named-references.ts'
import { atLine } from './ndjson-lines.ts'

export interface FileReading {
  readonly format: 'csv' | 'xlsx' | 'ndjson'
  readonly mapping: ColumnMapping
  readonly dialect: TextDialect
  /** Of CSV; found out from the first line if not given. */
  readonly separator?: string | undefined
  /** Of the storage. */
  readonly rules: readonly FieldRule[]
  readonly named: readonly NamedReference[]
}

/** How a file's rows are read. */
export function rowsOf(reading: FileReading): RowsOf {
  if (reading.format !== 'ndjson') return (path) => tableRows(path, reading)
  return (path) => mappedRows(path, reading)
}

async function* mappedRows(
  path: string,
  { mapping, named: names }: FileReading,
): AsyncGenerator<ImportRow, void> {
  const isMapped = Object.keys(mapping).length > 0
  const renamed = (row: ImportRow) => (isMapped ? mappedObject(row.read(), mapping) : row.read())
  for await (const row of ndjsonRows(path))
    yield { ...row, named: names, read: () => named(row.line, () => renamed(row)) }
}

/** The first row has the names of the columns. */
async function* tableRows(path: string, reading: FileReading): AsyncGenerator<ImportRow, void> {
  const { mapping, dialect, named: names } = reading
  let targets: ReturnType<typeof columnTargets> | undefined
  try {
    for await (const { line, cells } of cellsOf(path, reading)) {
      if (targets === undefined) {
        targets = columnTargets(cells.map(String), reading, mapping)
        continue
      }
      const known = targets
      const size = cells.reduce((sum: number, cell) => sum + (typeof cell === 'string' ? cell.length : 8), 0)
      yield {
        line,
        size,
        named: names,
        read: () => named(line, () => documentOfCells(known, cells, dialect)),
      }
    }
  } catch (error) {
    throw inWords(error)
  }
}

function inWords(error: unknown): unknown {
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

/** An import has a limit of its own. */
async function* cellsOf(
  path: string,
  { format, separator }: FileReading,
  found?: FoundDialect,
): AsyncGenerator<SheetRow, void> {
  if (format === 'csv') {
    let encoding: TextEncoding = 'utf-8'
    const text = decodedText(createReadStream(path), Number.POSITIVE_INFINITY, (one) => {
      encoding = one
    })
    yield* csvRows(text, separator, (one) => found?.({ format: 'csv', encoding, separator: one }))
  } else {
    const { size } = await stat(path)
    yield* xlsxRows({ size, read: (start, end) => createReadStream(path, { start, end }) }, found)
  }
}

export interface FileColumn {
  readonly column: string
  readonly field: string | null
}

export interface FileTable {
  readonly columns: readonly FileColumn[]
  /** Undefined for NDJSON. */
  readonly dialect?: TableDialect
}

/** Names of the columns of a CSV or XLSX file, and where they go; none for NDJSON, whose lines have names of their own. */
export async function fileTable(path: string, reading: FileReading): Promise<FileTable> {
  const { format, mapping } = reading
  if (format === 'ndjson') return { columns: [] }
  let dialect: TableDialect | undefined
  const known = () => (dialect ? { dialect } : {})
  try {
    const rows = cellsOf(path, reading, (one) => {
      dialect = one
    })
    for await (const { cells } of rows) {
      const columns = columnTargets(cells.map(String), reading, mapping)
      return { columns: columns.map(({ column, field }) => ({ column, field: field ?? null })), ...known() }
    }
  } catch (error) {
    throw inWords(error)
  }
  return { columns: [], ...known() }
}
