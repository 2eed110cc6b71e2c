/**
 * The documents of a storage that were written since the last check of the cache, each as it was then. Cached searches and
 * counts are checked against them, so that a write drops only the results that it could have changed.
 *
 * Each writer of a document reports its content before the write. If the write is undone, the content is the same again:
 * no difference.
 */
import type { JsonObject } from '../../../shared/json.ts'
import { numberOf, type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import type { SearchTarget } from '../sql/sql-values.ts'
import type { TouchedDocument } from './search-cache.ts'

/** With more documents it is faster to search and count again. */
const MOST = 200
/** Of their texts. */
const MOST_CHARACTERS = 4 * 1024 * 1024

export class TouchedDocuments {
  /** Of the storage, at the last check. */
  #version: number
  /** By row: the text that stood there. */
  readonly #before = new Map<number, string | undefined>()
  #characters = 0
  #reported: ((row: number) => void) | undefined

  constructor(version: number) {
    this.#version = version
  }

  get version(): number {
    return this.#version
  }

  /** Who else wants to know which rows are written; one, the last that asked. */
  alsoTell(reported: (row: number) => void): void {
    this.#reported = reported
  }

  get none(): boolean {
    return this.#before.size === 0
  }

  /** Before the first write since then, what the row held is what counted. */
  touch(row: number, before: string | undefined): void {
    this.#reported?.(row)
    if (this.#tooMany || this.#before.has(row)) return
    this.#before.set(row, before)
    this.#characters += before?.length ?? 0
  }

  /** As the connection sees them now; undefined if they are too many. */
  read(connection: SqliteConnection, { table }: SearchTarget): readonly TouchedDocument[] | undefined {
    if (this.#tooMany) return undefined
    if (this.none) return []
    const rows = connection.all(
      `SELECT id, doc FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify([...this.#before.keys()]),
    )
    const now = new Map(rows.map((row) => [numberOf(row, 'id'), textOf(row, 'doc')]))
    return [...this.#before].flatMap(([row, before]) => {
      const after = now.get(row)
      return after === before ? [] : [{ before: parsed(before), now: parsed(after) }]
    })
  }

  /** From here on: as it is now, at this version. */
  forget(version: number): void {
    this.#version = version
    this.#before.clear()
    this.#characters = 0
  }

  get #tooMany(): boolean {
    return this.#before.size > MOST || this.#characters > MOST_CHARACTERS
  }
}

function parsed(text: string | undefined): JsonObject | undefined {
  const value: unknown = text === undefined ? undefined : JSON.parse(text)
  // What the storage wrote itself.
  return typeof value === 'object' ? (value as JsonObject) : undefined
}
