/**
 * Databases of this process that a test has done with and the next one may have, as they were when they were made. A new
 * copy of the template is 600 files and a checkpoint when it goes; emptying one is 35 ms.
 */
import { Client } from 'pg'

/** Rows of the tables that were not empty, as JSON by table. */
type Rows = Readonly<Record<string, string>>

interface Made {
  readonly shape: string
  readonly rows: Rows
}

const free: string[] = []
let made: Made | undefined

/** A database that is free, if there is one. */
export const freeDatabase = () => free.pop()

/** To be called with the first copy of the template, before anything is written to it. */
export async function noteAsMade(url: string): Promise<void> {
  made ??= await onDatabase(url, async (client) => {
    const rows: Record<string, string> = {}
    for (const table of await tablesOf(client)) {
      const [found] = (await client.query(`SELECT json_agg(t)::text AS rows FROM ${table} t`)).rows
      if (found.rows !== null) rows[table] = found.rows
    }
    return { shape: await shapeOf(client), rows }
  })
}

/** Empties a database and keeps it for the next test. False if it is in use, or not of the shape it was made with. */
export async function keepForNext(url: string): Promise<boolean> {
  const { shape, rows } = made ?? { shape: '', rows: {} }
  const isClean = await onDatabase(url, async (client) => {
    if (await hasOthers(client)) return false
    const known = new Set(shape.split('\n').map((line) => line.split(' ')[0]))
    const tables = await tablesOf(client)
    // Foreign keys and triggers are for those who change a row, not for putting back what was there.
    await client.query('SET session_replication_role = replica')
    await client.query('BEGIN')
    const [old, more] = [tables.filter((one) => known.has(one)), tables.filter((one) => !known.has(one))]
    if (more.length > 0) await client.query(`DROP TABLE ${more.join(', ')}`)
    await client.query(old.map((table) => `DELETE FROM ${table}`).join('; '))
    for (const [table, json] of Object.entries(rows))
      await client.query(
        `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::${table}, $1)`,
        [json],
      )
    await client.query('COMMIT')
    return (await shapeOf(client)) === shape
  })
  if (isClean) free.push(url)
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

async function tablesOf(client: Client): Promise<string[]> {
  const { rows } = await client.query(
    `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname`,
  )
  return rows.map(({ relname }) => String(relname))
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

/** Tables, indexes, columns, functions, statistics, settings: a line each. */
async function shapeOf(client: Client): Promise<string> {
  const { rows } = await client.query(`
    SELECT relname::text || ' ' || relkind::text || coalesce(' ' || pg_get_indexdef(i.indexrelid), '') AS line
      FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT attrelid::regclass::text || ' ' || attname || ' ' || atttypid::regtype::text
      FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT proname::text || ' function ' || md5(prosrc) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT stxname::text || ' statistics' FROM pg_statistic_ext
    UNION ALL SELECT tgname::text || ' trigger ' || tgrelid::regclass::text || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT 'setting ' || setconfig::text FROM pg_db_role_setting s
      JOIN pg_database d ON d.oid = setdatabase WHERE datname = current_database()
    ORDER BY line`)
  return rows.map(({ line }) => String(line)).join('\n')
}
