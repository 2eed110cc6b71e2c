/**
 * Moves the indexes of a storage from expressions of `doc` to key columns: those of a database of a version before, and those that came
 * to a storage with documents. In the background, while all nodes read and write:
 * 1. The columns and their trigger are added: from now on each write fills them, of nodes of the version before, too.
 * 2. Documents from before get their keys (`fill-key-columns.ts`). No statement reads the columns yet.
 * 3. The indexes over the columns are made, beside those over expressions.
 * 4. ready: in one transaction the catalogue names the columns and these indexes. All nodes know before the next step.
 * 5. The indexes over expressions are dropped.
 * A crash leaves a state that the next try continues from. Nothing begins while a live node is of a version without columns: it
 * would search without its indexes.
 */
import { fillKeyColumns } from './fill-key-columns.ts'
import { addKeyColumns, hasRoom, keyedFields } from './key-columns.ts'
import { changing } from './postgres-ensure.ts'
import { isLocked, isTableGone } from './postgres-errors.ts'
import { createIndex, dropOutdated, forgetOutdated, outdatedIndexes, planIndex } from './postgres-indexes.ts'
import type { PostgresParts } from './postgres-parts.ts'
import type { StorageEntry } from './storage-entry.ts'

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
  const columns = await parts.alone('catalogue', () => addColumns(parts, entry))
  const unfilled = new Map([...columns].filter(([field]) => !entry.columns.has(field)))
  if (!(await fillKeyColumns(pool, entry, unfilled, goesOn))) return
  await parts.alone('catalogue', async () => {
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
    await dropOutdated(pool.lasting, outdated, 'concurrently')
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
