/**
 * Adds the values of the documents that a storage held before its writers added them. It walks the table by guid, in small
 * transactions that keep their documents from changing until their values are there. It ends at the document that is the last
 * one when it begins: those behind it have their values from their writers, who could make more of them than it walks past.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { QuoinError } from '../../../shared/errors.ts'
import { parseBody, splitDocument } from '../../document-text.ts'
import { type ActiveUniqueKey, uniqueValues } from '../../unique/active-unique-key.ts'
import type { PostgresPool } from '../core/postgres-connection.ts'
import { numberOf, type PostgresConnection, type Row, textOf } from '../core/rows.ts'
import type { StorageEntry } from '../core/storage-entry.ts'
import { takeValues } from './postgres-unique-values.ts'

/** Documents of a transaction. */
const PAGE = 500
const MOST_BYTES = 1_000_000
/** Waiting for another transaction ends before PostgreSQL looks for a deadlock, and so ends one of ours and no other. */
const LOCK_MS = 200
const AGAIN_MS = 50
const MOST_TRIES = 600

export async function fillKey(pool: PostgresPool, entry: StorageEntry, key: ActiveUniqueKey): Promise<void> {
  const [end] = await pool.reading.rows(`SELECT max(guid) AS guid FROM ${entry.table}`)
  if (typeof end?.guid !== 'string') return
  const until = end.guid
  let behind: string | undefined = ''
  while (behind !== undefined) {
    const from: string = behind
    behind = await untilFree(() =>
      inTransaction(pool, (connection) => fillPage(connection, entry, key, { from, until })),
    )
  }
}

/** Gives the guid of the last document; undefined when there was none. */
async function fillPage(
  connection: PostgresConnection,
  { table }: StorageEntry,
  key: ActiveUniqueKey,
  { from, until }: { readonly from: string; readonly until: string },
): Promise<string | undefined> {
  // The size of what is stored out of line is known without reading it.
  const places = await connection.rows(
    `SELECT guid, pg_column_size(doc) AS bytes FROM ${table} WHERE guid > $1 AND guid <= $2 ORDER BY guid LIMIT ${PAGE}`,
    [from, until],
  )
  const last = lastOf(places)
  if (last === undefined) return undefined
  const rows = await connection.rows(
    `SELECT guid, doc FROM ${table} WHERE guid > $1 AND guid <= $2 AND removed = 0 ORDER BY guid FOR SHARE`,
    [from, last],
  )
  const holdings = rows.flatMap((row) => {
    const document = parseBody(splitDocument(textOf(row, 'doc')).body)
    return uniqueValues([key], document).map(({ value }) => ({ guid: textOf(row, 'guid'), value }))
  })
  if (holdings.length > 0) await takeValues(connection, key, holdings)
  return last
}

function lastOf(places: readonly Row[]): string | undefined {
  let last: string | undefined
  let bytes = 0
  for (const place of places) {
    bytes += numberOf(place, 'bytes')
    if (last !== undefined && bytes > MOST_BYTES) break
    last = textOf(place, 'guid')
  }
  return last
}

async function inTransaction<T>(
  pool: PostgresPool,
  work: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  const transaction = pool.transaction()
  try {
    await transaction.script(`SET LOCAL enable_seqscan = off; SET LOCAL lock_timeout = ${LOCK_MS}`)
    const result = await work(transaction)
    await transaction.commit()
    return result
  } catch (error) {
    await transaction.rollback()
    throw error
  }
}

/** Again while another transaction has one of the documents or values. */
async function untilFree<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof QuoinError) || error.code !== 'UNAVAILABLE' || tries >= MOST_TRIES) throw error
      await wait(AGAIN_MS)
    }
  }
}
