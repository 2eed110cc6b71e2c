/** PocketBase as a source: its folder, a backup of it, or collections and records as JSON. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../shared/json.ts'
import { readJson } from '../../../shared/numbers/exact-json.ts'
import { objectsIn, textIn } from '../../../storage/document-fields.ts'
import type { Source } from '../source.ts'
import { tableOfCollection } from './collection.ts'
import { jsonItems } from './json-items.ts'
import { type KindsOf, type PlannedCollection, pocketBaseCollections } from './pocketbase-schema.ts'
import { unpackedFile } from './unpacked-file.ts'

/** Of a file that is read whole. */
const MOST_SCHEMA = 16 * 1024 * 1024
const schemaFiles = ['collections.json', 'pb_schema.json', 'schema.json']

export async function openPocketBase(path: string): Promise<Source> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new Error(`There is no file or folder ${path}.`)
  try {
    if (found.isDirectory()) return await openFolder(path)
    if (/\.json$/i.test(path)) return await openJson(path, undefined)
    if (!/\.zip$/i.test(path)) return openDatabase(path, async () => undefined)
    const unpacked = await unpackedFile(path, 'data.db')
    try {
      return openDatabase(unpacked.path, unpacked.close)
    } catch (error) {
      await unpacked.close()
      throw error
    }
  } catch (error) {
    throw new Error(`${path} ${error instanceof Error ? error.message : String(error)}.`, { cause: error })
  }
}

async function openFolder(path: string): Promise<Source> {
  const names = await readdir(path)
  if (names.includes('data.db')) return openDatabase(join(path, 'data.db'), async () => undefined)
  const schema = schemaFiles.find((name) => names.includes(name))
  if (schema === undefined) throw new Error(`has neither data.db nor one of ${schemaFiles.join(', ')}`)
  return openJson(join(path, schema), { path, names: new Set(names) })
}

interface RecordFolder {
  readonly path: string
  readonly names: ReadonlySet<string>
}

async function openJson(path: string, folder: RecordFolder | undefined): Promise<Source> {
  if ((await stat(path)).size > MOST_SCHEMA) throw new Error('is too long for collections')
  const read = readJson(await readFile(path, 'utf8'))
  if ('problem' in read) throw new Error(`cannot be read: ${basename(path)} ${read.problem}`)
  const records = objectsIn(
    isJsonObject(read.value) ? (read.value.items ?? read.value.collections) : read.value,
  )
  const unsaid: string[] = []
  const items = (title: string) =>
    folder?.names.has(`${title}.json`) ? recordsOf(join(folder.path, `${title}.json`)) : []
  const kinds = new Map<string, ReadonlyMap<string, Set<string>>>()
  for (const { name } of records) kinds.set(textIn(name), await kindsIn(items(textIn(name))))
  const kindsOf: KindsOf = (title, field) => kinds.get(title)?.get(field) ?? new Set()
  const planned = pocketBaseCollections(records, kindsOf, (line) => void unsaid.push(line))
  for (const { title } of planned)
    if (!folder?.names.has(`${title}.json`))
      unsaid.push(`${title} has no records here: there is no file ${title}.json.`)
  return sourceOf(planned, unsaid, items, async () => undefined)
}

async function* recordsOf(path: string): AsyncGenerator<JsonObject, void> {
  try {
    for await (const { item } of jsonItems(path)) yield item
  } catch (error) {
    throw new Error(`${path}: ${error instanceof Error ? error.message : String(error)}.`, { cause: error })
  }
}

/** Field → kinds of its values. */
async function kindsIn(
  items: AsyncIterable<JsonObject> | Iterable<JsonObject>,
): Promise<ReadonlyMap<string, Set<string>>> {
  const kinds = new Map<string, Set<string>>()
  for await (const item of items)
    for (const [field, value] of Object.entries(item)) {
      if (value === null) continue
      const found = kinds.get(field) ?? new Set()
      found.add(Array.isArray(value) ? 'array' : isJsonObject(value) ? 'object' : 'other')
      kinds.set(field, found)
    }
  return kinds
}

