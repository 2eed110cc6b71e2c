/** A schema of PostgreSQL as a source: all of it is read in one snapshot, so that rows that change meanwhile do not tear it. */
import { Readable } from 'node:stream'
import { Client } from 'pg'
import type { JsonValue } from '../../../shared/json.ts'
import { UsageError } from '../../read-words.ts'
import { distinctNames, shownName, storageNameFor } from '../fitting-names.ts'
import type { RowFile, RowProblem, Source, SourceRow, SourceTable } from '../source.ts'
import { type CatalogTable, readCatalog } from './catalog.ts'
import { bytesOf, identifier } from './column-types.ts'
import { type PlannedTable, plannedTable } from './planned-table.ts'

export interface PostgresReading {
  readonly schema: string
  readonly timeZone: string
  /** `storage.field` → type: only `string`, for what is to stay as it is written. */
  readonly types: Readonly<Record<string, string>>
}

const CONNECT_MS = 10_000
/** Rows of one answer, and characters that it aims at. */
const MOST_ROWS = 1_000
const FIRST_ROWS = 20
const CHARACTERS = 1_000_000
/** What a cluster takes. */
const MOST_FILE_BYTES = 500 * 1024 * 1024
/** Of a file, read at once. */
const PIECE_BYTES = 4 * 1024 * 1024

/** `address`: postgres://…; a password that it does not have comes from PGPASSWORD or ~/.pgpass. Messages do not contain it. */
export async function openPostgres(address: string, reading: PostgresReading): Promise<Source> {
  const secret = passwordIn(address)
  try {
    const client = new Client({
      connectionString: address,
      connectionTimeoutMillis: CONNECT_MS,
      types: { getTypeParser: () => (value: string) => value },
    })
    // A connection that ends between two statements fails the next one, which says so.
    client.on('error', () => undefined)
    await client.connect()
    try {
      return await readSource(client, reading, secret)
    } catch (error) {
      await client.end()
      throw error
    }
  } catch (error) {
    throw withoutSecret(error, secret)
  }
}

function passwordIn(address: string): readonly string[] {
  if (!/^postgres(?:ql)?:\/\//.test(address) || !URL.canParse(address))
    throw new UsageError('The source is an address such as postgres://user@host:5432/database.')
  const { password } = new URL(address)
  try {
    return [password, decodeURIComponent(password)].filter((one) => one !== '')
  } catch {
    return [password]
  }
}

function withoutSecret(error: unknown, secret: readonly string[]): unknown {
  if (!(error instanceof Error) || error instanceof UsageError) return error
  let message = error.message === '' ? 'no answer' : error.message
  for (const one of secret) message = message.replaceAll(one, '…')
  return new Error(`PostgreSQL: ${message}`)
}

async function readSource(
  client: Client,
  reading: PostgresReading,
  secret: readonly string[],
): Promise<Source> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  await client.query(
    `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL timezone = 'UTC';
     SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL intervalstyle = 'iso_8601'; SET LOCAL extra_float_digits = 1`,
  )
  await checkTimeZone(client, reading.timeZone)
  const { tables, others } = await readCatalog(client, reading.schema)
  if (tables.length === 0)
    throw new Error(`The schema ${shownName(reading.schema)} has no tables that this user may see`)
  const unsaid: string[] = others.map((name) => `${shownName(name)} is left out: it is no table.`)
  const left = (line: string) => void unsaid.push(line)
  const distinct = distinctNames()
  const byTitle = new Map(tables.map((table) => [table.title, table]))
  const storages = new Map(
    tables.map((table, at) => [table.title, distinct(storageNameFor(table.name, at + 1))]),
  )
  const planned: PlannedTable[] = []
  for (const table of tables) {
    const kinds = await jsonKinds(client, table)
    planned.push(
      plannedTable(table, {
        ...{ tables: byTitle, storages, left, timeZone: reading.timeZone },
        kinds: (column) => kinds.get(column) ?? new Set(),
        isText: (field) => reading.types[field] === 'string',
      }),
    )
  }
  refuseUnused(reading.types, planned)
  return {
    tables: planned.map((table) => sourceTable(client, table, secret)),
    unsaid,
    close: () => client.end(),
  }
}

async function checkTimeZone(client: Client, zone: string): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_timezone_names WHERE name = $1', [zone])
  if (rowCount === 0)
    throw new UsageError(`--time-zone is a name such as Europe/Berlin, not ${JSON.stringify(zone)}.`)
}

function refuseUnused(types: PostgresReading['types'], planned: readonly PlannedTable[]): void {
  for (const [place, type] of Object.entries(types)) {
    const isThere = planned.some(({ storage, columns }) =>
      columns.some(({ field }) => `${storage}.${field.name}` === place),
    )
    if (!isThere)
      throw new UsageError(
        `--types names ${JSON.stringify(place)}, which no column becomes. Write <storage>.<field>.`,
      )
    if (type !== 'string')
      throw new UsageError(`--types of PostgreSQL takes "string" alone: the source has types.`)
  }
}

