/**
 * Makes a key unique over documents that are there, while all nodes write:
 * 1. An empty table, announced. From now on each write adds its values, and refuses nothing. Nodes say that they know when
 *    those of their writes that began before have sent their statements; transactions of such writes are waited for.
 * 2. The values of all documents are added, in small transactions that keep their documents from changing.
 * 3. If no value is there twice, the key is announced as ready, in place of a former one of its name: from now on writes
 *    are refused. Those that began before are waited for as in 1, and the table is looked at once more.
 * Where a value is there twice, the table is dropped, and all is as it was.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { QuoinError } from '../../../shared/errors.ts'
import type { UniqueValues } from '../../capabilities.ts'
import { parseBody, splitDocument } from '../../document-session.ts'
import { type ActiveUniqueKey, keysBesides, keyTable, uniqueValues } from '../../unique/active-unique-key.ts'
import { type Duplicates, MOST_DUPLICATES } from '../../unique/duplicates.ts'
import type { UniqueKey } from '../../unique/unique-key.ts'
import type { StorageEntry } from '../core/postgres-catalogue.ts'
import type { PostgresPool } from '../core/postgres-connection.ts'
import { changing } from '../core/postgres-ensure.ts'
import type { PostgresParts } from '../core/postgres-parts.ts'
import type { PostgresTransaction } from '../core/postgres-transaction.ts'
import { numberOf, type PostgresConnection, type Row, textOf } from '../core/rows.ts'
import { nodesWithoutUniqueKeys } from '../nodes/node-rows.ts'
import { keyTableSql, takeValues } from './postgres-unique-values.ts'

// The documents that had the value of another one when their values were added: some of those others are gone by now.

/** Rows of a statement. */
const STEP = 500
/** While others write, the one that a document collides with can go between two looks. */
const MOST_LOOKS = 10

/** Gives the slot of each to its document where it is free; undefined when that leaves none. */
async function settleDuplicates(pool: PostgresPool, key: ActiveUniqueKey): Promise<Duplicates | undefined> {
  const table = keyTable(key)
  for (let look = 0; ; look++) {
    for (let behind: string | undefined = ''; behind !== undefined; )
      behind = await settle(pool, table, behind)
    const duplicates = await duplicatesOf(pool, table)
    if (duplicates.total === 0) return undefined
    if (duplicates.documents.length > 0 || look >= MOST_LOOKS) return duplicates
  }
}

/** Gives where the next statement begins; undefined when this was the last. */
async function settle(pool: PostgresPool, table: string, behind: string): Promise<string | undefined> {
  const rows = await pool.rows(
    `WITH again AS (
        SELECT value, slot FROM ${table} WHERE slot <> '' AND slot > $1 ORDER BY slot LIMIT ${STEP}),
      free AS (
        SELECT DISTINCT ON (value) value, slot FROM again
        WHERE NOT EXISTS (SELECT 1 FROM ${table} AS first WHERE first.value = again.value AND first.slot = '')
        ORDER BY value, slot),
      moved AS (
        INSERT INTO ${table} (value, slot, guid) SELECT value, '', slot FROM free ON CONFLICT DO NOTHING
        RETURNING value, guid),
      gone AS (
        DELETE FROM ${table} AS old USING moved WHERE old.value = moved.value AND old.slot = moved.guid)
    SELECT slot FROM again ORDER BY slot`,
    [behind],
  )
  const last = rows.at(-1)
  return last && rows.length === STEP ? textOf(last, 'slot') : undefined
}

async function duplicatesOf(pool: PostgresPool, table: string): Promise<Duplicates> {
  const [counted] = await pool.rows(`SELECT count(*) AS n FROM ${table} WHERE slot <> ''`)
  const rows = await pool.rows(
    `SELECT again.guid, first.guid AS same_as FROM ${table} AS again
    JOIN ${table} AS first ON first.value = again.value AND first.slot = ''
    WHERE again.slot <> '' ORDER BY again.slot LIMIT ${MOST_DUPLICATES}`,
  )
  return {
    total: numberOf(counted ?? {}, 'n'),
    documents: rows.map((row) => ({ guid: textOf(row, 'guid'), same_as: textOf(row, 'same_as') })),
  }
}

/** Between two looks at the transactions of others. */
const LOOK_MS = 20
/** How long the transactions of others may last. */
const MOST_MS = 60_000