function sourceOf(
  planned: readonly PlannedCollection[],
  unsaid: readonly string[],
  items: (title: string, columns: readonly string[]) => AsyncIterable<JsonObject> | Iterable<JsonObject>,
  close: () => Promise<void>,
): Source {
  const tables = planned.map((one) =>
    tableOfCollection({
      ...one,
      items: () =>
        items(
          one.title,
          one.columns.map(({ source }) => source),
        ),
    }),
  )
  return { tables, unsaid, close }
}

/** Read as it is: nothing in the file is executed, and views are no tables. */
function openDatabase(path: string, removed: () => Promise<void>): Source {
  const database = new DatabaseSync(path, { readOnly: true, enableForeignKeyConstraints: false })
  const close = async () => {
    database.close()
    await removed()
  }
  try {
    database.exec('PRAGMA trusted_schema = OFF; BEGIN')
    const tables = new Set(
      database
        .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
        .all()
        .map(({ name }) => String(name)),
    )
    if (!tables.has('_collections')) throw new Error('is no database of PocketBase')
    const records = database.prepare('SELECT * FROM _collections').all().map(recordOf)
    const unsaid: string[] = []
    const kindsOf: KindsOf = (title, field) =>
      tables.has(title) ? jsonKinds(database, title, field) : new Set()
    const planned = pocketBaseCollections(records, kindsOf, (line) => void unsaid.push(line))
    const items = (title: string, columns: readonly string[]) =>
      tables.has(title) ? rowsOf(database, title, columns) : []
    return sourceOf(planned, unsaid, items, close)
  } catch (error) {
    database.close()
    throw error
  }
}

const jsonColumns = ['fields', 'schema', 'options', 'indexes']

/** A collection as its export has it. */
function recordOf(row: Readonly<Record<string, SQLOutputValue>>): JsonObject {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]): [string, JsonValue] => {
      if (!jsonColumns.includes(name) || typeof value !== 'string')
        return [name, name === 'system' ? value === 1 : jsonOf(value)]
      const read = readJson(value)
      return [name, 'value' in read ? read.value : null]
    }),
  )
}

function* rowsOf(
  database: DatabaseSync,
  title: string,
  columns: readonly string[],
): Generator<JsonObject, void> {
  const present = new Set(
    database
      .prepare(`PRAGMA table_info(${quoted(title)})`)
      .all()
      .map(({ name }) => String(name)),
  )
  const names = columns.filter((name) => present.has(name)).map(quoted)
  if (names.length === 0) return
  const statement = database.prepare(`SELECT ${names.join(', ')} FROM ${quoted(title)}`)
  statement.setReadBigInts(true)
  for (const row of statement.iterate())
    yield Object.fromEntries(
      Object.entries(row).map(([name, value]): [string, JsonValue] => [name, jsonOf(value)]),
    )
}

/** Bytes and numbers that JSON does not have become texts, which no number fits. */
function jsonOf(value: SQLOutputValue): JsonValue {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}

function jsonKinds(database: DatabaseSync, title: string, field: string): ReadonlySet<string> {
  const column = quoted(field)
  const isThere = database.prepare(`SELECT name FROM pragma_table_info(?) WHERE name = ?`).get(title, field)
  if (!isThere) return new Set()
  const rows = database
    .prepare(
      `SELECT DISTINCT CASE WHEN NOT json_valid(${column}) THEN 'other' ELSE json_type(${column}) END AS kind
       FROM ${quoted(title)} WHERE ${column} IS NOT NULL AND ${column} <> ''`,
    )
    .all()
  const kinds = rows.map(({ kind }) => String(kind)).filter((kind) => kind !== 'null')
  return new Set(kinds.map((kind) => (kind === 'object' || kind === 'array' ? kind : 'other')))
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
