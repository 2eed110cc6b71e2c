/** PocketBase as a source: its folder, a backup of it, or collections and records as JSON. */
import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../shared/json.ts'
import { readJson } from '../../../shared/numbers/exact-json.ts'
import { objectsIn, textIn } from '../../../storage/document-fields.ts'
import type { ImportedUser } from '../../run-user-import.ts'
import { shownName } from '../fitting-names.ts'
import type { Source } from '../source.ts'
import { tableOfCollection } from './collection.ts'
import { type PlannedCollection, pocketBaseCollections } from './pocketbase-schema.ts'
import { type KindsOf, kindsIn, readDocument, recordFolder, schemaFile } from './record-folder.ts'
import { archivedFiles, type RecordFiles, storedFiles, unpackedFile } from './stored-files.ts'

/** `users`: its users become users of Quoin too. */
export async function openPocketBase(path: string, users: boolean): Promise<Source> {
  const source = await openRecords(path)
  if (!users) {
    const { users: _, ...others } = source
    return others
  }
  if (source.users) return source
  await source.close()
  throw new Error(
    `${path} is an export, which has no passwords: --users needs the folder pb_data, its data.db or a backup.`,
  )
}

async function openRecords(path: string): Promise<Source> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new Error(`There is no file or folder ${path}.`)
  try {
    if (found.isDirectory()) return await openFolder(path)
    if (/\.json$/i.test(path)) return await openJson(path)
    if (!/\.zip$/i.test(path))
      return openDatabase(path, await storedFiles(dirname(path)), async () => undefined)
    const unpacked = await unpackedFile(path, 'data.db')
    try {
      return openDatabase(unpacked.path, await archivedFiles(path), unpacked.close)
    } catch (error) {
      await unpacked.close()
      throw error
    }
  } catch (error) {
    throw new Error(`${path} ${error instanceof Error ? error.message : String(error)}.`, { cause: error })
  }
}

async function openFolder(path: string): Promise<Source> {
  const hasDatabase = (await readdir(path)).includes('data.db')
  if (hasDatabase) return openDatabase(join(path, 'data.db'), await storedFiles(path), async () => undefined)
  return openJson(await schemaFile(path, ['collections.json', 'pb_schema.json', 'schema.json']))
}

async function openJson(path: string): Promise<Source> {
  const value = await readDocument(path)
  const records = objectsIn(isJsonObject(value) ? (value.items ?? value.collections) : value)
  const folder = await recordFolder(path)
  const files = await storedFiles(dirname(path))
  const unsaid: string[] = []
  const titles = records.map(({ name }) => textIn(name))
  const planned = pocketBaseCollections(
    records,
    await kindsIn(titles, folder),
    (line) => void unsaid.push(line),
    files !== undefined,
  )
  for (const { title } of planned)
    if (!folder.has(title))
      unsaid.push(`${shownName(title)} has no records here: there is no file ${shownName(`${title}.json`)}.`)
  return sourceOf(planned, unsaid, { items: folder.records, files }, async () => undefined)
}

interface PocketBaseRecords {
  readonly items: (
    title: string,
    columns: readonly string[],
  ) => AsyncIterable<JsonObject> | Iterable<JsonObject>
  readonly files: RecordFiles | undefined
}

function sourceOf(
  planned: readonly PlannedCollection[],
  unsaid: readonly string[],
  { items, files }: PocketBaseRecords,
  close: () => Promise<void>,
): Source {
  const tables = planned.map((one) =>
    tableOfCollection({
      ...one,
      ...(files && { file: (record, name) => files.find(one.id, record, name) }),
      items: () =>
        items(
          one.title,
          one.columns.map(({ source }) => source),
        ),
    }),
  )
  return { tables, unsaid: [...unsaid, ...(files?.unsaid ?? [])], close }
}

/** Read as it is: nothing in the file is executed, and views are no tables. */
function openDatabase(path: string, files: RecordFiles | undefined, removed: () => Promise<void>): Source {
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
    const planned = pocketBaseCollections(
      records,
      kindsOf,
      (line) => void unsaid.push(line),
      files !== undefined,
    )
    const items = (title: string, columns: readonly string[]) =>
      tables.has(title) ? rowsOf(database, title, columns) : []
    const titles = records
      .filter(({ type, system, name }) => type === 'auth' && system !== true && tables.has(textIn(name)))
      .map(({ name }) => textIn(name))
    const source = sourceOf(planned, unsaid, { items, files }, close)
    return { ...source, users: () => usersOf(database, titles) }
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

/** Of the collections of users, but not of those who administrate PocketBase. Before 0.23 the hash was in `passwordHash`. */
function* usersOf(database: DatabaseSync, titles: readonly string[]): Generator<ImportedUser, void> {
  const columns = ['id', 'username', 'email', 'name', 'password', 'passwordHash']
  for (const title of titles)
    for (const { id = '', username, email, name, password, passwordHash } of rowsOf(database, title, columns))
      yield {
        place: `${shownName(title)} ${shownName(String(id))}`,
        values: {
          username: textIn(username) || textIn(email),
          email: email ?? null,
          firstname: textIn(name),
          password_hash: password ?? passwordHash ?? null,
        },
      }
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
