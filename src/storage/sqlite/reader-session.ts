/**
 * One unit of work in a process that only reads. Each read sees what is committed when it begins; unlike in the process
 * that writes, the writer may commit between two reads of one flow, as it may on PostgreSQL.
 */
import { matchAll, type Query, type Search } from '../../shared/query.ts'
import type { SearchCache } from '../search-cache.ts'
import type { Found, Origin, Session } from '../storage.ts'
import type { StoredJson } from '../stored-json.ts'
import { refuseWrite } from '../write-refused.ts'
import type { ReaderCatalogue } from './reader-catalogue.ts'
import { guarded, numberOf, type SqliteConnection } from './sqlite-connection.ts'
import { getDocument } from './sqlite-documents.ts'
import { findDocuments } from './sqlite-find.ts'
import { compileCount } from './sqlite-query.ts'
import type { StorageEntry } from './storage-entry.ts'

export interface ReaderGround {
  readonly connection: SqliteConnection
  readonly catalogue: ReaderCatalogue
  readonly results: SearchCache
  /** Told of each write that was tried. */
  readonly refused: () => void
}

export class ReaderSession implements Session {
  readonly hasWritten = false
  readonly origin: Origin
  readonly #ground: ReaderGround

  constructor(ground: ReaderGround, origin: Origin) {
    this.#ground = ground
    this.origin = origin
  }

  get(storage: string, guid: string, options?: { readonly removed?: boolean }): StoredJson | undefined {
    const { connection, catalogue } = this.#ground
    const removed = options?.removed ?? false
    const entry = catalogue.remembered(storage)
    if (entry) {
      try {
        return getDocument(connection, entry, guid, removed)
      } catch {
        // Its table may be gone, and another storage there under its name.
      }
    }
    return this.#snapshot(storage, (current) => getDocument(connection, current, guid, removed))
  }

  /** A result that is kept costs one read of the catalogue (5 µs), which is exact, in place of the search. */
  find(storage: string, search: Search): Found {
    const { connection, catalogue, results } = this.#ground
    const key = JSON.stringify(search)
    const now = guarded(() => catalogue.unchanged(storage))
    const known = now && results.known(now.entry.table, now.version, key)
    if (known) return known
    return this.#snapshot(storage, (entry, version) =>
      results.found(entry.table, version, { search, key }, () => findDocuments(connection, entry, search)),
    )
  }

  count(storage: string, query: Query = matchAll, includeRemoved = false): number {
    const { connection, catalogue, results } = this.#ground
    const key = JSON.stringify([query, includeRemoved])
    const now = guarded(() => catalogue.unchanged(storage))
    const known = now && results.knownCount(now.entry.table, now.version, key)
    if (known !== undefined) return known
    return this.#snapshot(storage, (entry, version) =>
      results.counted(entry.table, version, key, () => {
        const { sql, parameters } = compileCount(entry, query, includeRemoved)
        return numberOf(connection.get(sql, ...parameters) ?? {}, 'n')
      }),
    )
  }

  create(): never {
    this.#refuse()
  }

  update(): never {
    this.#refuse()
  }

  remove(): never {
    this.#refuse()
  }

  restore(): never {
    this.#refuse()
  }

  delete(): never {
    this.#refuse()
  }

  enqueue(): never {
    this.#refuse()
  }

  /** Nothing can have been written. */
  commit(): void {}

  rollback(): void {}

  #refuse(): never {
    this.#ground.refused()
    refuseWrite(this)
  }

  /** In one read transaction: what is known of the storage is what the work meets. */
  #snapshot<T>(storage: string, work: (entry: StorageEntry, version: number) => T): T {
    const { connection, catalogue } = this.#ground
    return guarded(() => {
      connection.run('BEGIN')
      try {
        const { entry, version } = catalogue.read(storage)
        return work(entry, version)
      } finally {
        if (connection.inTransaction) connection.run('COMMIT')
      }
    })
  }
}
