/**
 * Gives the documents of a full storage their keys, while others write. What is written meanwhile has them already.
 *
 * It walks the table by guid in small transactions, each of which locks its documents and records how far it came, which any node sees
 * (`readPreparations` of text/fill-tokens.ts). It ends at
 * the document that is the last one when it begins. A crash, or another node that does the same, does no harm.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { KeyColumns } from '../sql/field-sql.ts'
import { fillSql } from './key-columns.ts'
import type { PostgresPool } from './postgres-connection.ts'
import { isLocked } from './postgres-errors.ts'
import { numberOf, type PostgresConnection, type Row, textOf } from './rows.ts'
import type { StorageEntry } from './storage-entry.ts'

/** Documents of a transaction. */
const PAGE = 500
const MOST_BYTES = 4_000_000
/** Waiting for another transaction ends before PostgreSQL looks for a deadlock, and so ends one of ours and no other. */
const LOCK_MS = 200
const AGAIN_MS = 50

/** false: it was told to stop before the end. */
export async function fillKeyColumns(
  pool: PostgresPool,
  entry: Pick<StorageEntry, 'id' | 'table'>,
  columns: KeyColumns,
  goesOn: () => boolean,
): Promise<boolean> {
  // Counting would take minutes; this is what was found when the table was last analysed.
  const [row = {}] = await pool.rows(
    `WITH begun AS (
      UPDATE key_column SET total = (SELECT greatest(reltuples, 0) FROM pg_class WHERE oid = $2::regclass)
      WHERE storage = $1 AND NOT ready RETURNING filled)
    SELECT coalesce(min(filled), '') AS filled, coalesce((SELECT max(guid) FROM ${entry.table}), '') AS last FROM begun`,
    [entry.id, entry.table],
  )
  const last = textOf(row, 'last')
  let behind: string | undefined = textOf(row, 'filled')
  while (behind !== undefined && behind < last) {
    if (!goesOn()) return false
    behind = await fillPage(pool, entry, columns, { behind, last })
  }
  return true
}

/** Gives the last guid of the page; undefined: there was none. */
async function fillPage(
  pool: PostgresPool,
  { id, table }: Pick<StorageEntry, 'id' | 'table'>,
  columns: KeyColumns,
  way: { readonly behind: string; readonly last: string },
): Promise<string | undefined> {
  return inTransaction(pool, async (connection) => {
    const rows = await connection.rows(
      `SELECT guid, pg_column_size(doc) AS bytes FROM ${table} WHERE guid > $1 AND guid <= $2 ORDER BY guid LIMIT ${PAGE} FOR NO KEY UPDATE`,
      [way.behind, way.last],
    )
    const guids = firstGuids(rows)
    const last = guids.at(-1)
    if (last === undefined) return undefined
    // A statement of its own: it sees the documents as they are now that they are locked.
    await connection.run(fillSql(table, columns, '$1::text[]'), [guids])
    await connection.run(
      'UPDATE key_column SET filled = $2, done = done + $3 WHERE storage = $1 AND NOT ready',
      [id, last, guids.length],
    )
    return last
  })
}

/** As many as one statement may read. The size of what is stored out of line is known without reading it. */
function firstGuids(rows: readonly Row[]): string[] {
  let bytes = 0
  const end = rows.findIndex((row, at) => {
    bytes += numberOf(row, 'bytes')
    return at > 0 && bytes > MOST_BYTES
  })
  return rows.slice(0, end < 0 ? undefined : end).map((row) => textOf(row, 'guid'))
}

/** Again while another transaction has one of the documents. */
async function inTransaction<T>(
  pool: PostgresPool,
  work: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  for (;;) {
    const transaction = pool.transaction()
    try {
      await transaction.script(`SET LOCAL enable_seqscan = off; SET LOCAL lock_timeout = ${LOCK_MS}`)
      const result = await work(transaction)
      await transaction.commit()
      return result
    } catch (error) {
      await transaction.rollback()
      if (!isLocked(error)) throw error
    }
    await wait(AGAIN_MS)
  }
}
