/** A folder of CSV and XLSX files, each of which becomes a storage. */
import type { FieldRule } from '../../../shared/field-rule.ts'
import { isFieldType } from '../../../shared/fields/field-type.ts'
import type { TextDialect } from '../../../shared/fields/value-of-text.ts'
import { UsageError } from '../../read-words.ts'
import { distinctNames, fieldNameFor, shownName, storageNameFor } from '../fitting-names.ts'
import { MOST_COLUMNS, type PresentFields, type Source } from '../source.ts'
import { dialectFor, guessColumn } from './column-guess.ts'
import {
  type FileColumn,
  type FileTable,
  type FoundReference,
  type NamedRows,
  namedRows,
  rowsOf,
  sourceTable,
  stemOf,
} from './file-table.ts'
import { cellsOf, type SampledTable, sampledTable, tableFiles } from './sampled-table.ts'

export interface TableReading {
  /** How numbers and days are written where the files do not say it. */
  readonly dialect: TextDialect
  /** Storage → column by which its rows are found again; null for the number of the line. */
  readonly keys: Readonly<Record<string, string | null>>
  /** `storage.field` → type. */
  readonly types: Readonly<Record<string, string>>
}

export async function openTableFolder(
  path: string,
  reading: TableReading,
  present: PresentFields,
): Promise<Source> {
  const unsaid: string[] = []
  const left = (line: string) => void unsaid.push(line)
  const distinct = distinctNames()
  const tables: FileTable[] = []
  for (const [at, file] of (await tableFiles(path, left)).entries()) {
    const title = file.name.slice(0, file.name.lastIndexOf('.'))
    const storage = distinct(storageNameFor(title, at + 1))
    const rules = await present(storage)
    const sampled = await withName(file.name, () => sampledTable(file, rules))
    if (!sampled) {
      left(`${shownName(file.name)} is left out: it has no rows.`)
      continue
    }
    const [, ...others] = [sampled.dialect?.sheet, ...(sampled.dialect?.sheets ?? [])]
    for (const sheet of others.filter((one) => one !== sampled.dialect?.sheet))
      left(
        `${shownName(file.name)}: the sheet ${shownName(sheet)} is left out. Save it as a file of its own.`,
      )
    tables.push(tableOf(storage, sampled, { rules, reading, left }))
  }
  refuseUnused(reading, tables)
  await addReferences(tables, left)
  for (const table of tables) for (const line of nearLines(table)) left(line)
  return { tables: tables.map(sourceTable), unsaid, close: async () => undefined }
}

