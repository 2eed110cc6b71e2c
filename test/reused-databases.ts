/**
 * Databases of this process that a test has done with and the next one may have, as they were when they were made. A new
 * copy of the template is 600 files and a checkpoint when it goes. Emptying one asks for no table that is empty: PostgreSQL
 * reads the definition of a table and its indexes for each connection that does, which was four fifths of its time.
 */
import { Client } from 'pg'

/** Rows of the tables that were not empty, as JSON by table. */
type Rows = Readonly<Record<string, string>>

interface Made {
  readonly shape: string
  readonly rows: Rows
  readonly tables: ReadonlySet<string>
}

/** By the name of their template. */
const free = new Map<string, string[]>()
const made = new Map<string, Made>()

/** A database of the template that is free, if there is one. */
export const freeDatabase = (template: string) => free.get(template)?.pop()

/** To be called with the first copy of a template, before anything is written to it. */
export async function noteAsMade(template: string, url: string): Promise<void> {
  if (made.has(template)) return
  const first = await onDatabase(url, async (client) => {
    const rows: Record<string, string> = {}
    for (const { table, filled } of await tablesOf(client)) {
      if (!filled) continue
      const [found] = (await client.query(`SELECT json_agg(t)::text AS rows FROM ${table} t`)).rows
      if (found.rows !== null) rows[table] = found.rows
    }
    return {
      shape: await shapeOf(client),
      rows,
      tables: new Set((await tablesOf(client)).map(({ table }) => table)),
    }
  })
  made.set(template, first)
}

/** Empties a database and keeps it for the next test. False if it is in use, or not of the shape it was made with. */
export async function keepForNext(template: string, url: string): Promise<boolean> {
  const first = made.get(template)
  if (first === undefined) return false
  const { shape, rows, tables: known } = first
  const isClean = await onDatabase(url, async (client) => {
    if (await hasOthers(client)) return false
    const tables = await tablesOf(client)
    const more = tables.filter(({ table }) => !known.has(table))
    const filled = tables.filter((one) => one.filled && known.has(one.table))
    // Foreign keys and triggers are for those who change a row, not for putting back what was there.
    await client.query(
      [
        'SET session_replication_role = replica',
        'BEGIN',
        ...(more.length > 0 ? [`DROP TABLE ${more.map(({ table }) => table).join(', ')}`] : []),
        // The function of the trigger that fills the key columns of a table.
        ...more.map(({ table }) => `DROP FUNCTION IF EXISTS ${table}_keys()`),
        ...filled.map(({ table }) => `DELETE FROM ${table}`),
      ].join(';'),
    )
    for (const [table, json] of Object.entries(rows))
      await client.query(
        `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::${table}, $1)`,
        [json],
      )
    await client.query('COMMIT')
    return (await shapeOf(client)) === shape
  })
  if (isClean) free.set(template, [...(free.get(template) ?? []), url])
  return isClean
}

async function onDatabase<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** `filled`: its file has something in it, which may be rows that are deleted. */
async function tablesOf(
  client: Client,
): Promise<readonly { readonly table: string; readonly filled: boolean }[]> {
  const { rows } = await client.query(
    `SELECT relname, (pg_stat_file('base/' || d.oid || '/' || relfilenode)).size > 0 AS filled
      FROM pg_class, pg_database d WHERE datname = current_database()
      AND relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname`,
  )
  return rows.map(({ relname, filled }) => ({ table: String(relname), filled: filled === true }))
}

/** PostgreSQL notices a moment later that a connection has gone. */
async function hasOthers(client: Client): Promise<boolean> {
  for (let tries = 0; tries < 20; tries++) {
    const { rows } = await client.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
    if (rows.length === 0) return false
    await new Promise((next) => setTimeout(next, 5))
  }
  return true
}

/**
 * Of tables, indexes, columns, functions, statistics, triggers and settings, a line each. By their numbers, which are those of the
 * template in each of its copies: an index of another definition has another number.
 */
async function shapeOf(client: Client): Promise<string> {
  const { rows } = await client.query(`
    SELECT md5(string_agg(line, ' ' ORDER BY line)) AS shape FROM (
    SELECT oid || ' ' || relname || ' ' || relnatts AS line FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT 'column ' || attrelid || ' ' || attname || ' ' || atttypid || attisdropped || attnotnull || atthasdef
      FROM pg_attribute JOIN pg_class c ON c.oid = attrelid AND relkind = 'r'
      WHERE relnamespace = 'public'::regnamespace AND attnum > 0
    UNION ALL SELECT 'constraint ' || oid || ' ' || conname || convalidated FROM pg_constraint
    UNION ALL SELECT 'function ' || proname || ' ' || md5(prosrc) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT 'statistics ' || oid FROM pg_statistic_ext
    UNION ALL SELECT 'trigger ' || oid || ' ' || tgname || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT 'setting ' || setconfig::text FROM pg_db_role_setting s
      JOIN pg_database d ON d.oid = setdatabase WHERE datname = current_database()
    ) AS lines`)
  return String(rows[0].shape)
}