/** Gives what keeps the key from being kept; undefined when it is. */
export async function makeUnique(
  parts: PostgresParts,
  storage: string,
  definition: UniqueKey,
): Promise<Duplicates | undefined> {
  await refuseFormerNodes(parts)
  const entry = await parts.catalogue.entry(storage)
  const former = entry.unique.filter((key) => key.definition.name === definition.name)
  const id = await begin(parts, entry, definition)
  const key: ActiveUniqueKey = { id, definition, isReady: false }
  let duplicates: Duplicates | undefined
  try {
    await fillKey(parts.pool, entry, key)
    duplicates = await settleDuplicates(parts.pool, key)
    if (duplicates === undefined) {
      await announced(parts, entry, (transaction) =>
        transaction.run('UPDATE unique_key SET ready = true WHERE id = $1', [id]),
      )
      duplicates = await settleDuplicates(parts.pool, key)
    }
  } catch (error) {
    await dropKey(parts, key).catch(() => undefined)
    throw error
  }
  for (const one of duplicates ? [key] : former) await dropKey(parts, one)
  return duplicates
}

export async function dropKey(parts: PostgresParts, key: ActiveUniqueKey): Promise<void> {
  // First no node may write to the table, then it goes.
  await parts.withClusterLock('catalogue', () =>
    changing(parts, (transaction) => transaction.run('DELETE FROM unique_key WHERE id = $1', [key.id])),
  )
  await parts.writes.settled()
  await parts.pool.lasting.run(`DROP TABLE IF EXISTS ${keyTable(key)}`)
}

async function begin(parts: PostgresParts, entry: StorageEntry, definition: UniqueKey): Promise<number> {
  return announced(parts, entry, async (transaction) => {
    const [row] = await transaction.rows(
      'INSERT INTO unique_key (storage, definition) VALUES ($1, $2::json) RETURNING id',
      [entry.id, JSON.stringify(definition)],
    )
    const id = numberOf(row ?? {}, 'id')
    await transaction.script(keyTableSql({ id }))
    return id
  })
}

/** A change of the catalogue that every write to the storage knows of which is not committed when this resolves. */
async function announced<T>(
  parts: PostgresParts,
  entry: StorageEntry,
  work: (transaction: PostgresTransaction) => Promise<T>,
): Promise<T> {
  const result = await parts.withClusterLock('catalogue', () => changing(parts, work))
  await parts.writes.settled()
  await awaitWriters(parts, entry)
  return result
}

/** Waits for the transactions that have written to the storage, or have a document of it locked. */
async function awaitWriters({ pool }: PostgresParts, { table }: StorageEntry): Promise<void> {
  const writers = async () => {
    const rows = await pool.reading.rows(
      `SELECT DISTINCT virtualtransaction AS writer FROM pg_locks
      WHERE locktype = 'relation' AND relation = to_regclass($1)::oid AND mode IN ('RowShareLock', 'RowExclusiveLock')
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [table],
    )
    return rows.map((row) => String(row.writer))
  }
  const end = performance.now() + MOST_MS
  let left = await writers()
  while (left.length > 0) {
    if (performance.now() > end)
      throw new QuoinError(
        'UNAVAILABLE',
        'Another transaction has written to the storage and does not end. Nothing was changed. Try again.',
      )
    await wait(LOOK_MS)
    const now = new Set(await writers())
    left = left.filter((writer) => now.has(writer))
  }
}

async function refuseFormerNodes({ pool }: PostgresParts): Promise<void> {
  const names = await nodesWithoutUniqueKeys(pool)
  if (names.length === 0) return
  throw new QuoinError(
    'CONFLICT',
    `Unique fields need the same version on all nodes. Bring ${names.join(', ')} up to date first.`,
  )
}

/** `during`: the database is not closed before such work is over. */
export function postgresUniqueKeys(
  parts: PostgresParts,
  during: <T>(work: () => Promise<T>) => Promise<T>,
): UniqueValues {
  const { catalogue } = parts
  const keysOf = (storage: string) => catalogue.find(storage)?.unique ?? []
  return {
    of: (storage) => keysOf(storage).flatMap(({ isReady, definition }) => (isReady ? [definition] : [])),
    unfinished: (storage) =>
      keysOf(storage).flatMap(({ isReady, definition }) => (isReady ? [] : [definition.name])),
    keep: (storage, key) => during(() => makeUnique(parts, storage, key)),
    dropOthers: (storage, keys) =>
      during(async () => {
        await catalogue.reload()
        for (const key of keysBesides(keysOf(storage), keys)) await dropKey(parts, key)
      }),
  }
}

// Adds the values of the documents that a storage held before its writers added them. It walks the table by guid, in small
// transactions that keep their documents from changing until their values are there. It ends at the document that is the last
// one when it begins: those behind it have their values from their writers, who could make more of them than it walks past.

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