/** What cannot be read names its file. */
async function withName<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new Error(`${name}: the file ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error,
    })
  }
}

interface TableContext {
  readonly rules: readonly FieldRule[]
  readonly reading: TableReading
  readonly left: (line: string) => void
}

function tableOf(storage: string, sampled: SampledTable, { rules, reading, left }: TableContext): FileTable {
  const { file, columns } = sampled
  const distinct = distinctNames()
  const fields = columns.slice(0, MOST_COLUMNS).map((title, at): FileColumn | undefined => {
    if (title === '') {
      if (cellsOf(sampled, at).some((cell) => String(cell).trim() !== ''))
        left(`${shownName(file.name)}: column ${at + 1} has values and no name. It is left out.`)
      return undefined
    }
    const known = rules.find(({ name, label }) => name === title || label === title)
    const name = distinct(known?.name ?? fieldNameFor(title, at + 1))
    const cells = cellsOf(sampled, at)
    const guess = guessColumn(cells, reading.dialect)
    const said = known?.type ?? typeFor(`${storage}.${name}`, reading.types)
    if (guess.open && said === undefined)
      left(`${shownName(file.name)}: ${shownName(title)} stays text: ${openText(guess.open)}.`)
    return {
      ...{ at, title, name },
      dialect: said === undefined ? guess.dialect : dialectFor(said, cells, reading.dialect),
      type: said ?? guess.type,
      ...(guess.near && said === undefined && { near: guess.near }),
      limits: known?.limits ?? {},
      ...(name !== title && { label: title }),
      ...(known?.reference && { presentReference: known.reference.storage }),
    }
  })
  const present = fields.filter((field) => field !== undefined)
  return { storage, sampled, columns: present, key: keyOf(storage, sampled, present, reading.keys) }
}

function openText({ sample, readings }: NonNullable<ReturnType<typeof guessColumn>['open']>): string {
  const meant = readings.map(({ format, value }) => `${JSON.stringify(value)} (${format})`).join(' or ')
  const flag = readings.some(({ format }) => format === 'comma') ? '--decimal' : '--dates'
  return `${JSON.stringify(sample)} may be ${meant}; say which with ${flag}`
}

/** Of columns that stay text, although most of their values fit a type. */
function nearLines({ storage, sampled, columns }: FileTable): readonly string[] {
  return columns.flatMap(({ at, name, title, near, reference }) => {
    if (!near || reference) return []
    const { line = 0, cells = [] } = sampled.rows[near.wrongAt] ?? {}
    const { type, fits, count, open } = near
    const of = `${fits.toLocaleString('en-US')} of ${sampled.isCut ? 'the first ' : ''}${count.toLocaleString('en-US')}`
    const wrong = `line ${line} has ${shownName(String(cells[at] ?? '').trim())}`
    const more = open ? ` Of these ${openText(open)}.` : ''
    return `${shownName(sampled.file.name)}: ${shownName(title)} stays text: ${of} values fit ${type}; ${wrong}. --types '{"${storage}.${name}":"${type}"}' makes it ${type} and lists values that do not fit; --skip-invalid leaves their rows out.${more}`
  })
}

function typeFor(place: string, types: TableReading['types']) {
  const type = Object.hasOwn(types, place) ? types[place] : undefined
  if (type === undefined || isFieldType(type)) return type
  throw new UsageError(`--types names the type ${JSON.stringify(type)} of ${place}, which there is not.`)
}

const usualKeys = /^(?:id|guid|uuid|key|_?id|code|sku|no|nr|number|e_?mail)$/i

/** The column by which rows are found again: as requested, else one with a usual name whose values differ. */
function keyOf(
  storage: string,
  sampled: SampledTable,
  columns: readonly FileColumn[],
  keys: TableReading['keys'],
): FileColumn | undefined {
  const requested = Object.hasOwn(keys, storage) ? keys[storage] : undefined
  if (requested === null) return undefined
  if (requested !== undefined) {
    const found = columns.find(({ name, title }) => name === requested || title === requested)
    if (found) return found
    throw new UsageError(
      `--key names the column ${JSON.stringify(requested)} of ${storage}, which it does not have.`,
    )
  }
  const fits = columns.filter(({ name, at }) => {
    const values = cellsOf(sampled, at).map((cell) => String(cell).trim())
    return (
      isKeyName(name, storage) &&
      values.length > 0 &&
      new Set(values).size === values.length &&
      !values.includes('')
    )
  })
  return fits.find(({ name }) => /^_?id$|^guid$|^uuid$/i.test(name)) ?? fits[0]
}

/** `order_id` of `orders` too. */
function isKeyName(name: string, storage: string): boolean {
  const parts = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split('_')
  const last = parts.at(-1) ?? ''
  return (
    usualKeys.test(name) ||
    (parts.length > 1 && usualKeys.test(last) && storage.startsWith(parts.slice(0, -1).join('_')))
  )
}

/** A word for a table or column that there is not would do nothing. */
function refuseUnused({ keys, types }: TableReading, tables: readonly FileTable[]): void {
  for (const storage of Object.keys(keys))
    if (!tables.some((table) => table.storage === storage))
      throw new UsageError(`--key names the storage ${JSON.stringify(storage)}, which no file becomes.`)
  const fields = tables.flatMap(({ storage, columns }) => columns.map(({ name }) => `${storage}.${name}`))
  for (const place of Object.keys(types))
    if (!fields.includes(place))
      throw new UsageError(
        `--types names ${JSON.stringify(place)}, which no column becomes. Write <storage>.<field>.`,
      )
}

// Columns that name rows of other files of the folder: by their key, or by another column whose values differ.

/** A storage has at most so many. */
const MOST_REFERENCES = 16
/** So many of the values must be found; the others are mistakes, which are listed. */
const LEAST_FOUND = 0.5

/** Replaces columns of the tables by those with references. */
async function addReferences(tables: FileTable[], left: (line: string) => void): Promise<void> {
  const names = namesInMemory()
  const found = new Map<FileTable, FileColumn[]>()
  for (const table of tables) {
    const columns: FileColumn[] = []
    let count = 0
    for (const column of table.columns) {
      const reference =
        count < MOST_REFERENCES && column !== table.key
          ? await referenceOf(table, column, tables, names)
          : undefined
      if (reference) count += 1
      else if (column.presentReference !== undefined) {
        left(
          `${shownName(table.sampled.file.name)}: ${shownName(column.title)} is left out: its field refers to ${column.presentReference}, whose rows it does not name.`,
        )
        continue
      }
      columns.push(reference ? { ...column, reference } : column)
    }
    found.set(table, columns)
  }
  for (const [at, table] of tables.entries()) tables[at] = { ...table, columns: found.get(table) ?? [] }
}

type Names = (table: FileTable, column: FileColumn) => Promise<NamedRows | undefined>

/** Each column is read once. */
function namesInMemory(): Names {
  const known = new Map<FileColumn, Promise<NamedRows | undefined>>()
  return (table, column) => {
    const reading = known.get(column) ?? namedRows(namesOf(table, column))
    known.set(column, reading)
    return reading
  }
}

async function* namesOf(table: FileTable, column: FileColumn) {
  for await (const { key, values, problems } of rowsOf(table, false))
    if (problems.length === 0) yield { name: values[column.name] ?? null, key }
}

async function referenceOf(
  table: FileTable,
  column: FileColumn,
  tables: readonly FileTable[],
  names: Names,
): Promise<FoundReference | undefined> {
  const [stem, last] = [stemOf(column.title), stemOf(column.title.split(/[^\p{L}\p{N}]+/u).at(-2) ?? '')]
  const target =
    tables.find(({ storage }) => storage === column.presentReference) ??
    tables.find(({ storage }) => stemOf(storage) === stem) ??
    // `billing customer` and `parent task` name their table last; `parent` of a table leads to the table itself.
    tables.find(({ storage }) => last !== '' && stemOf(storage) === last) ??
    (/^(?:parent|manager)$/.test(stem) ? table : undefined)
  if (!target) return undefined
  const values = cellsOf(table.sampled, column.at).map((cell) => String(cell).trim())
  const filled = new Set(values.filter((value) => value !== ''))
  if (filled.size === 0) return undefined
  for (const by of namingColumns(target)) {
    const named = await names(target, by)
    if (!named) continue
    const hits = [...filled].filter((value) => named.keyOf(value) !== undefined).length
    if (hits < filled.size * LEAST_FOUND && !(named.isCut && by === target.key)) continue
    const text = `${target.storage} by ${by.name}`
    return { storage: target.storage, type: by.type, named, text, isKey: by === target.key }
  }
  return undefined
}

/** The key first, then columns that name things. */
function namingColumns({ key, columns }: FileTable): readonly FileColumn[] {
  const named = columns.filter(
    (column) => column !== key && /^(?:name|title|code|number|e_?mail|label|username)$/i.test(column.name),
  )
  return [...(key ? [key] : []), ...named.slice(0, 3)]
}
