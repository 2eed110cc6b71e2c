/** The rows of one file as documents. */
import type { SheetRow } from '../../../blocks/rows/xlsx-rows.ts'
import { type ColumnTarget, documentOfCells } from '../../../records/documents/import-columns.ts'
import { allCells } from '../../../records/documents/table-import-rows.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { FieldLimits } from '../../../shared/fields/field-limits.ts'
import type { FieldType } from '../../../shared/fields/field-type.ts'
import type { TextDialect } from '../../../shared/fields/value-of-text.ts'
import type { JsonValue } from '../../../shared/json.ts'
import { shownName } from '../fitting-names.ts'
import type { RowProblem, SourceRow, SourceTable } from '../source.ts'
import type { NearType } from './column-guess.ts'
import type { SampledTable } from './sampled-table.ts'

export interface FileColumn {
  /** Its place in the file, from 0. */
  readonly at: number
  readonly title: string
  /** Of the field. */
  readonly name: string
  readonly label?: string
  readonly type: FieldType
  readonly limits: FieldLimits
  readonly dialect: TextDialect
  /** It is text, although most of its values fit a type. */
  readonly near?: NearType
  /** The field of the cluster refers to this storage. */
  readonly presentReference?: string
  readonly reference?: FoundReference
}

export interface FoundReference {
  readonly storage: string
  /** As which the cells are read: that of the column by which rows are named there. */
  readonly type: FieldType
  readonly named: NamedRows
  /** For people: `customers by name`. */
  readonly text: string
  /** The name is the key: rows that are not in memory can be named too. */
  readonly isKey: boolean
}

export interface FileTable {
  readonly storage: string
  readonly sampled: SampledTable
  readonly columns: readonly FileColumn[]
  /** Undefined: the number of the line. */
  readonly key: FileColumn | undefined
}

export function sourceTable(table: FileTable): SourceTable {
  const { storage, sampled, columns, key } = table
  return {
    title: shownName(sampled.file.name),
    storage,
    key: key?.name ?? 'number of the line',
    ...(key === undefined && { hasUniqueKey: true }),
    fields: columns.map(({ name, label, type, limits, reference, presentReference }) => ({
      name,
      ...(label !== undefined && { label }),
      ...(reference ? { type: 'reference', limits: {}, refersTo: reference.storage } : { type, limits }),
      ...(name === key?.name && { unique: true }),
      ...(presentReference !== undefined && !reference && { type: 'reference' }),
    })),
    rows: () => rowsOf(table),
  }
}

/** Cells as values of their fields. `names`: also what refers to other tables, by the key of the row there. */
export async function* rowsOf(
  { sampled, columns, key }: FileTable,
  names = true,
): AsyncGenerator<SourceRow, void> {
  const { file, header, dialect } = sampled
  const targets = targetsOf(sampled.columns.length, columns)
  const where = { format: file.format, header, separator: dialect?.separator, sheet: dialect?.sheet }
  for await (const row of allCells(file.path, where)) {
    if (row.line <= header) continue
    yield sourceRow(row, { targets, columns, key, names })
  }
}

interface RowReading {
  readonly targets: readonly ColumnTarget[]
  readonly columns: readonly FileColumn[]
  readonly key: FileColumn | undefined
  readonly names: boolean
}

function sourceRow({ line, cells }: SheetRow, { targets, columns, key, names }: RowReading): SourceRow {
  const place = `line ${line}`
  const read = documentIn(targets, cells)
  const problems: RowProblem[] = [...read.problems]
  const values: Record<string, JsonValue> = {}
  for (const { name, at, reference } of columns) {
    const value = read.values[name] ?? null
    if (!reference || !names || value === null) values[name] = value
    else {
      const text = String(value).trim()
      const found =
        reference.named.keyOf(text) ?? (reference.isKey && reference.named.isCut ? text : undefined)
      if (found === undefined)
        problems.push({ field: name, value: cells[at] ?? null, problem: `is no row of ${reference.text}` })
      else values[name] = found
    }
  }
  const keyValue = key && read.values[key.name]
  if (key && (keyValue ?? '') === '' && !problems.some(({ field }) => field === key.name))
    problems.push({ field: key.name, value: null, problem: 'is empty, and is the key of the rows' })
  return { place, key: key ? String(keyValue ?? '').trim() : place, values, problems }
}

function documentIn(targets: readonly ColumnTarget[], cells: SheetRow['cells']) {
  try {
    const { document, reasons } = documentOfCells(targets, cells, {})
    const problems = Object.entries(reasons).map(([field, reason]): RowProblem => {
      const at = targets.findIndex((target) => target.field === field)
      const begin = `The value of ${targets[at]?.column ?? ''} `
      return { field, value: cells[at] ?? null, problem: reason.replace(begin, '').replace(/\.$/, '') }
    })
    return { values: document, problems }
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    return { values: {}, problems: [{ field: '', value: null, problem: error.message }] }
  }
}

/** Of each cell of a row; those of columns that are left out go nowhere. */
function targetsOf(width: number, columns: readonly FileColumn[]): readonly ColumnTarget[] {
  const targets: ColumnTarget[] = Array.from({ length: width }, (_, at) => ({
    column: `column ${at + 1}`,
    field: undefined,
    type: 'string',
    limits: {},
  }))
  for (const { at, title, name, type, limits, dialect, reference } of columns)
    targets[at] = { column: title, field: name, type: reference?.type ?? type, limits, dialect }
  return targets
}

// By which of its columns the rows of a table are named by the columns of other tables.

/** Names of a table in memory: some 150 MB. */
const MOST_NAMES = 1_000_000

export interface NamedRows {
  /** The key of the row of this name; undefined where there is none. */
  keyOf(name: string): string | undefined
  /** Not all names are in memory. */
  readonly isCut: boolean
}

/** Undefined where two rows have one name. */
export async function namedRows(
  rows: AsyncIterable<{ readonly name: JsonValue; readonly key: string }>,
): Promise<NamedRows | undefined> {
  const keys = new Map<string, string>()
  let isCut = false
  for await (const { name, key } of rows) {
    if (name === null || name === '') continue
    const text = String(name).trim()
    if (keys.has(text)) return undefined
    if (keys.size >= MOST_NAMES) {
      isCut = true
      break
    }
    keys.set(text, key)
  }
  return keys.size === 0 ? undefined : { keyOf: (name) => keys.get(name), isCut }
}

/** `Customer ID`, `customer_number` and `customers` → `customer`. */
export function stemOf(name: string): string {
  const plain = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/_(?:id|guid|uuid|key|no|nr|number|name|code|email|ref)$/, '')
  return singular(plain)
}

function singular(word: string): string {
  if (/[^aeiou]ies$/.test(word)) return `${word.slice(0, -3)}y`
  if (/(?:ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2)
  return /[^su]s$/.test(word) ? word.slice(0, -1) : word
}
