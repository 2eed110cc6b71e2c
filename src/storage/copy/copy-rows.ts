/** Makes a table of PostgreSQL equal to one of SQLite: batch by batch, each in a transaction of its own. */
import type { PostgresPool } from '../postgres/core/postgres-connection.ts'
import type { PostgresTransaction } from '../postgres/core/postgres-transaction.ts'
import type { CopiedRow, Key } from './copied-tables.ts'
import { deleteOthers, digestsOf, type PostgresRows, writeRows } from './postgres-rows.ts'
import { rowDigest } from './row-digest.ts'

/**
 * `batches` in the order of keys. Rows that are there and equal (from a run before) are not written again; those that are
 * in no batch are deleted. `copied` hears how many rows each batch had.
 */
export async function copyRows(
  pool: PostgresPool,
  target: PostgresRows,
  batches: Iterable<readonly CopiedRow[]>,
  copied: (rows: number) => void,
): Promise<void> {
  const wasEmpty = (await pool.rows(`SELECT 1 FROM ${target.name} LIMIT 1`)).length === 0
  let after: Key | undefined
  for (const batch of batches) {
    const keys = batch.map(keyOf)
    const last = keys.at(-1)
    const from = after
    await inTransaction(pool, async (transaction) => {
      if (wasEmpty) return writeRows(transaction, target, batch)
      await deleteOthers(transaction, target, from, last, keys)
      const there = await digestsOf(transaction, target, keys)
      const missing = batch.filter((row) => there.get(keyOf(row)) !== rowDigest(target.table, row))
      if (missing.length > 0) await writeRows(transaction, target, missing)
    })
    after = last
    copied(batch.length)
  }
  if (!wasEmpty) await deleteOthers(pool, target, after, undefined, [])
}

function keyOf([key]: CopiedRow): Key {
  if (key === null || key === undefined) throw new TypeError('A row has no key.')
  return key
}

async function inTransaction(
  pool: PostgresPool,
  work: (transaction: PostgresTransaction) => Promise<void>,
): Promise<void> {
  const transaction = pool.transaction()
  try {
    await work(transaction)
    await transaction.commit()
  } catch (error) {
    await transaction.rollback()
    throw error
  }
}
