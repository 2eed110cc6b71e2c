/** A connection to the database file, with its settings and its prepared statements. */

import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import type { Clock } from '../../../shared/clock.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { lruCache } from '../../../shared/lru-cache.ts'
import { isCollation } from '../../../shared/texts/collations.ts'
import { sortedText } from '../../../shared/texts/text-order.ts'
import { type Migration, migrate, readMigrations } from '../../migrations.ts'
import { EffortSpent, SearchEffort } from '../../search/search-effort.ts'
import { isLocked, isTooBig, storageError } from './sqlite-errors.ts'

export type SqlValue = string | number | null
export type Row = Readonly<Record<string, unknown>>

/** Statements kept prepared. Preparing costs 10–50 µs, running one 3 µs; each takes a few kB. */
const MAX_STATEMENTS = 500
/** Largest text or row that SQLite makes; more could take the process down instead of failing one request. */
const MAX_LENGTH = 256 * 1024 * 1024
const MIB = 1024 * 1024
/**
 * Pages in the log after which a commit moves them into the file. A page that is written again and again, such as the end of
 * an index, is moved once: with 4,000 instead of SQLite's 1,000 a durable create takes a tenth less processor time and an
 * update a fifth. 16,000 gain nothing more.
 */
const CHECKPOINT_PAGES = 4_000

export interface ConnectionOptions {
  readonly path: string
  readonly readOnly: boolean
  readonly synchronous: 'FULL' | 'OFF'
}

export class SqliteConnection {
  readonly database: DatabaseSync
  /** What the search that runs may still look at; undefined: everything. */
  effort: SearchEffort | undefined
  /** How well the document of a row fits the search that runs. */
  scoreOf: ((row: number) => number) | undefined
  /** By SQL text, least recently used first. A dropped statement is finalised when no code refers to it any more. */
  readonly #statements = lruCache<string, StatementSync>(MAX_STATEMENTS)

