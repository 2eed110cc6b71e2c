/**
 * Columns of a document table that hold the keys of an indexed field: `kN` the key by which values are compared and sorted, `vN` the
 * number where the value is one, `tN` the quarter of an hour where it is an instant. A trigger writes them, whichever program writes the document: so a node of the version before
 * cannot leave a key behind that is not the document's. Once made, a column is kept up to date until the storage is dropped.
 *
 * An index over an expression of `doc` is read with the documents, and every update changes it. Indexes over columns are read
 * alone: groups of a million documents took 2.4 s, and 0.1 s so.
 */
import { type Index, readIndexed } from '../../document-index.ts'
import { fieldSql, jsonField, type KeyColumns } from '../sql/field-sql.ts'
import type { StorageEntry } from './postgres-catalogue.ts'
import { numberOf, type PostgresConnection, textOf } from './rows.ts'

type Table = Pick<StorageEntry, 'id' | 'table' | 'columns'>

/** A table has at most 1,600. Fields beyond keep indexes over expressions. */
const MOST_COLUMNS = 400
/** Adding a column waits for the transactions that use the table, and later ones wait behind it, no longer than this. */
const LOCK_MS = 1_000

/** The columns of a field, and what each holds of its JSON. */
const COLUMNS: readonly {
  readonly letter: string
  readonly type: string
  readonly of: (item: string, guid: string) => string
}[] = [
  { letter: 'k', type: 'text COLLATE "C"', of: (item, guid) => `quoin_column_key(${item}, ${guid})` },
  { letter: 'v', type: 'numeric', of: (item) => `quoin_column_number(${item})` },
  { letter: 't', type: 'integer', of: (item) => `quoin_column_quarter(${item})` },
]

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
  { id, table, columns: filled }: Table,
  fields: readonly string[],
): Promise<KeyColumns> {
  const known = await keyColumns(transaction, id)
  const missing = [...new Set(fields)]
    .filter((field) => !known.has(field))
    .slice(0, MOST_COLUMNS - known.size)
  const added = missing.map((field, at) => [field, known.size + at + 1] as const)
  const all = new Map([...known, ...added])
  // Those that are not filled may be of a version whose columns were fewer.
  if (all.size === filled.size) return all
  const columns = [...all.values()].flatMap((number) =>
    COLUMNS.map(({ letter, type }) => `ADD COLUMN IF NOT EXISTS ${letter}${number} ${type}`),
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
  { id, table }: Pick<Table, 'id' | 'table'>,
  columns: KeyColumns,
): Promise<void> {
  if (columns.size === 0) return
  await transaction.run(fillSql(table, columns, `ARRAY(SELECT guid FROM ${table})`))
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
  const steps = [...columns].flatMap(([field, number]) => [
    `item := NEW.${jsonField(field)};`,
    ...COLUMNS.map(({ letter, of }) => `NEW.${letter}${number} := ${of('item', 'NEW.guid')};`),
  ])
  const body = `DECLARE item json; BEGIN ${steps.join('\n')} RETURN NEW; END`
  // A field may be named like any quote with dollars.
  return `CREATE OR REPLACE FUNCTION ${table}_keys() RETURNS trigger LANGUAGE plpgsql AS '${body.replaceAll("'", "''")}'`
}

/**
 * Gives documents the keys that they lack. `guids`: an array of theirs in SQL. Each field is read once, and each key worked out once: with
 * an expression for each column and another one for what differs, a document of four keyed fields was parsed 24 times.
 */
export function fillSql(table: string, columns: KeyColumns, guids: string): string {
  const items = [...columns].map(([field, number]) => `${jsonField(field)} AS i${number}`)
  const all = [...columns.values()].flatMap((number) =>
    COLUMNS.map(({ letter, of }) => ({ column: `${letter}${number}`, value: of(`i${number}`, 'guid') })),
  )
  const list = (shown: (column: string, value: string) => string) =>
    all.map(({ column, value }) => shown(column, value)).join(', ')
  return `UPDATE ${table} AS stored SET ${list((column) => `${column} = found.${column}`)}
    FROM (SELECT guid, ${list((column, value) => `${value} AS ${column}`)}
      FROM (SELECT guid, ${items.join(', ')} FROM ${table} WHERE guid = ANY (${guids}) OFFSET 0) AS items OFFSET 0) AS found
    WHERE stored.guid = found.guid
      AND ROW(${list((column) => `stored.${column}`)}) IS DISTINCT FROM ROW(${list((column) => `found.${column}`)})`
}
