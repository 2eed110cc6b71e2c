/**
 * Columns of a document table that hold the keys of an indexed field: `kN` the key by which values are compared and sorted, `vN` the
 * number where the value is one. A trigger writes them, whichever program writes the document: so a node of the version before
 * cannot leave a key behind that is not the document's. Once made, a column is kept up to date until the storage is dropped.
 *
 * An index over an expression of `doc` is read with the documents, and every update changes it. Indexes over columns are read
 * alone: groups of a million documents took 2.4 s, and 0.1 s so.
 */
import { type Index, readIndexed } from '../../document-index.ts'
import { fieldSql, jsonField, type KeyColumns } from '../sql/field-sql.ts'
import { numberOf, type PostgresConnection, textOf } from './rows.ts'
import type { StorageEntry } from './storage-entry.ts'

type Table = Pick<StorageEntry, 'id' | 'table'>

/** A table has at most 1,600. Fields beyond keep indexes over expressions. */
const MOST_COLUMNS = 400
/** Adding a column waits for the transactions that use the table, and later ones wait behind it, no longer than this. */
const LOCK_MS = 1_000

/** The fields of the indexes that have, or should have, columns. */
export function keyedFields(indexes: Iterable<Index>): string[] {
  const fields = [...indexes].flatMap((index) => index.fields.map((indexed) => readIndexed(indexed).field))
  return [...new Set(fields)].filter((field) => fieldSql(field).kind === 'json')
}

/**
 * Adds what is missing of the fields' columns, in a transaction that locks the table for its rest: no document is written without them
 * any more. Gives all columns of the storage.
 */
export async function addKeyColumns(
  transaction: PostgresConnection & { script(sql: string): Promise<unknown> },
  { id, table }: Table,
  fields: readonly string[],
): Promise<KeyColumns> {
  const known = await keyColumns(transaction, id)
  const missing = [...new Set(fields)]
    .filter((field) => !known.has(field))
    .slice(0, MOST_COLUMNS - known.size)
  if (missing.length === 0) return known
  const added = missing.map((field, at) => [field, known.size + at + 1] as const)
  const all = new Map([...known, ...added])
  const columns = added.map(
    ([, number]) => `ADD COLUMN k${number} text COLLATE "C", ADD COLUMN v${number} numeric`,
  )
  const trigger = known.size > 0 ? '' : `;\n${triggerSql(table)}`
  await transaction.script(`SET LOCAL lock_timeout = ${LOCK_MS};
    ALTER TABLE ${table} ${columns.join(', ')};
    SET LOCAL lock_timeout = DEFAULT;
    ${functionSql(table, all)}${trigger}`)
  await transaction.run(
    'INSERT INTO key_column (storage, field, number) SELECT $1, * FROM unnest($2::text[], $3::integer[])',
    [id, missing, added.map(([, number]) => number)],
  )
  return all
}

/** Whether more fields can have columns. */
export function hasRoom(columns: KeyColumns): boolean {
  return columns.size < MOST_COLUMNS
}

/** Gives all documents their keys, of few documents and in the transaction that has added the columns. */
export async function fillAtOnce(
  transaction: PostgresConnection,
  { id, table }: Table,
  columns: KeyColumns,
): Promise<void> {
  if (columns.size === 0) return
  await transaction.run(`UPDATE ${table} SET ${assignments(columns)}`)
  await transaction.run('UPDATE key_column SET ready = true WHERE storage = $1', [id])
}

/** Those that are there, filled or not. */
async function keyColumns(connection: PostgresConnection, id: number): Promise<KeyColumns> {
  const rows = await connection.rows('SELECT field, number FROM key_column WHERE storage = $1', [id])
  return new Map(rows.map((row) => [textOf(row, 'field'), numberOf(row, 'number')]))
}

/** What a table's own function is dropped by, once the table is. */
export function dropKeysSql(table: string): string {
  return `DROP FUNCTION IF EXISTS ${table}_keys()`
}

function triggerSql(table: string): string {
  return `CREATE TRIGGER ${table}_keys BEFORE INSERT OR UPDATE OF doc ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_keys()`
}

function functionSql(table: string, columns: KeyColumns): string {
  const steps = [...columns].map(
    ([field, number]) => `item := NEW.${jsonField(field)};
    NEW.k${number} := quoin_column_key(item, NEW.guid);
    NEW.v${number} := quoin_column_number(item);`,
  )
  const body = `DECLARE item json; BEGIN ${steps.join('\n')} RETURN NEW; END`
  // A field may be named like any quote with dollars.
  return `CREATE OR REPLACE FUNCTION ${table}_keys() RETURNS trigger LANGUAGE plpgsql AS '${body.replaceAll("'", "''")}'`
}

/** Of an UPDATE. */
export function assignments(columns: KeyColumns): string {
  return valuesOf(columns)
    .map(({ column, value }) => `${column} = ${value}`)
    .join(', ')
}

/** Whether a document lacks its keys. */
export function differs(columns: KeyColumns): string {
  const all = valuesOf(columns)
  const row = (parts: readonly string[]) => `ROW(${parts.join(', ')})`
  return `${row(all.map(({ column }) => column))} IS DISTINCT FROM ${row(all.map(({ value }) => value))}`
}

function valuesOf(columns: KeyColumns): { readonly column: string; readonly value: string }[] {
  return [...columns].flatMap(([field, number]) => {
    const json = jsonField(field)
    return [
      { column: `k${number}`, value: `quoin_column_key(${json}, guid)` },
      { column: `v${number}`, value: `quoin_column_number(${json})` },
    ]
  })
}
