/** Rows of PostgreSQL as they are stored: writing many with one statement, and reading what they are checked by. */
import type { JsonObject } from '../../shared/json.ts'
import { parseBody, splitDocument } from '../document-session.ts'
import { textOfDocument } from '../postgres/core/document-row.ts'
import type { PostgresConnection, Row } from '../postgres/core/rows.ts'
import {
  type CopiedColumn,
  type CopiedRow,
  type CopiedTable,
  documentTokens,
  type Key,
} from './copied-tables.ts'

/** Rows whose checksums are asked for at once: PostgreSQL has a minute for it, also when each is 16 MiB. */
const PAGE = 200

export interface PostgresRows {
  /** The table's name. */
  readonly name: string
  readonly table: CopiedTable
  /** Whether it is one of documents that get the tokens of free text. */
  readonly tokens: boolean
}

/** Writes rows, over those that are there with the same keys. */
export async function writeRows(
  connection: PostgresConnection,
  { name, table, tokens }: PostgresRows,
  rows: readonly CopiedRow[],
): Promise<void> {
  const { columns } = table
  const written = tokens ? rows.map((row) => [...row, ...tokensOf(columns, row)]) : rows
  const all = [...columns.map(({ name }) => name), ...(tokens ? documentTokens : [])]
  const arrays = [...columns.map(arrayType), ...(tokens ? ['tsvector[]', 'integer[]'] : [])]
  const selected = all.map((column, place) => `new.${column}${castOf(columns[place])}`)
  const [key, ...others] = all
  await connection.run(
    `INSERT INTO ${name} (${all.join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT ${selected.join(', ')} FROM unnest(${arrays.map((type, at) => `$${at + 1}::${type}`).join(', ')}) AS new (${all.join(', ')})
    ON CONFLICT (${key}) DO UPDATE SET ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    all.map((_, place) => written.map((row) => row[place] ?? null)),
  )
}

/** Deletes what is behind the key `after` (from the beginning if not given) up to `last` (to the end), but for `kept`. */
export async function deleteOthers(
  connection: PostgresConnection,
  { name, table }: PostgresRows,
  after: Key | undefined,
  last: Key | undefined,
  keys: readonly Key[],
): Promise<number> {
  const { key, type } = keyOf(table)
  return connection.run(
    `DELETE FROM ${name} WHERE ($1::${type} IS NULL OR ${key} > $1) AND ($2::${type} IS NULL OR ${key} <= $2)
      AND ${key} <> ALL ($3::${type}[])`,
    [after ?? null, last ?? null, keys],
  )
}

/** The digests of those rows with these keys that are there (see copy-rows.ts), by key. */
export async function digestsOf(
  connection: PostgresConnection,
  { name, table }: PostgresRows,
  keys: readonly Key[],
): Promise<ReadonlyMap<Key, string>> {
  const { key, type } = keyOf(table)
  const found = new Map<Key, string>()
  for (let start = 0; start < keys.length; start += PAGE) {
    const rows = await connection.rows(
      `SELECT ${digestColumns(table)} FROM ${name} WHERE ${key} = ANY ($1::${type}[])`,
      [keys.slice(start, start + PAGE)],
    )
    for (const row of rows) found.set(keyIn(row, key), digestOf(table, row))
  }
  return found
}

/** All digests in the order of keys, in pages. */
export async function* digestPages(
  connection: PostgresConnection,
  { name, table }: Pick<PostgresRows, 'name' | 'table'>,
): AsyncGenerator<readonly string[]> {
  const { key, type } = keyOf(table)
  let after: Key | null = null
  for (;;) {
    const rows: readonly Row[] = await connection.rows(
      `SELECT ${digestColumns(table)} FROM ${name} WHERE $1::${type} IS NULL OR ${key} > $1 ORDER BY ${key} LIMIT ${PAGE}`,
      [after],
    )
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map((row) => digestOf(table, row))
    after = keyIn(last, key)
  }
}

/** PostgreSQL makes the checksums of what is large: it is not sent, and it is what lies there that is read. */
function digestColumns({ columns }: CopiedTable): string {
  return columns
    .map(({ name, type, large }) => {
      if (large) return `encode(sha256(convert_to(${name}::text, 'UTF8')), 'hex') AS ${name}`
      return type === 'boolean' ? `${name}::integer AS ${name}` : name
    })
    .join(', ')
}

function digestOf({ columns }: CopiedTable, row: Row): string {
  return JSON.stringify(columns.map(({ name }) => row[name] ?? null))
}

function keyOf({ columns }: CopiedTable): { key: string; type: string } {
  const [column] = columns
  return { key: column?.name ?? '', type: column?.type === 'integer' ? 'bigint' : 'text' }
}

function keyIn(row: Row, key: string): Key {
  const value = row[key]
  if (typeof value === 'string' || typeof value === 'number') return value
  throw new TypeError(`The column ${key} is no key.`)
}

function arrayType({ type }: CopiedColumn): string {
  return { text: 'text[]', json: 'text[]', integer: 'bigint[]', boolean: 'integer[]' }[type]
}

function castOf(column: CopiedColumn | undefined): string {
  return column?.type === 'json' || column?.type === 'boolean' ? `::${column.type}` : ''
}

function tokensOf(columns: readonly CopiedColumn[], row: CopiedRow): [string, number] {
  const { tokens, count } = textOfDocument(bodyOf(row[columns.findIndex(({ type }) => type === 'json')]))
  return [tokens, count]
}

function bodyOf(doc: unknown): JsonObject {
  return parseBody(splitDocument(String(doc)).body)
}
