/**
 * Moves the indexes of a storage from expressions of `doc` to key columns: those of a database of a version before, and those that came
 * to a storage with documents. In the background, while all nodes read and write:
 * 1. The columns and their trigger are added: from now on each write fills them, of nodes of the version before, too.
 * 2. Documents from before get their keys (`fillKeyColumns`). No statement reads the columns yet.
 * 3. The indexes over the columns are made, beside those over expressions.
 * 4. ready: in one transaction the catalogue names the columns and these indexes. All nodes know before the next step.
 * 5. The indexes over expressions are dropped.
 * A crash leaves a state that the next try continues from. Nothing begins while a live node is of a version without columns: it
 * would search without its indexes.
 */

import { setTimeout as wait } from 'node:timers/promises'
import type { KeyColumns } from '../sql/field-sql.ts'
import { addKeyColumns, fillSql, hasRoom, keyedFields } from './key-columns.ts'
import type { StorageEntry } from './postgres-catalogue.ts'
import type { PostgresPool } from './postgres-connection.ts'
import { changing } from './postgres-ensure.ts'
import { isLocked, isTableGone } from './postgres-errors.ts'
import { createIndex, dropOutdated, forgetOutdated, outdatedIndexes, planIndex } from './postgres-indexes.ts'
import type { PostgresParts } from './postgres-parts.ts'
import { numberOf, type PostgresConnection, type Row, textOf } from './rows.ts'

// Gives the documents of a full storage their keys, while others write. What is written meanwhile has them already.
// It walks the table by guid in small transactions, each of which locks its documents and records how far it came, which any node sees
// (`readPreparations` of text/fill-tokens.ts). It ends at
// the document that is the last one when it begins. A crash, or another node that does the same, does no harm.

/** Documents of a transaction. */
const PAGE = 500
const MOST_BYTES = 4_000_000
/** Waiting for another transaction ends before PostgreSQL looks for a deadlock, and so ends one of ours and no other. */
const LOCK_MS = 200
const AGAIN_MS = 50

/** false: it was told to stop before the end. */
async function fillKeyColumns(
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

/** Goes from one storage to the next while `goesOn`. false: one was busy, and is to be tried again soon. */
export async function moveToColumns(parts: PostgresParts, goesOn: () => boolean): Promise<boolean> {
  let isOver = true
  for (const entry of parts.catalogue.all()) {
    if (!isToMove(entry) || !goesOn()) continue
    const old = await parts.pool.rows(
      'SELECT FROM node WHERE lease_until > now() AND NOT key_columns LIMIT 1',
    )
    if (old.length > 0) return isOver
    try {
      await moveStorage(parts, entry, goesOn)
    } catch (error) {
      // Or another node has dropped it.
      if (!isLocked(error) && !isTableGone(error)) throw error
      if (isLocked(error)) isOver = false
    }
  }
  return isOver
}

export function isToMove(entry: StorageEntry): boolean {
  return hasRoom(entry.columns) && missingColumns(entry).length > 0
}

function missingColumns({ indexes, columns }: StorageEntry): string[] {
  return keyedFields(indexes.values()).filter((field) => !columns.has(field))
}

async function moveStorage(parts: PostgresParts, entry: StorageEntry, goesOn: () => boolean): Promise<void> {
  const { pool, catalogue } = parts
  const columns = await parts.withClusterLock('catalogue', () => addColumns(parts, entry))
  const unfilled = new Map([...columns].filter(([field]) => !entry.columns.has(field)))
  if (!(await fillKeyColumns(pool, entry, unfilled, goesOn))) return
  await parts.withClusterLock('catalogue', async () => {
    await catalogue.reload()
    const found = catalogue.find(entry.name)
    if (found?.id !== entry.id) return
    for (const index of found.indexes.values()) {
      const planned = planIndex({ ...found, columns }, index)
      if (!goesOn()) return
      if (planned && !found.indexes.has(planned.name))
        await createIndex(pool.lasting, found, planned, 'concurrently')
    }
    await pool.lasting.run(`ANALYZE ${found.table}`)
    const outdated = outdatedIndexes(found, columns)
    await changing(parts, async (transaction) => {
      await transaction.run(
        'UPDATE key_column SET ready = true WHERE storage = $1 AND field = ANY ($2::text[])',
        [found.id, [...columns.keys()]],
      )
      await forgetOutdated(transaction, found, outdated)
    })
    await dropOutdated(pool.lasting, found, outdated, 'concurrently')
  })
}

async function addColumns({ pool }: PostgresParts, entry: StorageEntry) {
  const transaction = pool.transaction()
  try {
    const columns = await addKeyColumns(transaction, entry, missingColumns(entry))
    await transaction.commit()
    const [row] = await pool.rows(`SELECT relkind = 'r' AS whole FROM pg_class WHERE oid = $1::regclass`, [
      entry.table,
    ])
    // A partitioned table has no pages of its own.
    if (row?.whole === true) await pool.lasting.run(`ALTER TABLE ${entry.table} SET (fillfactor = 85)`)
    return columns
  } catch (error) {
    await transaction.rollback()
    throw error
  }
}
