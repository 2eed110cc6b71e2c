/** Rows of the embedded database as they are stored, in batches that fit into memory however large a document is. */
import type { SqliteConnection, SqlValue } from '../sqlite/core/sqlite-connection.ts'
import type { CopiedRow, CopiedTable } from './copied-tables.ts'

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
