/**
 * Makes a storage and what searches need of it, one node at a time. Whatever changes is announced to all nodes before the
 * next step, so that a step can count on what every writer does.
 *
 * Free text comes to a storage in four steps, while others write:
 * 1. wanted: from now on each write fills the tokens of its document. All nodes know.
 * 2. The index over the tokens is made. CREATE INDEX CONCURRENTLY also waits for those who began to write before 1.
 * 3. Documents that have no tokens yet get theirs (fill-tokens.ts).
 * 4. ready: searches use the index.
 */
import type { Needs } from '../../document-index.ts'
import { keyTable } from '../../unique/active-unique-key.ts'
import { Unconfirmed } from '../../unit-of-work.ts'
import { forgetCounters } from '../numbers/counters.ts'
import { fillTokens } from '../text/fill-tokens.ts'
import { forgetTotalsSql, textIndex, textTriggerSql } from './document-row.ts'
import { addKeyColumns, dropKeysSql, fillAtOnce, keyedFields } from './key-columns.ts'
import { documentTable, documentTableSql, type StorageEntry } from './postgres-catalogue.ts'
import { isLocked } from './postgres-errors.ts'
import {
  createIndex,
  dropOutdated,
  forgetOutdated,
  make,
  outdatedIndexes,
  type PlannedIndex,
  planIndex,
  type StorageParts,
} from './postgres-indexes.ts'
import { CATALOGUE, type PostgresParts } from './postgres-parts.ts'
import type { PostgresTransaction } from './postgres-transaction.ts'
import { numberOf, type PostgresConnection } from './rows.ts'

/** Whether there is nothing to do, as far as this node knows. */
export function isEnsured(entry: StorageEntry | undefined, needs: Needs): boolean {
  if (entry === undefined || (needs.text && !entry.textReady)) return false
  return missingIndexes(entry, needs).length === 0
}

/** Only within `parts.alone`. */
export async function ensureStorage(parts: PostgresParts, name: string, needs: Needs): Promise<void> {
  await parts.catalogue.reload()
  if (parts.catalogue.find(name) === undefined) {
    await changing(parts, (transaction) => createStorage(transaction, name, needs))
    return
  }
  const entry = await parts.catalogue.entry(name)
  if (missingIndexes(entry, needs).length > 0) await addIndexes(parts, entry, needs)
  if (needs.text && !entry.textReady) await addText(parts, entry)
}

/** Only within `parts.alone`. */
export async function dropStorage(parts: PostgresParts, name: string): Promise<void> {
  await parts.catalogue.reload()
  const entry = parts.catalogue.find(name)
  if (entry === undefined) return
  await changing(parts, async (transaction) => {
    await transaction.run('DELETE FROM storage WHERE id = $1', [entry.id])
    await transaction.run(forgetTotalsSql, [entry.id])
    await forgetCounters(transaction, name)
    const keys = entry.unique.map((key) => `; DROP TABLE ${keyTable(key)}`).join('')
    await transaction.script(`DROP TABLE ${entry.table}${keys}; ${dropKeysSql(entry.table)}`)
  })
}

/** A transaction that changes the catalogue. When this resolves every node has read it again. */
export async function changing<T>(
  parts: PostgresParts,
  work: (transaction: PostgresTransaction) => Promise<T>,
): Promise<T> {
  const { pool, cluster, catalogue } = parts
  const transaction = pool.transaction()
  let result: T
  const documents = new Map([[CATALOGUE, []]])
  let change: number | undefined
  try {
    result = await work(transaction)
    change = await cluster.publishChange(transaction, Object.fromEntries(documents))
    await transaction.commit()
  } catch (error) {
    if (change !== undefined && error instanceof Unconfirmed) cluster.follow(change, documents)
    await transaction.rollback()
    throw error
  }
  try {
    await catalogue.reload()
    await cluster.acknowledged(change)
  } catch (error) {
    cluster.follow(change, documents)
    throw error
  }
  return result
}

function missingIndexes(entry: StorageParts, needs: Needs): PlannedIndex[] {
  const missing = new Map<string, PlannedIndex>()
  for (const index of needs.indexes ?? []) {
    const planned = planIndex(entry, index)
    if (planned && !entry.indexes.has(planned.name)) missing.set(planned.name, planned)
  }
  return [...missing.values()]
}

async function createStorage(transaction: PostgresTransaction, name: string, needs: Needs): Promise<void> {
  const [row] = await transaction.rows('INSERT INTO storage (name, text) VALUES ($1, $2) RETURNING id', [
    name,
    needs.text ? 2 : 0,
  ])
  const id = numberOf(row ?? {}, 'id')
  const entry = { id, name, table: documentTable(id), indexes: new Map(), columns: new Map() }
  await transaction.script(documentTableSql(id))
  await makeIndexes(transaction, entry, needs)
  if (!needs.text) return
  await transaction.script(textTriggerSql(entry))
  await transaction.script(textIndex(entry).sql)
}

/** Indexes over key columns, of a table that has no documents. Those that it has move to columns, too. */
async function makeIndexes(
  transaction: PostgresTransaction,
  entry: StorageParts,
  needs: Needs,
): Promise<void> {
  // Names of fields are refused here, before any of them is in SQL.
  if (missingIndexes(entry, needs).length === 0) return
  const indexes = [...entry.indexes.values(), ...(needs.indexes ?? [])]
  const columns = await addKeyColumns(transaction, entry, keyedFields(indexes))
  // For a document that came meanwhile.
  await fillAtOnce(transaction, entry, columns)
  for (const planned of missingIndexes({ ...entry, columns }, { indexes }))
    await createIndex(transaction, entry, planned, 'in transaction')
  const outdated = outdatedIndexes(entry, columns)
  await forgetOutdated(transaction, entry, outdated)
  await dropOutdated(transaction, entry, outdated, 'in transaction')
}

async function addIndexes(parts: PostgresParts, entry: StorageEntry, needs: Needs): Promise<void> {
  if (await isEmpty(parts.pool, entry)) {
    try {
      await changing(parts, (transaction) => makeIndexes(transaction, entry, needs))
      return
    } catch (error) {
      // Of the table, for its columns.
      if (!isLocked(error)) throw error
    }
  }
  for (const planned of missingIndexes(entry, needs))
    await createIndex(parts.pool.lasting, entry, planned, 'concurrently')
  await changing(parts, async () => undefined)
}

async function addText(parts: PostgresParts, entry: StorageEntry): Promise<void> {
  if (!entry.needsText)
    await changing(parts, async (transaction) => {
      await transaction.script(textTriggerSql(entry))
      await transaction.run('UPDATE storage SET text = 1 WHERE id = $1', [entry.id])
    })
  const { name, sql } = textIndex(entry)
  await make(parts.pool.lasting, name, sql, 'concurrently')
  await fillTokens(parts.pool, entry)
  await changing(parts, (transaction) =>
    transaction.run('UPDATE storage SET text = 2 WHERE id = $1', [entry.id]),
  )
}

async function isEmpty(connection: PostgresConnection, { table }: StorageEntry): Promise<boolean> {
  return (await connection.rows(`SELECT 1 FROM ${table} LIMIT 1`)).length === 0
}
