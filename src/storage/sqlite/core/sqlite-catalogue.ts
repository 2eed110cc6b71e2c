/** Which storages there are, what they have, and the version of each. Read once; changed with the database. */
import { QuoinError } from '../../../shared/errors.ts'
import type { Index } from '../../document-index.ts'
import type { ActiveUniqueKey } from '../../unique/active-unique-key.ts'
import type { UniqueKey } from '../../unique/unique-key.ts'
import { loadShape, type ShapeRow } from './document-shape.ts'
import { numberOf, type SqliteConnection, textOf } from './sqlite-connection.ts'
import { readShape } from './sqlite-documents.ts'
import type { StorageEntry } from './storage-entry.ts'
import { documentTable, textTable } from './tables.ts'

const nothing = { textUpTo: -1, shape: [] }

export class SqliteCatalogue {
  readonly #entries = new Map<string, StorageEntry>()
  /** By name, and kept when a storage is dropped: one that comes back under the name must not repeat a version. */
  readonly #versions = new Map<string, number>()

  #lastWrite = 0

  load(connection: SqliteConnection): void {
    for (const row of connection.all('SELECT id, name, text, text_complete FROM storage')) {
      const id = numberOf(row, 'id')
      const textUpTo = numberOf(row, 'text_complete') === 1 ? Infinity : numberOf(row, 'text')
      const entry = this.add(id, textOf(row, 'name'), { textUpTo, shape: readShape(connection, id) })
      // The text is our own: createIndex wrote it.
      for (const index of connection.all('SELECT name, definition FROM storage_index WHERE storage = ?', id))
        entry.indexes.set(textOf(index, 'name'), JSON.parse(textOf(index, 'definition')) as Index)
      entry.unique = readKeys(connection, id)
    }
  }

  add(
    id: number,
    name: string,
    has: { textUpTo: number; shape: readonly ShapeRow[] } = nothing,
  ): StorageEntry {
    const entry: StorageEntry = {
      id,
      name,
      table: documentTable(id),
      textTable: has.textUpTo === Infinity ? textTable(id) : undefined,
      textUpTo: has.textUpTo,
      shape: loadShape(has.shape),
      kept: 0,
      unsaved: 0,
      shapeSaved: true,
      indexes: new Map(),
      unique: [],
      other: (storage) => this.find(storage),
    }
    this.#entries.set(name, entry)
    return entry
  }

  remove(entry: StorageEntry): void {
    this.#entries.delete(entry.name)
    this.written(entry.name)
  }

  find(name: string): StorageEntry | undefined {
    return this.#entries.get(name)
  }

  /** Throws INTERNAL: who asks for a storage has to have ensured it. */
  entry(name: string): StorageEntry {
    const entry = this.#entries.get(name)
    if (entry === undefined)
      throw new QuoinError('INTERNAL', `There is no storage named ${JSON.stringify(name)}.`)
    return entry
  }

  names(): readonly string[] {
    return [...this.#entries.keys()]
  }

  version(name: string): number {
    return this.#versions.get(name) ?? 0
  }

  written(name: string): void {
    this.#versions.set(name, this.version(name) + 1)
  }

  /** Larger than all that were given before. */
  nextWrite(): number {
    this.#lastWrite += 1
    return this.#lastWrite
  }
}

function readKeys(connection: SqliteConnection, storage: number): readonly ActiveUniqueKey[] {
  const rows = connection.all(
    'SELECT id, definition, ready FROM unique_key WHERE storage = ? ORDER BY id',
    storage,
  )
  return rows.map((row) => ({
    id: numberOf(row, 'id'),
    // The text is our own: make-unique.ts wrote it.
    definition: JSON.parse(textOf(row, 'definition')) as UniqueKey,
    isReady: numberOf(row, 'ready') === 1,
  }))
}