/** Which kinds of values its columns with JSON have: a scan of each such table. */
async function jsonKinds(
  client: Client,
  table: CatalogTable,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const columns = table.columns.filter(({ type }) => type === 'json' || type === 'jsonb')
  if (columns.length === 0) return new Map()
  const kinds = columns.map(({ name, type }) => `json_agg(DISTINCT ${type}_typeof(t.${identifier(name)}))`)
  const { rows } = await client.query<Record<string, string>>(
    `SELECT json_build_array(${kinds.join(', ')}) AS kinds FROM ${placeOf(table)} AS t`,
  )
  const found: unknown = JSON.parse(rows[0]?.kinds ?? '[]')
  const lists = Array.isArray(found) ? found : []
  return new Map(
    columns.map(({ name }, at) => {
      const list: unknown = lists[at]
      const words = Array.isArray(list) ? list.filter((one) => typeof one === 'string' && one !== 'null') : []
      return [name, new Set(words.map(String))]
    }),
  )
}

function placeOf({ schema, name }: CatalogTable): string {
  return `${identifier(schema)}.${identifier(name)}`
}

function sourceTable(client: Client, planned: PlannedTable, secret: readonly string[]): SourceTable {
  const { table, storage, key, columns, hasUniqueKey } = planned
  return {
    title: shownName(table.title),
    storage,
    key,
    ...(hasUniqueKey && { hasUniqueKey }),
    fields: columns.map(({ field }) => field),
    rows: () => rowsOf(client, planned, secret),
  }
}

/** By a cursor, as many rows at a time as make a megabyte. */
async function* rowsOf(
  client: Client,
  planned: PlannedTable,
  secret: readonly string[],
): AsyncGenerator<SourceRow, void> {
  const { table, columns, keySql } = planned
  const hasBytes = columns.some(({ bytes }) => bytes !== undefined)
  const selected = [
    `${keySql} AS k`,
    ...columns.map(({ sql }, at) => `${sql} AS c${at}`),
    // Where the row is, in the snapshot: its bytes are read when they are sent.
    ...(hasBytes ? ['t.tableoid::text AS part', 't.ctid::text AS place'] : []),
  ]
  try {
    await client.query(
      `DECLARE import_rows NO SCROLL CURSOR FOR SELECT ${selected.join(', ')} FROM ${placeOf(table)} AS t`,
    )
    try {
      let count = FIRST_ROWS
      for (;;) {
        const { rows } = await client.query<Record<string, string | null>>(`FETCH ${count} FROM import_rows`)
        let characters = 1
        for (const row of rows) {
          for (const value of Object.values(row)) characters += value?.length ?? 0
          yield { ...sourceRow(row, planned), ...(hasBytes && filesOf(client, row, planned)) }
        }
        if (rows.length < count) return
        count = Math.max(1, Math.min(MOST_ROWS, Math.round((rows.length * CHARACTERS) / characters)))
      }
    } finally {
      await client.query('CLOSE import_rows').catch(() => undefined)
    }
  } catch (error) {
    throw withoutSecret(error, secret)
  }
}

/** Of the columns of bytes. */
function filesOf(
  client: Client,
  row: Readonly<Record<string, string | null>>,
  { table, columns }: PlannedTable,
): Pick<SourceRow, 'files' | 'missing'> {
  const files: Record<string, readonly RowFile[]> = {}
  const missing: RowProblem[] = []
  for (const [at, { field, read, bytes }] of columns.entries()) {
    const written = row[`c${at}`] ?? null
    if (bytes === undefined || written === null) continue
    const [found, { size }] = [read(written), bytesOf(written)]
    const name = 'value' in found ? found.value : null
    if (typeof name !== 'string') continue
    if (size > MOST_FILE_BYTES)
      missing.push({ field: field.name, value: name, problem: 'is left out: it is larger than 500 MB' })
    else
      files[field.name] = [
        {
          ...{ name, size },
          open: () =>
            Readable.from(piecesOf(client, `${placeOf(table)} AS t`, identifier(bytes), { row, size })),
        },
      ]
  }
  return { files, missing }
}

async function* piecesOf(
  client: Client,
  from: string,
  column: string,
  { row, size }: { readonly row: Readonly<Record<string, string | null>>; readonly size: number },
): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < size; at += PIECE_BYTES) {
    const { rows } = await client.query<Record<string, string | null>>(
      `SELECT encode(substring(t.${column} FROM $1::int FOR $2::int), 'base64') AS piece FROM ${from} WHERE t.ctid = $3::tid AND t.tableoid = $4::oid`,
      [String(at + 1), String(PIECE_BYTES), row.place ?? '', row.part ?? ''],
    )
    const piece = rows[0]?.piece
    if (typeof piece !== 'string') throw new Error('its row is not there any more')
    yield Buffer.from(piece, 'base64')
  }
}

function sourceRow(row: Readonly<Record<string, string | null>>, { columns, key }: PlannedTable): SourceRow {
  const values: Record<string, JsonValue> = {}
  const problems: RowProblem[] = []
  const rowKey = row.k ?? ''
  for (const [at, { field, read }] of columns.entries()) {
    const text = row[`c${at}`] ?? null
    if (text === null) continue
    const found = read(text)
    if ('problem' in found)
      problems.push({ field: field.name, value: text.slice(0, 100), problem: found.problem })
    else values[field.name] = found.value
  }
  return { place: `${key} ${shownName(rowKey)}`, key: rowKey, values, problems }
}
