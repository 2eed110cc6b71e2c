/**
 * Takes an open database back to what a copy of it holds, for tests of flows: opening one takes some 10 ms, this less than one. A
 * connection of its own writes the rows of the copy over those of each storage that was written to, with its unique values and
 * its free text, and over the tables that belong to no storage. To the other connections that is a write of another process:
 * SQLite reads its pages again, and FTS5 its segments. What is in memory of these storages is dropped, and watchers are told
 * that anything may have changed.
 *
 * Refused, with nothing changed, where a table was made or dropped since the copy, and where a storage was written to that the caller
 * does not name: of that, more may be in memory than watchers know.
 */
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Watcher } from '../../cluster.ts'
import { keyTable } from '../../unique/active-unique-key.ts'
import { loadShape } from './document-shape.ts'
import { addFunctions } from './sqlite-connection.ts'
import { readShape } from './sqlite-documents.ts'
import type { SqliteParts } from './sqlite-parts.ts'
import type { StorageEntry } from './storage-entry.ts'
import { documentTable, textTable } from './tables.ts'

export interface ResetToCopy {
  /** False where it is refused. */
  run(mayBeWritten: (storage: string) => boolean): Promise<boolean>
  close(): void
}

interface ResetParts extends Pick<SqliteParts, 'writer' | 'catalogue'> {
  readonly watchers: ReadonlyMap<string, ReadonlySet<Watcher>>
}

/** `path`: of the open database. `copy`: of one that no process writes to. */
export function openResetToCopy(parts: ResetParts, path: string, copy: string): ResetToCopy {
  const { writer, catalogue, watchers } = parts
  let opened: Copy | undefined
  /** Of each storage, when it was last as in the copy. */
  const versions = new Map<string, number>()

  function written(): StorageEntry[] {
    return catalogue
      .names()
      .filter((name) => catalogue.version(name) !== (versions.get(name) ?? 0))
      .map((name) => catalogue.entry(name))
  }

  return {
    async run(mayBeWritten) {
      const changed = await writer.aside(async () => {
        const entries = written()
        if (entries.some(({ name }) => !mayBeWritten(name))) return undefined
        opened ??= openCopy(path, copy)
        if (!opened.isSame()) return undefined
        opened.restore(entries.map(({ id }) => id))
        for (const entry of entries) forget(entry, writer.connection)
        for (const { name } of entries) {
          catalogue.written(name)
          versions.set(name, catalogue.version(name))
        }
        return entries
      })
      for (const { name } of changed ?? [])
        for (const watcher of watchers.get(name) ?? []) await watcher(undefined)
      return changed !== undefined
    },
    close: () => opened?.close(),
  }
}

/** What was read of it, and may be there no longer. */
function forget(entry: StorageEntry, connection: SqliteParts['reader']): void {
  entry.revision += 1
  entry.counts = undefined
  entry.touched = undefined
  entry.isSearched = false
  entry.written = undefined
  entry.postings = undefined
  entry.fieldTexts = undefined
  entry.charactersEach = undefined
  entry.shape = loadShape(readShape(connection, entry.id))
  entry.shapeSaved = true
}

/** Those of no storage that change while no table is made. The last one has the numbers that were given last, in any of them. */
const OTHERS = ['storage', 'storage_shape', 'queue', 'counter', 'job', 'sqlite_sequence']

interface Copy {
  /** Whether no table or index was made or dropped since. */
  isSame(): boolean
  /** Makes the tables of these storages, and those of none, what the copy has. */
  restore(storages: readonly number[]): void
  close(): void
}

function openCopy(path: string, copy: string): Copy {
  // Not defensive: the tables in which FTS5 keeps an index are written. Foreign keys: rows of `storage` are replaced.
  const connection = new DatabaseSync(path, { defensive: false, enableForeignKeyConstraints: false })
  addFunctions(connection)
  connection.exec('PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0')
  connection.exec(`ATTACH ${quoted(`${pathToFileURL(copy).href}?immutable=1`)} AS before`)
  const schema = `SELECT group_concat(name || coalesce(sql, ''), ';') AS text FROM
    (SELECT name, sql FROM SCHEMA.sqlite_schema ORDER BY name)`
  const textOf = (name: string) => String(connection.prepare(schema.replace('SCHEMA', name)).get()?.text)
  const isCopy = textOf('main') === textOf('before')
  const versionOf = connection.prepare('PRAGMA main.schema_version')
  const version = versionOf.get()?.schema_version
  const tables = new Map<string, () => void>()
  const restoreTable = (table: string) => {
    const restore = tables.get(table) ?? copying(connection, table)
    tables.set(table, restore)
    restore()
  }
  const keysOf = connection.prepare('SELECT id FROM unique_key WHERE storage = ?')
  const hasTable = connection.prepare('SELECT 1 FROM main.sqlite_schema WHERE name = ?')

  function tablesOf(storage: number): string[] {
    const text = textTable(storage)
    return [
      documentTable(storage),
      ...(hasTable.get(text) ? ['data', 'idx', 'docsize', 'config'].map((part) => `${text}_${part}`) : []),
      ...keysOf.all(storage).map(({ id }) => keyTable({ id: Number(id) })),
    ]
  }

  return {
    isSame: () => isCopy && versionOf.get()?.schema_version === version,
    restore(storages) {
      connection.exec('BEGIN IMMEDIATE')
      for (const table of [...storages.flatMap(tablesOf), ...OTHERS]) restoreTable(table)
      connection.exec('COMMIT')
    },
    close: () => connection.close(),
  }
}

/**
 * Only rows that are other ones are written: documents have indexes over what is in them. The text of a document is not compared, each write
 * of it raises its version.
 */
function copying(connection: DatabaseSync, table: string): () => void {
  const columns = connection.prepare(`PRAGMA main.table_info(${table})`).all()
  const names = columns.map(({ name }) => String(name)).filter((name) => name !== 'doc')
  const keys = columns.filter(({ pk }) => pk !== 0).map(({ name }) => String(name))
  const same = (all: readonly string[]) => all.map((name) => `b.${name} IS a.${name}`).join(' AND ')
  const byKey = keys.length === 0 ? same(names) : keys.map((name) => `b.${name} = a.${name}`).join(' AND ')
  const remove = connection.prepare(
    `DELETE FROM main.${table} AS a WHERE NOT EXISTS (SELECT 1 FROM before.${table} AS b WHERE ${byKey} AND ${same(names)})`,
  )
  const insert = connection.prepare(
    `INSERT INTO main.${table} SELECT * FROM before.${table} AS b WHERE NOT EXISTS (SELECT 1 FROM main.${table} AS a WHERE ${byKey})`,
  )
  return () => {
    remove.run()
    insert.run()
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
