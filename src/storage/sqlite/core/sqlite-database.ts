/**
 * The embedded engine: one file, one writer, one reader.
 *
 * One reader is enough: queries are synchronous, so there is never more than one at a time in this process. It serves
 * while the writer has a transaction open, so that a session without writes of its own never sees what others have not
 * committed.
 */
import { QuoinError } from '../../../shared/errors.ts'
import { oneAtATime } from '../../../shared/one-at-a-time.ts'
import {
  type Database,
  type Needs,
  type Observer,
  type Origin,
  type Preparation,
  type Read,
  type Session,
  storageNameProblem,
} from '../../database.ts'
import type { Index } from '../../document-index.ts'
import type { Jobs } from '../../job.ts'
import { addObserver } from '../../observers.ts'
import type { SlowSearch } from '../../search/search-advisor.ts'
import { stampOf } from '../cache/read-stamps.ts'
import { searchedStorage } from '../sql/sqlite-search-advice.ts'
import { ensureIndexes, ensureText, releaseIndexes } from './sqlite-ensure.ts'
import { DamagedDatabase } from './sqlite-errors.ts'
import { openSqliteParts, type SqliteOptions, type SqliteParts } from './sqlite-parts.ts'
import { SqliteSession } from './sqlite-session.ts'
import type { StorageEntry } from './storage-entry.ts'
import { documentTableSql, dropTextSql } from './tables.ts'

/** Throws UNAVAILABLE when another process uses the directory, or a newer Quoin made what is in it. */
export async function openSqliteDatabase(options: SqliteOptions): Promise<Database> {
  return new SqliteDatabase(await openSqliteParts(options))
}

export class SqliteDatabase implements Database {
  readonly engine = 'sqlite'
  readonly jobs: Jobs
  readonly cluster = undefined
  readonly alone = oneAtATime()
  readonly #parts: SqliteParts
  /** The last `ensure` or `drop` of each name: they run one after the other. */
  readonly #changes = new Map<string, Promise<void>>()
  #closed: Promise<void> | undefined

  constructor(parts: SqliteParts) {
    this.#parts = parts
    this.jobs = parts.jobs
  }

  ensure(name: string, needs: Needs = {}): Promise<void> {
    return this.#inOrder(name, async () => {
      const problem = storageNameProblem(name)
      if (problem)
        throw new QuoinError('INVALID_BODY', `The storage name ${JSON.stringify(name)} ${problem}.`)
      const entry = this.#parts.catalogue.find(name) ?? (await this.#create(name))
      await ensureIndexes(this.#parts, entry, needs)
      if (needs.text) await ensureText(this.#parts, entry)
    })
  }

  release(name: string, kept: readonly Index[]): Promise<void> {
    return this.#inOrder(name, async () => {
      const entry = this.#parts.catalogue.find(name)
      if (entry) await releaseIndexes(this.#parts, entry, kept)
    })
  }

  drop(name: string): Promise<void> {
    return this.#inOrder(name, async () => {
      const { catalogue, writer } = this.#parts
      const entry = catalogue.find(name)
      if (entry === undefined) return
      await writer.alone(
        (connection) => {
          connection.exec(`DROP TABLE ${entry.table}; ${dropTextSql(entry.id)}`)
          connection.run('DELETE FROM storage WHERE id = ?', entry.id)
        },
        () => catalogue.remove(entry),
      )
    })
  }

  has(name: string): boolean {
    return this.#parts.catalogue.find(name) !== undefined
  }

  names(): readonly string[] {
    return this.#parts.catalogue.names()
  }

  session(origin: Origin = {}): Session {
    return new SqliteSession(this.#parts, origin)
  }

  observe(name: string, observer: Observer): () => void {
    return addObserver(this.#parts.observers, name, observer)
  }

  /** One process has the directory, so there are no other nodes to tell of. */
  watch(): () => void {
    return () => undefined
  }

  stamp(name: string, read?: Read): unknown {
    return stampOf(this.#parts, name, read)
  }

  version(name: string): number {
    return this.#parts.catalogue.version(name)
  }

  kept(name: string): Required<Needs> {
    return searchedStorage(this.#parts.catalogue.entry(name))
  }

  /** What takes long is made in a thread, and whoever asked for it waits. */
  async preparing(): Promise<readonly Preparation[]> {
    return []
  }

  slowSearches(name: string): readonly SlowSearch[] {
    const entry = this.#parts.catalogue.entry(name)
    return this.#parts.advisor.of(entry.table, searchedStorage(entry))
  }

  /** Another process has met damage in a file: as if this one had. */
  noteDamage(reason: string): void {
    this.#parts.writer.noteFailure(new DamagedDatabase(new Error(reason)))
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#changes.values())
    await this.#parts.close()
  }

  async #create(name: string): Promise<StorageEntry> {
    const { catalogue, writer } = this.#parts
    await writer.alone(
      (connection) => {
        const id = connection.insert('INSERT INTO storage (name) VALUES (?)', name)
        connection.exec(documentTableSql(id))
        return id
      },
      (id) => catalogue.add(id, name),
    )
    return catalogue.entry(name)
  }

  #inOrder(name: string, change: () => Promise<void>): Promise<void> {
    if (this.#closed) return Promise.reject(new QuoinError('UNAVAILABLE', 'The storage is being closed.'))
    const before = this.#changes.get(name)
    const after = before === undefined ? change() : before.then(change, change)
    this.#changes.set(name, after)
    const done = () => {
      if (this.#changes.get(name) === after) this.#changes.delete(name)
    }
    after.then(done, done)
    return after
  }
}
