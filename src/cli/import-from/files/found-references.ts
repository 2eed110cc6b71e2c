/** Columns that name rows of other files of the folder: by their key, or by another column whose values differ. */
import { shownName } from '../fitting-names.ts'
import { type FileColumn, type FileTable, type FoundReference, rowsOf } from './file-table.ts'
import { type NamedRows, namedRows, stemOf } from './named-rows.ts'
import { cellsOf } from './sampled-table.ts'

/** A storage has at most so many. */
const MOST_REFERENCES = 16
/** So many of the values must be found; the others are mistakes, which are listed. */
const LEAST_FOUND = 0.5

/** Replaces columns of the tables by those with references. */
export async function addReferences(tables: FileTable[], left: (line: string) => void): Promise<void> {
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
