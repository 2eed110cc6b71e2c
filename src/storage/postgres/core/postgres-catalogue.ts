/**
 * The storages, their indexes and the version of each, as this node knows them. Other nodes change the catalogue too: a
 * node that does tells all nodes before it goes on, and they read it again.
 */
import { QuoinError } from '../../../shared/errors.ts'
import type { Index } from '../../document-index.ts'
import type { ActiveUniqueKey } from '../../unique/active-unique-key.ts'
import type { UniqueKey } from '../../unique/unique-key.ts'
import type { KeyColumns } from '../sql/field-sql.ts'
import type { SearchTarget } from '../sql/search-target.ts'
import { numberOf, type PostgresConnection, type Row, textOf } from './rows.ts'

export class PostgresCatalogue {
  readonly #connection: PostgresConnection
  #entries: ReadonlyMap<string, StorageEntry> = new Map()
  readonly #versions = new Map<string, number>()
  /** The reading under way, and the one behind it: an answer that was begun before a change does not show it. */
  #reading: Promise<boolean> = Promise.resolve(false)

  constructor(connection: PostgresConnection) {
    this.#connection = connection
  }

  /** Reads everything again. Gives whether a storage has other unique keys than before. */
  reload(): Promise<boolean> {
    this.#reading = this.#reading.catch(() => false).then(() => this.#read())
    return this.#reading
  }

  find(name: string): StorageEntry | undefined {
    return this.#entries.get(name)
  }

  /** Throws INTERNAL for an unknown storage: the caller has to ensure it first. */
  async entry(name: string): Promise<StorageEntry> {
    const found = await this.known(name)
    if (found) return found
    throw new QuoinError('INTERNAL', `There is no storage named ${JSON.stringify(name)}.`)
  }

  /** undefined for a storage that is not there. */
  async known(name: string): Promise<StorageEntry | undefined> {
    const known = this.#entries.get(name)
    if (known) return known
    await this.reload()
    return this.#entries.get(name)
  }

  names(): readonly string[] {
    return [...this.#entries.keys()]
  }

  all(): readonly StorageEntry[] {
    return [...this.#entries.values()]
  }

  version(name: string): number {
    return this.#versions.get(name) ?? 0
  }

  written(name: string): void {
    this.#versions.set(name, this.version(name) + 1)
  }

  async #read(): Promise<boolean> {
    const rows = await this.#connection.rows(
      `SELECT storage.id, storage.name, storage.text, storage.noted, storage_index.name AS index_name, definition::text AS definition, columns
      FROM storage LEFT JOIN storage_index ON storage_index.storage = storage.id
      LEFT JOIN (SELECT storage, json_object_agg(field, number)::text AS columns FROM key_column WHERE ready GROUP BY storage) AS keyed
        ON keyed.storage = storage.id ORDER BY storage.id, index_name`,
    )
    const unique = await this.#readKeys()
    const entries = new Map<string, StorageEntry & { readonly indexes: Map<string, Index> }>()
    for (const row of rows) {
      const id = numberOf(row, 'id')
      const name = textOf(row, 'name')
      const text = numberOf(row, 'text')
      const entry = entries.get(name) ?? {
        id,
        name,
        table: documentTable(id),
        needsText: text > 0,
        textReady: text === 2,
        noted: row.noted === true,
        columns: columnsIn(row.columns),
        indexes: new Map<string, Index>(),
        unique: unique.get(id) ?? [],
        other: (storage: string) => entries.get(storage),
      }
      entries.set(name, entry)
      // The text is our own: postgres-indexes.ts wrote it.
      if (row.index_name !== null)
        entry.indexes.set(textOf(row, 'index_name'), JSON.parse(textOf(row, 'definition')) as Index)
    }
    for (const [name, { id }] of this.#entries) if (entries.get(name)?.id !== id) this.written(name)
    const before = this.#entries
    this.#entries = entries
    return [...entries.values()].some(({ name, unique }) => !isSame(before.get(name)?.unique ?? [], unique))
  }

  async #readKeys(): Promise<ReadonlyMap<number, readonly ActiveUniqueKey[]>> {
    const keys = new Map<number, ActiveUniqueKey[]>()
    for (const row of await this.#connection.rows(
      'SELECT id, storage, definition::text AS definition, ready FROM unique_key ORDER BY id',
    )) {
      const storage = numberOf(row, 'storage')
      const key: ActiveUniqueKey = {
        id: numberOf(row, 'id'),
        // The text is our own: make-unique.ts wrote it.
        definition: JSON.parse(textOf(row, 'definition')) as UniqueKey,
        isReady: row.ready === true,
      }
      keys.set(storage, [...(keys.get(storage) ?? []), key])
    }
    return keys
  }
}

/** The text is our own: key-columns.ts wrote it. */
function columnsIn(text: Row[string] | undefined): KeyColumns {
  const columns: Record<string, number> = typeof text === 'string' ? JSON.parse(text) : {}
  return new Map(Object.entries(columns))
}

function isSame(a: readonly ActiveUniqueKey[], b: readonly ActiveUniqueKey[]): boolean {
  return (
    a.length === b.length && a.every(({ id, isReady }, at) => b[at]?.id === id && b[at].isReady === isReady)
  )
}

/**
 * How a storage lies in PostgreSQL. Names are made from the catalogue's number, never from what a builder typed.
 *
 * doc_N: one row a document. `created` and `updated` are milliseconds, `removed` Unix seconds (0 = present). `doc` is the
 * whole text with `_meta`: json and not jsonb, which would not give it back as it was. `tokens` and `token_count`: free
 * text (core/document-row.ts), NULL in a storage without free text. Key columns: key-columns.ts. Pages keep room for the next version of
 * a document, which then needs no entry in any index (HOT) where no indexed value has changed.
 */
export function documentTable(id: number): string {
  return `doc_${id}`
}

export function documentTableSql(id: number): string {
  const table = documentTable(id)
  return `
    CREATE TABLE ${table} (
      guid text COLLATE "C" PRIMARY KEY,
      created bigint NOT NULL,
      updated bigint NOT NULL,
      removed bigint NOT NULL,
      version bigint NOT NULL,
      doc json NOT NULL,
      tokens tsvector,
      token_count integer
    ) WITH (fillfactor = 85);
    CREATE INDEX ${table}_created ON ${table} (created, guid) WHERE removed = 0`
}

/** What is known of one storage. Also what searches are compiled against. */
export interface StorageEntry extends SearchTarget {
  readonly name: string
  /** Those that are there and valid, by the index's name in PostgreSQL. */
  readonly indexes: ReadonlyMap<string, Index>
  readonly unique: readonly ActiveUniqueKey[]
  /** Whether each write fills `tokens`; `textReady` once those of all documents are filled. */
  readonly needsText: boolean
}

/** Whether nothing but the database itself can refuse a document that has a guid of its own. */
export function isPlain(entry: StorageEntry): boolean {
  return entry.unique.length === 0 && !hasUniqueIndex(entry)
}

export function hasUniqueIndex({ indexes }: StorageEntry): boolean {
  for (const { unique } of indexes.values()) if (unique) return true
  return false
}
