/**
 * What references need to know of documents, in a transaction. A reference to a document locks its row FOR KEY SHARE, a removal FOR
 * UPDATE: one waits for the other, and then sees how it ended. Changes of a document lock FOR NO KEY UPDATE, as does who holds it
 * for one; references to it do not wait for that. https://www.postgresql.org/docs/18/explicit-locking.html#LOCKING-ROWS
 */
import type { LockMode } from '../../claims.ts'
import type { Referred } from '../../reference/references.ts'
import type { StorageEntry } from '../core/postgres-catalogue.ts'
import { type PostgresConnection, textOf } from '../core/rows.ts'
import { IS_PRESENT, indexExpression, sortKey } from '../sql/field-sql.ts'

const locks: Readonly<Record<LockMode, string>> = {
  reference: 'FOR KEY SHARE',
  removal: 'FOR UPDATE',
  change: 'FOR NO KEY UPDATE',
}

/** In the order of guids, so that two sessions do not meet crosswise. */
export async function lockedGuids(
  connection: PostgresConnection,
  { table }: StorageEntry,
  guids: readonly string[],
  use: LockMode,
): Promise<readonly string[]> {
  const rows = await connection.rows(
    `SELECT guid FROM ${table} WHERE guid = ANY ($1::text[]) AND ${IS_PRESENT} ORDER BY guid ${locks[use]}`,
    [guids],
  )
  return rows.map((row) => textOf(row, 'guid'))
}

/** Keys of texts as short as guids are exact. */
export async function referrersOf(
  connection: PostgresConnection,
  { table, columns }: StorageEntry,
  { field, guids, limit }: Referred,
): Promise<readonly string[]> {
  const rows = await connection.rows(
    `SELECT guid FROM ${table} WHERE removed = 0 AND ${indexExpression(field, columns)} = ANY ($1::text[]) LIMIT $2`,
    [guids.map(sortKey), limit],
  )
  return rows.map((row) => textOf(row, 'guid'))
}
