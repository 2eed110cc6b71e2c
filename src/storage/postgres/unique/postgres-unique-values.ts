/**
 * The rows of unique keys, as writes change them. A value that another transaction has written and not committed is waited
 * for. What is refused leaves the transaction as it was, without a savepoint.
 */
import { QuoinError } from '../../../shared/errors.ts'
import {
  type ActiveUniqueKey,
  keyTable,
  type UniqueValue,
  type ValueChange,
} from '../../unique/active-unique-key.ts'
import { UniqueConflict } from '../../unique/duplicates.ts'
import { type PostgresConnection, textOf } from '../core/rows.ts'

export function keyTableSql(key: Pick<ActiveUniqueKey, 'id'>): string {
  const table = keyTable(key)
  return `
    CREATE TABLE ${table} (
      value text COLLATE "C", slot text COLLATE "C", guid text COLLATE "C" NOT NULL, PRIMARY KEY (value, slot));
    CREATE INDEX ${table}_again ON ${table} (slot) WHERE slot <> ''`
}

/** The document that has the value. */
export async function holderOf(
  connection: PostgresConnection,
  { key, value }: UniqueValue,
): Promise<string | undefined> {
  const [row] = await connection.rows(`SELECT guid FROM ${keyTable(key)} WHERE value = $1 AND slot = ''`, [
    value,
  ])
  return row && textOf(row, 'guid')
}

/** A document and its value of one key. */
export interface Holding {
  readonly guid: string
  readonly value: string
}

/**
 * Gives the guids of those whose value another document has. In the order of values, so that two imports do not meet
 * crosswise.
 */
export async function takeValues(
  connection: PostgresConnection,
  key: ActiveUniqueKey,
  holdings: readonly Holding[],
): Promise<ReadonlySet<string>> {
  const table = keyTable(key)
  const columns = [holdings.map(({ value }) => value), holdings.map(({ guid }) => guid)]
  const rows = await connection.rows(
    `INSERT INTO ${table} (value, slot, guid)
    SELECT value, '', guid FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS new (value, guid, place)
    ORDER BY value, place ON CONFLICT DO NOTHING RETURNING guid`,
    columns,
  )
  if (rows.length === holdings.length) return new Set()
  if (key.isReady) {
    const left = new Set(holdings.map(({ guid }) => guid))
    for (const row of rows) left.delete(textOf(row, 'guid'))
    return left
  }
  // The document may have its row already: of the one that fills the table, or of a write.
  await connection.run(
    `INSERT INTO ${table} (value, slot, guid)
    SELECT value, guid, guid FROM unnest($1::text[], $2::text[]) AS new (value, guid)
    WHERE NOT EXISTS (
      SELECT 1 FROM ${table} AS own WHERE own.value = new.value AND own.slot = '' AND own.guid = new.guid)
    ORDER BY value ON CONFLICT DO NOTHING`,
    columns,
  )
  return new Set()
}

export async function freeValues(
  connection: PostgresConnection,
  guid: string,
  values: readonly UniqueValue[],
): Promise<void> {
  for (const { key, value } of values)
    await connection.run(`DELETE FROM ${keyTable(key)} WHERE value = $1 AND guid = $2`, [value, guid])
}

interface Holder {
  readonly connection: PostgresConnection
  readonly entry: { readonly name: string }
}

/** Changes the values of a document around its write. Throws UniqueConflict, and then, as when the write is refused, nothing is changed. */
export async function withValues<T>(
  { connection, entry }: Holder,
  guid: string,
  { added, freed }: ValueChange,
  write: () => Promise<T>,
): Promise<T> {
  const taken: UniqueValue[] = []
  try {
    for (const one of added) {
      const refused = await takeValues(connection, one.key, [{ guid, value: one.value }])
      if (refused.size > 0) throw new UniqueConflict(entry.name, one.key.definition)
      taken.push(one)
    }
    const result = await write()
    await freeValues(connection, guid, freed)
    return result
  } catch (error) {
    if (error instanceof QuoinError && error.code === 'CONFLICT') await freeValues(connection, guid, taken)
    throw error
  }
}
