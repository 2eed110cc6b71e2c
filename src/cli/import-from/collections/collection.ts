/** Collections of programs that keep records with fields, as tables: their values are JSON. */
import { extname } from 'node:path'
import type { JsonObject, JsonValue } from '../../../shared/json.ts'
import { shownName } from '../fitting-names.ts'
import {
  guidOfRow,
  type RowFile,
  type RowProblem,
  type SourceField,
  type SourceRow,
  type SourceTable,
} from '../source.ts'

export interface CollectionColumn {
  /** As the source calls it. */
  readonly source: string
  readonly field: SourceField
  /** What is stored; null for nothing. Without it the value as it is. */
  readonly read?: (value: JsonValue) => JsonValue
  /** The value is a list of keys of rows of this storage. */
  readonly listOf?: string
  /** The value is the name of a file, or a list of names. */
  readonly isFile?: true
}

export type FindFile = (record: string, name: string) => Promise<RowFile | string>

export interface Collection {
  readonly title: string
  readonly storage: string
  /** The name of the key in the source. */
  readonly key: string
  readonly columns: readonly CollectionColumn[]
  /** A file of a record by its name; why it is left out, which finishes "<field> …", where it cannot be read. */
  readonly file?: FindFile
  readonly items: () => AsyncIterable<JsonObject> | Iterable<JsonObject>
}

export function tableOfCollection(collection: Collection): SourceTable {
  const { title, storage, key, columns } = collection
  return {
    title: shownName(title),
    storage,
    key: columns.find(({ source }) => source === key)?.field.name ?? key,
    fields: columns.map(({ field }) => field),
    rows: () => rowsOf(collection),
  }
}

async function* rowsOf({ key, columns, items, file }: Collection): AsyncGenerator<SourceRow, void> {
  let number = 0
  for await (const item of items()) {
    number += 1
    const values: Record<string, JsonValue> = {}
    const problems: RowProblem[] = []
    for (const { source, field, read, listOf } of columns) {
      const value = Object.hasOwn(item, source) ? (item[source] ?? null) : null
      const stored = value === null ? null : read ? read(value) : value
      if (stored === null) continue
      if (field.refersTo === undefined)
        values[field.name] = listOf === undefined ? stored : guidsOf(listOf, stored)
      else if (typeof stored === 'string' || typeof stored === 'number') values[field.name] = String(stored)
      else problems.push({ field: field.name, value, problem: 'is no key of another record' })
    }
    const found = Object.hasOwn(item, key) ? item[key] : undefined
    const isKey = (typeof found === 'string' && found !== '') || typeof found === 'number'
    if (!isKey)
      problems.push({
        field: key,
        value: found ?? null,
        problem: 'is missing, and is the key of the records',
      })
    const text = isKey ? String(found) : `record ${number}`
    const place = isKey ? `${key} ${shownName(text)}` : text
    yield {
      ...{ place, key: text, values, problems },
      ...(file && (await filesOf(columns, values, text, file))),
    }
  }
}

async function filesOf(
  columns: readonly CollectionColumn[],
  values: Readonly<Record<string, JsonValue>>,
  record: string,
  find: FindFile,
): Promise<Pick<SourceRow, 'files' | 'missing'>> {
  const files: Record<string, readonly RowFile[]> = {}
  const missing: RowProblem[] = []
  const distinct = distinctFiles()
  for (const { field, isFile } of columns) {
    if (!isFile) continue
    const value = values[field.name] ?? null
    const found: RowFile[] = []
    for (const name of value === null ? [] : Array.isArray(value) ? value : [value]) {
      const one = typeof name === 'string' ? await find(record, name) : 'is no name of a file'
      if (typeof one === 'string') missing.push({ field: field.name, value: name, problem: one })
      else found.push(distinct(one))
    }
    files[field.name] = found
  }
  return { files, missing }
}

/** Files of one record are found again by their names: the second of a name gets another one. */
function distinctFiles(): (file: RowFile) => RowFile {
  const taken = new Map<string, number>()
  return (file) => {
    const count = (taken.get(file.name) ?? 0) + 1
    taken.set(file.name, count)
    if (count === 1) return file
    const ending = extname(file.name)
    return { ...file, name: `${file.name.slice(0, file.name.length - ending.length)}-${count}${ending}` }
  }
}

/** A list of references is a list of guids: Quoin does not hold the documents that it names. */
function guidsOf(storage: string, value: JsonValue): JsonValue {
  if (!Array.isArray(value)) return value
  return value.map((key) =>
    typeof key === 'string' || typeof key === 'number' ? guidOfRow(storage, String(key)) : key,
  )
}

/** An empty text means nothing in the source. */
export function nothingIfEmpty(value: JsonValue): JsonValue {
  return value === '' ? null : value
}

/** `2026-01-31 09:00:00.123Z` and times without a zone, which are of UTC. */
export function instantIn(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value
  const text = value.trim().replace(/^(\d{4}-\d\d-\d\d) /, '$1T')
  return text === '' ? null : /(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`
}
