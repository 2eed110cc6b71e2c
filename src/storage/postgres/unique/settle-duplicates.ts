/** The documents that had the value of another one when their values were added: some of those others are gone by now. */
import { type Duplicates, MOST_DUPLICATES } from '../../unique/duplicates.ts'
import { type KeptKey, keyTable } from '../../unique/kept-key.ts'
import type { PostgresPool } from '../core/postgres-connection.ts'
import { numberOf, textOf } from '../core/rows.ts'

/** Rows of a statement. */
const STEP = 500
/** While others write, the one that a document collides with can go between two looks. */
const MOST_LOOKS = 10

/** Gives the slot of each to its document where it is free; undefined when that leaves none. */
export async function settleDuplicates(pool: PostgresPool, key: KeptKey): Promise<Duplicates | undefined> {
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
