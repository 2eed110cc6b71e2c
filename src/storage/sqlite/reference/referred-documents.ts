/** What references need to know of documents, in the writer's turn: no other session writes until this one ends. */
import type { Referred } from '../../reference/references.ts'
import { type SqliteConnection, textOf } from '../core/sqlite-connection.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { indexExpression } from '../sql/field-sql.ts'
import { ROWS } from '../sql/sql-values.ts'

const LISTED = '(SELECT value FROM json_each(?))'

export function presentOf(
  connection: SqliteConnection,
  { table }: StorageEntry,
  guids: readonly string[],
): readonly string[] {
  const rows = connection.all(
    `SELECT guid FROM ${table} WHERE removed = 0 AND guid IN ${LISTED}`,
    JSON.stringify(guids),
  )
  return rows.map((row) => textOf(row, 'guid'))
}

/** A guid is like no JSON text of an array or an object, so the plain comparison is exact. */
export function referrersOf(
  connection: SqliteConnection,
  { table }: StorageEntry,
  { field, guids, limit }: Referred,
): readonly string[] {
  const rows = connection.all(
    `SELECT guid FROM ${table} WHERE removed = 0 AND ${indexExpression(field)} IN ${LISTED} LIMIT ${ROWS}`,
    JSON.stringify(guids),
    limit,
  )
  return rows.map((row) => textOf(row, 'guid'))
}
