/**
 * The embedded engine: one file, one writer, one reader.
 *
 * One reader is enough: queries are synchronous, so there is never more than one at a time in this process. It serves
 * while the writer has a transaction open, so that a session without writes of its own never sees what others have not
 * committed.
 */
import { stat } from 'node:fs/promises'
import { oneAtATime } from '../../../shared/cooperative.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { Capabilities, DatabaseFigures, Read, ReadVersion, ReadVersions } from '../../capabilities.ts'
import type { Watcher } from '../../cluster.ts'
import type { Observer, Origin, Session } from '../../database.ts'
import type { Index, Needs } from '../../document-index.ts'
import { addObserver } from '../../observers.ts'
import { storageNameProblem } from '../../system-storages.ts'
import { keyTable } from '../../unique/active-unique-key.ts'
import { keepsRules, type RawDatabase } from '../../validated.ts'
import { WrittenDocuments } from '../../written-documents.ts'
import { forgetCounters } from '../numbers/counters.ts'
import { searchedStorage } from '../sql/bounded-search.ts'
import { sqliteUniqueKeys } from '../unique/make-unique.ts'
import { openResetToCopy, type ResetToCopy } from './reset-to-copy.ts'
import { aggregateKey, type CacheParts, followWrites } from './sqlite-catalogue.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { ensureIndexes, ensureText, releaseIndexes } from './sqlite-ensure.ts'
import { openSqliteParts, type SqliteOptions, type SqliteParts } from './sqlite-parts.ts'
import { SqliteSession } from './sqlite-session.ts'
import type { StorageEntry } from './storage-entry.ts'
import { documentTableSql, dropTextSql } from './tables.ts'

/** Throws UNAVAILABLE when another process uses the directory, or a newer Quoin made what is in it. */
export async function openSqliteDatabase(options: SqliteOptions): Promise<SqliteDatabase> {
  return new SqliteDatabase(await openSqliteParts(options))
}

export class SqliteDatabase implements RawDatabase {
  readonly [keepsRules] = false
  readonly capabilities: Capabilities
  readonly #parts: SqliteParts
  /** The last `ensure` or `drop` of each name: they run one after the other. */
  readonly #changes = new Map<string, Promise<void>>()
  /** By storage. One process has the directory, so there are no other nodes to tell of: they hear of {@link setBack}. */
  readonly #watchers = new Map<string, Set<Watcher>>()
  #setBack: ResetToCopy | undefined
  #closed: Promise<void> | undefined

  constructor(parts: SqliteParts) {
    this.#parts = parts
    const { jobs, queues, catalogue, advisor } = parts
    const file = fileOf(parts.reader)
    this.capabilities = {
      engine: 'sqlite',
      indexes: {
        of: (name) => searchedStorage(catalogue.entry(name)),
        release: (name, requested) => this.#release(name, requested),
        slow(name) {
          const entry = catalogue.entry(name)
          return advisor.of(entry.table, searchedStorage(entry))
        },
        // What takes long is made in a thread, and the caller of `ensure` waits for it.
        preparing: async () => [],
      },
      uniqueValues: sqliteUniqueKeys(parts, (name, change) => this.#inOrder(name, change)),
      changes: {
        watch: (name, watcher) => this.#watch(name, watcher),
        version: (name) => catalogue.version(name),
      },
      readVersions: readVersions(parts),
      cluster: undefined,
      withClusterLock: oneAtATime(),
      jobs,
      queues,
      figures: () => sqliteFigures(parts, file),
    }
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

  drop(name: string): Promise<void> {
    return this.#inOrder(name, async () => {
      const { catalogue, writer } = this.#parts
      const entry = catalogue.find(name)
      if (entry === undefined) return
      await writer.alone(
        (connection) => {
          const keys = entry.unique.map((key) => `DROP TABLE ${keyTable(key)};`).join(' ')
          connection.exec(`DROP TABLE ${entry.table}; ${keys} ${dropTextSql(entry.id)}`)
          connection.run('DELETE FROM storage WHERE id = ?', entry.id)
          forgetCounters(connection, name)
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

  /** For tests of flows: takes everything back to what the copy of its file holds. False where it is refused: see reset-to-copy.ts. */
  setBack(copy: string, mayBeWritten: (storage: string) => boolean): Promise<boolean> {
    this.#setBack ??= openResetToCopy(
      { ...this.#parts, watchers: this.#watchers },
      fileOf(this.#parts.reader),
      copy,
    )
    return this.#setBack.run(mayBeWritten)
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  #watch(name: string, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(name) ?? new Set()
    this.#watchers.set(name, watchers.add(watcher))
    return () => void watchers.delete(watcher)
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#changes.values())
    this.#setBack?.close()
    await this.#parts.close()
  }

  #release(name: string, requested: readonly Index[]): Promise<void> {
    return this.#inOrder(name, async () => {
      const entry = this.#parts.catalogue.find(name)
      if (entry) await releaseIndexes(this.#parts, entry, requested)
    })
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

/** `path`: of the database file. Pages that are in the log alone are counted: a young database has nearly all of them there. */
async function sqliteFigures(
  { reader, writer, results }: SqliteParts,
  path: string,
): Promise<DatabaseFigures> {
  const pages = reader.get(
    'SELECT freelist_count * page_size AS free, page_count * page_size AS size FROM pragma_freelist_count, pragma_page_count, pragma_page_size',
  )
  return {
    sizeBytes: Number(pages?.size ?? 0),
    freeBytes: Number(pages?.free ?? 0),
    logBytes: await sizeOf(`${path}-wal`),
    commits: writer.commits,
    connections: null,
    cache: { ...results.uses },
  }
}

/** Where the connection's database lies. */
function fileOf(connection: SqliteConnection): string {
  return String(connection.get(`SELECT file FROM pragma_database_list WHERE name = 'main'`)?.file ?? '')
}

async function sizeOf(path: string): Promise<number> {
  // Without writes there is no log.
  return (await stat(path).catch(() => undefined))?.size ?? 0
}

/**
 * No other process writes, so the version of the storage stands for all of it, the number of its last write for a document,
 * and for a page the page itself while it is kept.
 */
function readVersions(parts: CacheParts): ReadVersions {
  const { catalogue, results } = parts

  /** Asked for each time: the storage may be dropped, and another one made under its name. */
  function inStorage(name: string, version: (entry: StorageEntry) => unknown): ReadVersion {
    return () => {
      const entry = catalogue.find(name)
      return entry && version(entry)
    }
  }

  function ofPage(name: string, key: string): ReadVersion {
    return inStorage(name, (entry) =>
      followWrites(parts, entry) ? results.known(name, catalogue.version(name), key) : undefined,
    )
  }

  function ofDocument(name: string, guid: string): ReadVersion {
    return inStorage(name, (entry) => {
      entry.written ??= new WrittenDocuments(() => catalogue.nextWrite())
      return entry.written.version(guid)
    })
  }

  return {
    of(name: string, read?: Read) {
      if (read === undefined) return inStorage(name, () => catalogue.version(name))
      if ('aggregate' in read) return ofPage(name, aggregateKey(read.aggregate))
      return 'page' in read ? ofPage(name, JSON.stringify(read.page)) : ofDocument(name, read.guid)
    },
  }
}
