/**
 * Keeps a storage's shape (see `document-shape.ts`) in the database: what a document adds is written in the document's
 * transaction. When that is undone the shape in memory stays wide, which is safe, but then holds what the database does
 * not; `shapeSaved` is false then, and the next write stores all of it.
 */
import type { JsonObject } from '../../../shared/json.ts'
import { noteShape, type ShapeRow, shapeRows } from './document-shape.ts'
import { numberOf, type SqliteConnection, textOf } from './sqlite-connection.ts'
import type { StorageEntry } from './storage-entry.ts'

interface ShapeWriting {
  readonly connection: SqliteConnection
  readonly entry: StorageEntry
  readonly widened: Set<StorageEntry>
}

export function readShape(connection: SqliteConnection, storage: number): readonly ShapeRow[] {
  return connection
    .all('SELECT field, types FROM storage_shape WHERE storage = ?', storage)
    .map((row) => ({ field: textOf(row, 'field'), types: numberOf(row, 'types') }))
}

/** Takes a document that is being written into its storage's shape. */
export function saveShape({ connection, entry, widened }: ShapeWriting, body: JsonObject): void {
  const changes = noteShape(entry.shape, body)
  const rows = entry.shapeSaved ? changes : shapeRows(entry.shape)
  if (rows.length === 0) return
  widened.add(entry)
  entry.shapeSaved = true
  for (const { field, types } of rows)
    connection.run(
      `INSERT INTO storage_shape (storage, field, types) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET types = types | excluded.types`,
      entry.id,
      field,
      types,
    )
}
