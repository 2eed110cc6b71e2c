/** Makes a table of PostgreSQL equal to one of SQLite: batch by batch, each in a transaction of its own. */

import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PostgresPool } from '../postgres/core/postgres-connection.ts'
import type { PostgresTransaction } from '../postgres/core/postgres-transaction.ts'
import type { PostgresConnection } from '../postgres/core/rows.ts'
import type { CopiedRow, CopiedTable, Key } from './copied-tables.ts'
import { deleteOthers, digestPages, digestsOf, type PostgresRows, writeRows } from './postgres-rows.ts'

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

// Checksums of rows: of one, to see whether it has to be written again; of a table, to see that all was copied.

interface TableChecksum {
  readonly rows: number
  /** Of all rows in the order of their keys, hexadecimal. */
  readonly sha256: string
}

/** What is equal when all columns are, byte for byte. The same as `digestColumns` make PostgreSQL say. */
function rowDigest({ columns }: CopiedTable, row: CopiedRow): string {
  const values = columns.map(({ large }, place) => {
    const value = row[place] ?? null
    return large && value !== null ? createHash('sha256').update(String(value)).digest('hex') : value
  })
  return JSON.stringify(values)
}

/** Takes digests in the order of keys. */
function tableChecksum(): { add(digest: string): void; end(): TableChecksum } {
  const hash = createHash('sha256')
  let rows = 0
  return {
    add(digest) {
      rows++
      // No digest holds an end of line: JSON escapes it.
      hash.update(digest).update('\n')
    },
    end: () => ({ rows, sha256: hash.digest('hex') }),
  }
}

// Counts and checksums of the same table on both sides, each read from its own database.

export interface Comparison {
  /** A storage's name, or `jobs (queue)` and `queues`. */
  readonly title: string
  readonly source: TableChecksum
  readonly target: TableChecksum
}

export function isEqual({ source, target }: Comparison): boolean {
  return source.rows === target.rows && source.sha256 === target.sha256
}

export async function sourceChecksum(
  table: CopiedTable,
  batches: Iterable<readonly CopiedRow[]>,
): Promise<TableChecksum> {
  const sum = tableChecksum()
  for (const batch of batches) {
    for (const row of batch) sum.add(rowDigest(table, row))
    // This loop never waits by itself: without a turn the progress is not drawn and signals are not handled.
    await nextTurn()
  }
  return sum.end()
}

export async function targetChecksum(
  connection: PostgresConnection,
  rows: Pick<PostgresRows, 'name' | 'table'>,
  read: (rows: number) => void,
): Promise<TableChecksum> {
  const sum = tableChecksum()
  for await (const page of digestPages(connection, rows)) {
    for (const digest of page) sum.add(digest)
    read(page.length)
  }
  return sum.end()
}
