import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { commitTogether } from './commit-together.ts'
import { Refusal } from './refusal.ts'

/** Fields of a task without `_meta`. */
export type TaskFields = Readonly<Record<string, unknown>>

export interface TaskStore {
  /** The task's JSON text. */
  get(guid: string): string | undefined
  /** A JSON array, newest first. */
  list(status: string | undefined, limit: number, offset: number): string
  /** 20 of this status that have this assignee or are urgent, newest first. */
  where(status: string, assignee: string, offset: number): string
  create(fields: TaskFields): Promise<string>
  update(guid: string, change: TaskFields): Promise<string | undefined>
  /** Adds one to its `visits`; none is lost. */
  visit(guid: string): Promise<string | undefined>
}

interface Meta {
  readonly guid: string
  readonly cms: number
  readonly ums: number
}

const schema = `
  CREATE TABLE IF NOT EXISTS task (
    id INTEGER PRIMARY KEY,
    guid TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    doc TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS task_created ON task (created) WHERE removed = 0;
  CREATE INDEX IF NOT EXISTS task_status ON task (doc ->> '$.status', created) WHERE removed = 0;`

// An index ends with the row number anyway, so it orders what is of one millisecond for nothing.
const newestFirst = 'ORDER BY created DESC, id DESC LIMIT ? OFFSET ?'

/** A connection that survives a power cut with everything it has committed. */
export function connect(path: string, readOnly: boolean): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly, timeout: 5000 })
  database.exec('PRAGMA cache_size = -32768; PRAGMA mmap_size = 268435456; PRAGMA temp_store = MEMORY')
  if (!readOnly)
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864',
    )
  return database
}

/** Tasks in one table: what the API sends is stored as the text that it is. */
export function taskStore(writing: DatabaseSync, openReader: () => DatabaseSync): TaskStore {
  writing.exec(schema)
  const reading = openReader()
  const write = commitTogether(writing)
  const select = 'SELECT doc FROM task WHERE removed = 0'
  // A group that is not committed yet must not be seen, so reads have a connection of their own.
  const one = reading.prepare(`${select} AND guid = ?`)
  const all = reading.prepare(`${select} ${newestFirst}`)
  const byStatus = reading.prepare(`${select} AND doc ->> '$.status' = ? ${newestFirst}`)
  const where = reading.prepare(
    `${select} AND doc ->> '$.status' = ? AND (doc ->> '$.assignee' = ? OR doc ->> '$.priority' >= 3) ${newestFirst}`,
  )
  const insert = writing.prepare(
    'INSERT INTO task (guid, created, updated, removed, doc) VALUES (?, ?, ?, 0, ?)',
  )
  const current = writing.prepare(`${select} AND guid = ?`)
  const change = writing.prepare('UPDATE task SET updated = ?, doc = ? WHERE guid = ?')

  /** Reads and writes in one transaction, so that no other change comes between. */
  const changeOne = (guid: string, changed: (fields: TaskFields) => TaskFields) =>
    write(() => {
      const text = textOf(current.get(guid))
      if (text === undefined) return undefined
      const { _meta, ...rest } = JSON.parse(text)
      const meta = changedMeta(_meta)
      const doc = JSON.stringify({ _meta: meta, ...rest, ...changed(rest) })
      change.run(meta.ums, doc, guid)
      return doc
    })

  return {
    get: (guid) => textOf(one.get(guid)),
    list(status, limit, offset) {
      const rows = status === undefined ? all.all(limit, offset) : byStatus.all(status, limit, offset)
      return `[${rows.map((row) => row.doc).join(',')}]`
    },
    where: (status, assignee, offset) => {
      const rows = where.all(status, assignee, 20, offset)
      return `[${rows.map((row) => row.doc).join(',')}]`
    },
    create: (fields) =>
      write(() => {
        const meta = newMeta()
        const doc = JSON.stringify({ _meta: meta, ...fields })
        insert.run(meta.guid, meta.cms, meta.ums, doc)
        return doc
      }),
    update: (guid, fields) => changeOne(guid, () => fields),
    visit: (guid) =>
      changeOne(guid, ({ visits }) => {
        if (visits !== undefined && typeof visits !== 'number') throw new Refusal(400, 'visits is no number')
        return { visits: (visits ?? 0) + 1 }
      }),
  }
}

function textOf(row: Readonly<Record<string, unknown>> | undefined): string | undefined {
  return typeof row?.doc === 'string' ? row.doc : undefined
}

function newMeta() {
  const guid = randomUUIDv7()
  const cms = Number.parseInt(guid.slice(0, 8) + guid.slice(9, 13), 16)
  const created = Math.floor(cms / 1000)
  return {
    guid,
    entity: 1,
    created,
    updated: created,
    cms,
    ums: cms,
    removed: 0,
    expiry: -1,
    update_hash: updateHash(),
  }
}

function changedMeta(meta: Meta): Meta {
  const ums = Math.max(Date.now(), meta.ums)
  return { ...meta, ...{ updated: Math.floor(ums / 1000), ums, update_hash: updateHash() } }
}

/** 16 random bytes, drawn from a pool: each call of the generator costs 2 µs whatever its size. */
function updateHash(): string {
  if (used === pool.length) {
    pool = randomBytes(4096)
    used = 0
  }
  used += 16
  return pool.toString('hex', used - 16, used)
}

let pool = Buffer.alloc(0)
let used = 0
