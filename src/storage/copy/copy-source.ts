/**
 * The embedded Quoin that is copied. No other process writes to it during the copy: it is locked as a running server locks
 * it. The copy changes only what a start would change (the schema of this version) and the one row that identifies it.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../shared/clock.ts'
import { QuoinError } from '../../shared/errors.ts'
import { guidSource, type Random } from '../../shared/guid.ts'
import type { Index } from '../document-index.ts'
import { SqliteCatalogue } from '../sqlite/core/sqlite-catalogue.ts'
import {
  lockDirectory,
  migrateSqlite,
  numberOf,
  SqliteConnection,
  type SqlValue,
  sqliteMigrations,
  textOf,
} from '../sqlite/core/sqlite-connection.ts'
import type { UniqueKey } from '../unique/unique-key.ts'
import type { CopiedRow, CopiedTable } from './copied-tables.ts'

export interface SourceOptions {
  readonly directory: string
  readonly clock: Clock
  readonly random: Random
}

export interface SourceStorage {
  readonly name: string
  /** Its table in SQLite. */
  readonly table: string
  readonly indexes: readonly Index[]
  readonly unique: readonly UniqueKey[]
  /** Whether it has free text, or is getting it. */
  readonly text: boolean
}

export interface CopySource {
  /** The same each time, also for a restored backup. */
  readonly id: string
  readonly directory: string
  readonly connection: SqliteConnection
  /** In the order in which they were made. */
  readonly storages: readonly SourceStorage[]
  /** The highest number that a job ever had. */
  readonly lastJob: number
  close(): void
}

/** Throws NOT_FOUND where there is no data, and UNAVAILABLE when a server uses it or a newer Quoin made it. */
export async function openCopySource({ directory, clock, random }: SourceOptions): Promise<CopySource> {
  const path = join(directory, 'quoin.db')
  // Looked for before anything is opened, which would make it.
  if (!existsSync(path)) throw noData(directory)
  const unlock = lockDirectory(directory)
  let connection: SqliteConnection | undefined
  try {
    const id = await prepare(path, clock, random)
    connection = new SqliteConnection({ path, readOnly: true, synchronous: 'FULL' })
    const storages = readStorages(connection)
    if (storages.length === 0) throw noData(directory)
    const reading = connection
    return {
      id,
      directory,
      connection,
      storages,
      lastJob: lastNumber(connection),
      close() {
        reading.close()
        unlock()
      },
    }
  } catch (error) {
    connection?.close()
    unlock()
    if (error instanceof QuoinError) throw error
    throw new QuoinError('UNAVAILABLE', `The database ${path} cannot be read: ${reasonOf(error)}.`, {
      cause: error,
    })
  }
}

async function prepare(path: string, clock: Clock, random: Random): Promise<string> {
  const connection = new SqliteConnection({ path, readOnly: false, synchronous: 'FULL' })
  try {
    await migrateSqlite(connection, await sqliteMigrations(), clock)
    connection.exec('CREATE TABLE IF NOT EXISTS copy_source (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID')
    const known = connection.get('SELECT id FROM copy_source')
    if (known) return textOf(known, 'id')
    const id = guidSource(clock, random)()
    connection.run('INSERT INTO copy_source (id) VALUES (?)', id)
    return id
  } finally {
    connection.close()
  }
}

function readStorages(connection: SqliteConnection): readonly SourceStorage[] {
  const catalogue = new SqliteCatalogue()
  catalogue.load(connection)
  return catalogue
    .names()
    .map((name) => catalogue.entry(name))
    .sort((a, b) => a.id - b.id)
    .map(({ name, table, indexes, unique, textUpTo }) => ({
      name,
      table,
      indexes: [...indexes.values()],
      unique: unique.flatMap(({ isReady, definition }) => (isReady ? [definition] : [])),
      text: textUpTo >= 0,
    }))
}

function lastNumber(connection: SqliteConnection): number {
  const row = connection.get(`SELECT ifnull(max(seq), 0) AS seq FROM sqlite_sequence WHERE name = 'job'`)
  return numberOf(row ?? {}, 'seq')
}

function noData(directory: string): QuoinError {
  return new QuoinError(
    'NOT_FOUND',
    `There is no Quoin data in ${directory}. Name the folder of the database.`,
  )
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

// Rows of the embedded database as they are stored, in batches that fit into memory however large a document is.

const MOST_ROWS = 500
/** Characters. A batch ends with the row that reaches it, and a document has at most 16 MiB. */
const MOST_TEXT = 4 * 1024 * 1024

/** In the order of keys. The connection is for reading only, so that a statement may stay open meanwhile. */
export function* sqliteBatches(
  connection: SqliteConnection,
  name: string,
  { columns }: CopiedTable,
): Generator<readonly CopiedRow[]> {
  const names = columns.map((column) => column.name)
  const statement = connection.database.prepare(
    `SELECT ${names.join(', ')} FROM ${name} ORDER BY ${names[0]}`,
  )
  let batch: CopiedRow[] = []
  let size = 0
  for (const found of statement.iterate()) {
    const row = names.map((column) => sqlValue(found[column]))
    for (const value of row) if (typeof value === 'string') size += value.length
    batch.push(row)
    if (batch.length < MOST_ROWS && size < MOST_TEXT) continue
    yield batch
    batch = []
    size = 0
  }
  if (batch.length > 0) yield batch
}

function sqlValue(value: unknown): SqlValue {
  if (typeof value === 'string' || typeof value === 'number' || value === null) return value
  throw new TypeError('The table holds what no column of Quoin can.')
}
