/**
 * What a process that only reads knows of the storages. Everything is compared with the catalogue's row of the storage,
 * which the writer changes in the transaction of whatever it describes: so a row that was read in one snapshot with a
 * search is right for that search.
 */
import { QuoinError } from '../../../shared/errors.ts'
import { loadShape } from '../core/document-shape.ts'
import { numberOf, type Row, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import { readShape } from '../core/sqlite-shape.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { documentTable, textTable } from '../core/tables.ts'

interface Known {
  readonly entry: StorageEntry
  readonly shaped: number
}

export interface Versioned {
  readonly entry: StorageEntry
  /** Of the documents. Another storage of the same name has another entry with another table. */
  readonly version: number
}

export class ReaderCatalogue {
  readonly #connection: SqliteConnection
  readonly #known = new Map<string, Known>()

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  /** As it was known last. Its table's number is never given to another storage; the rest may be old. */
  remembered(name: string): StorageEntry | undefined {
    return this.#known.get(name)?.entry
  }

  /** The storage as it is now, if it is still the one that is known, with the same shape; else undefined. One read. */
  unchanged(name: string): Versioned | undefined {
    const known = this.#known.get(name)
    if (known === undefined) return undefined
    const row = this.#row(name)
    return row && isSame(known, row) ? { entry: known.entry, version: numberOf(row, 'version') } : undefined
  }

  /** Inside a read transaction: the storage as that one sees it. Throws INTERNAL when it is not there. */
  read(name: string): Versioned {
    const row = this.#row(name)
    if (row === undefined) {
      this.#known.delete(name)
      throw new QuoinError('INTERNAL', `There is no storage named ${JSON.stringify(name)}.`)
    }
    const version = numberOf(row, 'version')
    const known = this.#known.get(name)
    if (known && isSame(known, row)) return { entry: known.entry, version }
    const entry = this.#load(name, row)
    this.#known.set(name, { entry, shaped: numberOf(row, 'shaped') })
    return { entry, version }
  }

  has(name: string): boolean {
    return this.#row(name) !== undefined
  }

  names(): readonly string[] {
    return this.#connection.all('SELECT name FROM storage').map((row) => textOf(row, 'name'))
  }

  #row(name: string): Row | undefined {
    return this.#connection.get('SELECT id, text_complete, version, shaped FROM storage WHERE name = ?', name)
  }

  #load(name: string, row: Row): StorageEntry {
    const id = numberOf(row, 'id')
    const complete = numberOf(row, 'text_complete') === 1
    return {
      id,
      name,
      table: documentTable(id),
      textTable: complete ? textTable(id) : undefined,
      textUpTo: complete ? Infinity : -1,
      shape: loadShape(readShape(this.#connection, id)),
      kept: 0,
      unsaved: 0,
      shapeSaved: true,
      indexes: new Map(),
      // For writes only, and this process makes none.
      unique: [],
      // Asked while a search is compiled, in its read transaction.
      other: (storage) => (this.has(storage) ? this.read(storage).entry : undefined),
    }
  }
}

function isSame({ entry, shaped }: Known, row: Row): boolean {
  return (
    entry.id === numberOf(row, 'id') &&
    shaped === numberOf(row, 'shaped') &&
    (entry.textTable !== undefined) === (numberOf(row, 'text_complete') === 1)
  )
}
