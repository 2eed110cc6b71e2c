import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { Pool } from 'pg'
import type { TaskFields } from './task-store.ts'

export interface PostgresTaskStore {
  /** The task's JSON text. */
  get(guid: string): Promise<string | undefined>
  /** A JSON array, newest first. */
  list(status: string | undefined, limit: number, offset: number): Promise<string>
  /** 20 of this status that have this assignee or are urgent, newest first. */
  where(status: string, assignee: string, offset: number): Promise<string>
  create(fields: TaskFields): Promise<string>
  update(guid: string, change: TaskFields): Promise<string | undefined>
  /** Adds one to its `visits`; none is lost. */
  visit(guid: string): Promise<string | undefined>
  close(): Promise<void>
}

const schema = `
  CREATE TABLE IF NOT EXISTS task (
    guid text COLLATE "C" PRIMARY KEY,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    removed integer NOT NULL,
    doc jsonb NOT NULL
  );
  CREATE INDEX IF NOT EXISTS task_created ON task (created, guid) WHERE removed = 0;
  CREATE INDEX IF NOT EXISTS task_status ON task ((doc ->> 'status'), created, guid) WHERE removed = 0;`

const newestFirst = 'ORDER BY created DESC, guid DESC'
const change = (fields: string) => `
  UPDATE task SET updated = $2, doc = jsonb_set(doc || ${fields}, '{_meta}', doc -> '_meta' || $3::jsonb)
  WHERE guid = $1 AND removed = 0 RETURNING doc::text`

/** Tasks in one table; each request is one prepared statement, which is a transaction by itself. */
export async function postgresTaskStore(url: string, connections: number): Promise<PostgresTaskStore> {
  const pool = new Pool({ connectionString: url, max: connections, keepAlive: true })
  await pool.query(schema)

  async function text(name: string, statement: string, values: unknown[]): Promise<string | undefined> {
    const { rows } = await pool.query({ name, text: statement, values })
    const doc: unknown = rows[0]?.doc
    return typeof doc === 'string' ? doc : undefined
  }

  return {
    get: (guid) => text('get', 'SELECT doc::text FROM task WHERE guid = $1 AND removed = 0', [guid]),
    async list(status, limit, offset) {
      const where = status === undefined ? '' : `AND doc ->> 'status' = $3`
      const { rows } = await pool.query({
        name: status === undefined ? 'all' : 'list',
        text: `SELECT doc::text FROM task WHERE removed = 0 ${where} ${newestFirst} LIMIT $1 OFFSET $2`,
        values: status === undefined ? [limit, offset] : [limit, offset, status],
      })
      return `[${rows.map(({ doc }) => doc).join(',')}]`
    },
    async where(status, assignee, offset) {
      const { rows } = await pool.query({
        name: 'where',
        text: `SELECT doc::text FROM task WHERE removed = 0 AND doc ->> 'status' = $1
          AND (doc ->> 'assignee' = $2 OR (doc ->> 'priority')::numeric >= 3) ${newestFirst} LIMIT 20 OFFSET $3`,
        values: [status, assignee, offset],
      })
      return `[${rows.map(({ doc }) => doc).join(',')}]`
    },
    async create(fields) {
      const guid = randomUUIDv7()
      const ms = Date.now()
      const seconds = Math.floor(ms / 1000)
      const times = { created: seconds, updated: seconds, cms: ms, ums: ms, removed: 0, expiry: -1 }
      const doc = JSON.stringify({
        _meta: { guid, entity: 1, ...times, update_hash: updateHash() },
        ...fields,
      })
      await pool.query({
        name: 'create',
        text: 'INSERT INTO task (guid, created, updated, removed, doc) VALUES ($1, $2, $2, 0, $3)',
        values: [guid, ms, doc],
      })
      return doc
    },
    update: (guid, fields) => text('update', change('$4::jsonb'), [...changed(guid), JSON.stringify(fields)]),
    visit: (guid) =>
      text(
        'visit',
        change(`jsonb_build_object('visits', coalesce((doc -> 'visits')::numeric, 0) + 1)`),
        changed(guid),
      ),
    close: () => pool.end(),
  }
}

function changed(guid: string): [string, number, string] {
  const ums = Date.now()
  return [guid, ums, JSON.stringify({ updated: Math.floor(ums / 1000), ums, update_hash: updateHash() })]
}

function updateHash(): string {
  return randomBytes(16).toString('hex')
}
