/** The head of a file with a table: its columns, and rows by which their types are recognised. */
import { readdir, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import type { TableDialect } from '../../../blocks/rows/table-text.ts'
import type { SheetRow } from '../../../blocks/rows/xlsx-rows.ts'
import { allCells } from '../../../records/documents/table-import-rows.ts'
import type { FieldRule } from '../../../shared/field-rule.ts'
import { headerLine, type TableCell } from '../../../shared/rows/recognized-table.ts'
import { MOST_TABLES } from '../source.ts'

/** Rows by which types are recognised, and characters of them. */
const SAMPLED = 2_000
const MOST_SAMPLED = 4_000_000
/** Lines among which the names are looked for. */
const HEAD = 50

const formats: Readonly<Record<string, 'csv' | 'xlsx'>> = { '.csv': 'csv', '.tsv': 'csv', '.xlsx': 'xlsx' }

export interface TableFile {
  readonly path: string
  /** Of the file. */
  readonly name: string
  readonly format: 'csv' | 'xlsx'
}

/** The tables of a folder, or one file. `left`: is told of what is left out. */
export async function tableFiles(path: string, left: (line: string) => void): Promise<readonly TableFile[]> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new Error(`There is no file or folder ${path}.`)
  if (!found.isDirectory()) {
    const file = tableFile(path)
    if (!file) throw new Error(`${path} is no table: its name must end with .csv, .tsv or .xlsx.`)
    return [file]
  }
  const files: TableFile[] = []
  for (const entry of (await readdir(path, { withFileTypes: true })).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    const file = tableFile(join(path, entry.name))
    if (file && entry.isFile()) files.push(file)
    else if (!entry.name.startsWith('.'))
      left(`${entry.name} is left out: it is no .csv, .tsv or .xlsx file.`)
  }
  if (files.length === 0) throw new Error(`${path} has no files that end with .csv, .tsv or .xlsx.`)
  if (files.length > MOST_TABLES)
    throw new Error(`${path} has more than ${MOST_TABLES} tables. Import them in parts.`)
  return files
}

function tableFile(path: string): TableFile | undefined {
  const format = formats[extname(path).toLowerCase()]
  const name = basename(path)
  return format === undefined || name.startsWith('~$') || name.startsWith('.')
    ? undefined
    : { path, name, format }
}

export interface SampledTable {
  readonly file: TableFile
  /** The line of the names. */
  readonly header: number
  readonly columns: readonly string[]
  /** Rows behind it. */
  readonly rows: readonly SheetRow[]
  /** There are more. */
  readonly isCut: boolean
  readonly dialect: TableDialect | undefined
}

/** Undefined for a file without rows. `rules`: of the storage, where it is there already. */
export async function sampledTable(
  file: TableFile,
  rules: readonly FieldRule[],
): Promise<SampledTable | undefined> {
  let dialect: TableDialect | undefined
  const rows: SheetRow[] = []
  let size = 0
  let isCut = false
  const found = (one: TableDialect) => {
    dialect = one
  }
  for await (const row of allCells(file.path, { format: file.format }, found, { from: 1, to: HEAD })) {
    isCut = rows.length === SAMPLED || size > MOST_SAMPLED
    if (isCut) break
    rows.push(row)
    for (const cell of row.cells) size += typeof cell === 'string' ? cell.length : 8
  }
  const names = new Set(rules.flatMap(({ name, label }) => [name, ...(label === undefined ? [] : [label])]))
  const header = headerLine(rows.slice(0, HEAD), (text) => names.has(text))
  const named = rows.find(({ line }) => line === header)
  if (!named || header === undefined) return undefined
  return {
    ...{ file, header, isCut, dialect },
    columns: named.cells.map((cell) => String(cell).trim()),
    rows: rows.filter(({ line }) => line > header),
  }
}

/** The cells of one column of the sample. */
export function cellsOf({ rows }: SampledTable, at: number): readonly TableCell[] {
  return rows.map(({ cells }) => cells[at] ?? '')
}