  constructor({ path, readOnly, synchronous }: ConnectionOptions) {
    this.database = new DatabaseSync(path, { readOnly, timeout: 5000, limits: { length: MAX_LENGTH } })
    // Mapping: reads at random from a file that is larger than the cache are a third faster.
    this.database.exec(
      `PRAGMA cache_size = ${-32 * 1024}; PRAGMA mmap_size = ${256 * MIB}; PRAGMA temp_store = MEMORY`,
    )
    addFunctions(this.database)
    if (readOnly) return
    this.database.exec('PRAGMA journal_mode = WAL')
    this.database.exec(
      `PRAGMA synchronous = ${synchronous}; PRAGMA journal_size_limit = ${64 * MIB}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
    )
  }

  get(sql: string, ...parameters: readonly SqlValue[]): Row | undefined {
    return this.#prepared(sql, false).get(...parameters)
  }

  all(sql: string, ...parameters: readonly SqlValue[]): readonly Row[] {
    return this.#prepared(sql, false).all(...parameters)
  }

  /** One row after the other, for what does not fit into memory. No other statement of this text may run meanwhile. */
  each(sql: string, ...parameters: readonly SqlValue[]): Iterable<Row> {
    return this.#prepared(sql, false).iterate(...parameters)
  }

  run(sql: string, ...parameters: readonly SqlValue[]): void {
    this.#prepared(sql, true).run(...parameters)
  }

  /** Gives the new row's number. */
  insert(sql: string, ...parameters: readonly SqlValue[]): number {
    return Number(this.#prepared(sql, true).run(...parameters).lastInsertRowid)
  }

  /** Several statements at once, without parameters. */
  exec(sql: string): void {
    this.database.exec(sql)
  }

  get inTransaction(): boolean {
    return this.database.isTransaction
  }

  /** Searches that look at more than this, in units of search-effort.ts, throw EffortSpent. */
  within<T>(units: number, work: () => T): T {
    const outer = this.effort
    this.effort = new SearchEffort(units)
    try {
      return work()
    } finally {
      this.effort = outer
    }
  }

  /** Statements that make a text or row of more bytes throw EffortSpent. */
  shorterThan<T>(bytes: number, work: () => T): T {
    const { limits } = this.database
    // Node 24 has none.
    if (limits) limits.length = bytes
    try {
      return work()
    } catch (error) {
      throw isTooBig(error) ? new EffortSpent() : error
    } finally {
      if (limits) limits.length = MAX_LENGTH
    }
  }

  close(): void {
    this.#statements.clear()
    this.database.close()
  }

  /**
   * `write`: node:sqlite gives the connection's last row number after each `run`, also of a COMMIT, and throws if that
   * is no safe integer, when the statement has long been executed. FTS5 leaves such numbers behind: hence bigints.
   */
  #prepared(sql: string, write: boolean): StatementSync {
    if (!this.database.isOpen) throw new QuoinError('UNAVAILABLE', 'The storage is closed.')
    const known = this.#statements.get(sql)
    if (known) return known
    const statement = this.database.prepare(sql, { readBigInts: write })
    this.#statements.set(sql, statement)
    return statement
  }
}

/**
 * Adds `quoin_sorted`: (value, collation) → what sorts as people sort it. Indexes are over it, so every connection that writes, makes an
 * index or runs `PRAGMA integrity_check` needs it. Another program can read the file but not write to it (measured with the shell of
 * SQLite 3.40).
 */
export function addFunctions(database: DatabaseSync): void {
  database.function('quoin_sorted', { deterministic: true, useBigIntArguments: true }, sortedValue)
}

function sortedValue(value: SQLOutputValue, collation: SQLOutputValue): SQLOutputValue {
  return typeof value === 'string' && isCollation(collation) ? sortedText(value, collation) : value
}

/** Runs `read`, turning SQLite's errors into ours. `failed` hears of them too. */
export function guarded<T>(read: () => T, failed?: (error: unknown) => void): T {
  try {
    return read()
  } catch (error) {
    const reported = storageError(error)
    failed?.(reported)
    throw reported
  }
}

export function textOf(row: Row, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new TypeError(`The column ${column} holds no text.`)
  return value
}

export function numberOf(row: Row, column: string): number {
  const value = row[column]
  if (typeof value !== 'number') throw new TypeError(`The column ${column} holds no number.`)
  return value
}

// One process per data directory. A second one would have a writer lock, versions and caches of its own, all of which
// are only right while no other process writes.
// The lock is SQLite's own file lock on a small file beside the database, held by a transaction that never ends. The
// operating system drops it with the process, also on kill -9, so nothing stale can be left behind as with a file that
// holds a process id. It cannot be a lock on the database itself: that would keep our own reader out.

/** Gives what lets go of the lock. Throws UNAVAILABLE if another process (or this one) holds it. */
export function lockDirectory(directory: string): () => void {
  const database = new DatabaseSync(join(directory, 'quoin.lock'), { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (!isLocked(error)) throw error
    throw new QuoinError(
      'UNAVAILABLE',
      `The directory ${directory} is in use by another Quoin process. Stop that one, or use another directory.`,
      { cause: error },
    )
  }
  return () => database.close()
}

export function sqliteMigrations(): Promise<readonly Migration[]> {
  return readMigrations(new URL('./migrations/', import.meta.url))
}

/** The directory's lock is held, so no other process migrates at the same time. */
export async function migrateSqlite(
  connection: SqliteConnection,
  steps: readonly Migration[],
  clock: Clock,
): Promise<void> {
  await migrate(steps, {
    applied() {
      connection.exec(`CREATE TABLE IF NOT EXISTS migration (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied INTEGER NOT NULL
      ) STRICT`)
      return connection
        .all('SELECT number, checksum FROM migration ORDER BY number')
        .map((row) => ({ number: numberOf(row, 'number'), checksum: textOf(row, 'checksum') }))
    },
    apply(step) {
      connection.exec('BEGIN IMMEDIATE')
      try {
        connection.exec(step.sql)
        connection.run(
          'INSERT INTO migration (number, name, checksum, applied) VALUES (?, ?, ?, ?)',
          step.number,
          step.name,
          step.checksum,
          Math.floor(clock() / 1000),
        )
        connection.exec('COMMIT')
      } catch (error) {
        if (connection.inTransaction) connection.exec('ROLLBACK')
        throw error
      }
    },
  })
}
