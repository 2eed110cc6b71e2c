/** Writes that are sent with COMMIT: they fail as they did when they were sent by themselves, and nothing half done is kept. */
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { postgresPort } from '../../../../test/postgres/shared-postgres.ts'
import { openTripProxy, type TripProxy } from '../../../../test/postgres/trip-proxy.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { setFields } from '../../../shared/mutation.ts'
import { matchAll } from '../../../shared/query.ts'
import { type Database, documentOf, type Session } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { transact } from '../../transact.ts'
import { openPostgresPool } from './postgres-connection.ts'
import { sendSoon } from './postgres-transaction.ts'

let temporary: TemporaryDatabase
let proxy: TripProxy
let admin: Client
let one: Database
let two: Database
let name = ''
let names = 0

beforeAll(async () => {
  temporary = await openTemporaryDatabase(storageTemplate)
  proxy = await openTripProxy(await postgresPort())
  admin = new Client({ connectionString: temporary.url })
  await admin.connect()
  const url = new URL(temporary.url)
  url.port = String(proxy.port)
  // Two connections for transactions.
  one = await openNode(url.href, { node: 'one', listenUrl: temporary.url, connections: 4 })
  two = await openNode(temporary.url, { node: 'two', connections: 10 })
})
beforeEach(async () => {
  name = `things_${++names}`
  await one.ensure(name)
})
afterAll(async () => {
  await one.close()
  await two.close()
  await admin.end()
  await proxy.close()
  await temporary.drop()
})

const create = (database: Database, fields = {}) =>
  transact(database, async (session) => guidOf(documentOf(await session.create(name, setFields(fields)))))
const commit = async (session: Session) => session.transaction.commit()
const stored = () => two.session().count(name, matchAll)

/** From now on PostgreSQL refuses each document with this code. */
async function refuseAll(code: string): Promise<void> {
  const { rows } = await admin.query(`SELECT 'doc_' || id AS doc FROM storage WHERE name = $1`, [name])
  await admin.query(
    `CREATE FUNCTION refuse_${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'as planned' USING ERRCODE = '${code}'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON ${rows[0].doc} FOR EACH ROW EXECUTE FUNCTION refuse_${name}()`,
  )
}

const writes: readonly (readonly [string, (session: Session, guid: string) => unknown])[] = [
  ['a create', (session) => session.create(name, [])],
  ['an update', (session, guid) => session.update(name, guid, setFields({ n: 2 }))],
  ['a soft delete', (session, guid) => session.setRemoved(name, guid, true)],
]

describe.each(writes)('%s that the database refuses', (_name, write) => {
  test.each([
    ['53100', 'STORAGE_FULL'],
    ['25006', 'UNAVAILABLE'],
    ['40001', 'UNAVAILABLE'],
    ['40P01', 'UNAVAILABLE'],
    ['22000', '22000'],
  ])('with %s fails the commit with %s, and nothing of its session is stored', async (code, reported) => {
    const other = `other_${name}`
    await one.ensure(other)
    const guid = await create(one, { n: 1 })
    await refuseAll(code)
    const session = one.session()
    await session.create(other, [])
    await write(session, guid)
    expect(session.transaction.hasWritten).toBe(true)
    await expect(commit(session)).rejects.toMatchObject({ code: reported })
    expect(await two.session().count(other, matchAll)).toBe(0)
    expect(documentOf((await two.session().get(name, guid)) ?? fail())).toMatchObject({ n: 1 })
    // The session, and the connections, can be used again.
    await session.create(other, [])
    await session.transaction.commit()
    expect(await two.session().count(other, matchAll)).toBe(1)
  })

  test('fails what comes next in the session, which then cannot be committed', async () => {
    const guid = await create(one, { n: 1 })
    await refuseAll('53100')
    const session = one.session()
    await write(session, guid)
    await expect(session.get(name, guid)).rejects.toMatchObject({ code: 'STORAGE_FULL' })
    await expect(commit(session)).rejects.toMatchObject({ code: 'STORAGE_FULL' })
    expect(await stored()).toBe(1)
  })

  test('fails the session also while that does nothing', async () => {
    const guid = await create(one, { n: 1 })
    await refuseAll('53100')
    const session = one.session()
    await write(session, guid)
    await expect.poll(() => session.transaction.hasWritten).toBe(false)
    await expect(commit(session)).rejects.toMatchObject({ code: 'STORAGE_FULL' })
    expect(await stored()).toBe(1)
  })
})

test('control: the same writes are stored where the database does not refuse them', async () => {
  for (const [, write] of writes) {
    const guid = await create(one, { n: 1 })
    await transact(one, (session) => write(session, guid))
  }
  expect(await stored()).toBe(3)
  expect(await two.session().count(name, { kind: 'term', field: 'n', value: 2 })).toBe(1)
})

test('a write is visible to its own session at once, to others after the commit, and gone after a rollback', async () => {
  const session = one.session()
  const guid = guidOf(documentOf(await session.create(name, setFields({ n: 1 }))))
  expect(await session.get(name, guid)).toBeDefined()
  await session.update(name, guid, setFields({ n: 5 }))
  expect(await session.count(name, { kind: 'term', field: 'n', value: 5 })).toBe(1)
  expect(await stored()).toBe(0)
  await session.transaction.rollback()
  await session.create(name, setFields({ n: 6 }))
  await session.transaction.rollback()
  expect(await session.transaction.commit()).toBeUndefined()
  expect(await stored()).toBe(0)
})

test('long work of the system rests for a minute, other work for five seconds', async () => {
  const [long, other] = [one.session({ isLong: true }), two.session()]
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    await long.create(name, setFields({ n: 1 }))
    await other.create(name, setFields({ n: 2 }))
    await long.get(name, 'none')
    await other.get(name, 'none')
    vi.advanceTimersByTime(59_999)
    await expect(commit(other)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await commit(long)
    expect(await stored()).toBe(1)
    await long.create(name, setFields({ n: 3 }))
    await long.get(name, 'none')
    vi.advanceTimersByTime(60_000)
    await expect(commit(long)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  } finally {
    vi.useRealTimers()
  }
  expect(await stored()).toBe(1)
})

test('a write is sent by itself while its session waits for something else, so that others wait for its row', async () => {
  const guid = await create(one, { n: 1 })
  const session = one.session()
  await session.update(name, guid, [{ op: 'increment', field: 'n', amount: 1 }])
  const locks = `SELECT 1 FROM pg_locks JOIN storage ON relation = ('doc_' || id)::regclass::oid WHERE name = $1 AND mode = 'RowExclusiveLock'`
  await expect.poll(async () => (await admin.query(locks, [name])).rowCount).toBeGreaterThan(0)
  const other = transact(two, (next) => next.update(name, guid, [{ op: 'increment', field: 'n', amount: 1 }]))
  await session.transaction.commit()
  await other
  expect(await two.session().count(name, { kind: 'term', field: 'n', value: 3 })).toBe(1)
})

describe.each([
  ['before', 0],
  ['behind', 1],
] as const)('a connection that is lost %s what commits', (place, count) => {
  test.each(['the only trip', 'a COMMIT'])(
    '(%s) is told as an outcome that is unknown, and nothing is written twice',
    async (what) => {
      await create(one)
      const session = one.session()
      const guid = guidOf(documentOf(await session.create(name, [])))
      // A read of its own write begins the transaction.
      if (what === 'a COMMIT') await session.get(name, guid)
      proxy.breakAt(place, what === 'a COMMIT' ? 'COMMIT' : guid)
      await expect(commit(session)).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining('may still be stored'),
      })
      await session.transaction.rollback()
      await expect.poll(stored).toBe(1 + count)
      await create(one)
      expect(await stored()).toBe(2 + count)
    },
  )
})

test('what a watcher of another node is told the writer itself is told where it cannot go on, and not where it can', async () => {
  const [heard, others]: [unknown[], unknown[]] = [[], []]
  const ends = [
    one.capabilities.changes.watch(name, (guids) => void heard.push(guids)),
    two.capabilities.changes.watch(name, (guids) => void others.push(guids)),
  ]
  await create(one)
  expect([heard, others.length]).toEqual([[], 1])
  // Its commit is stored and not answered.
  proxy.breakAt('behind', 'COMMIT')
  await expect(create(one)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await expect.poll(() => [heard.length, others.length]).toEqual([1, 2])
  // It is stored, and whether the others follow cannot be read.
  await admin.query('ALTER TABLE timeline RENAME TO timeline_away')
  await expect(create(one)).rejects.toThrow()
  await admin.query('ALTER TABLE timeline_away RENAME TO timeline')
  await expect.poll(() => [heard.length, others.length]).toEqual([2, 3])
  expect(heard).toEqual(others.slice(1))
  await create(one)
  expect([heard.length, others.length, await stored()]).toEqual([2, 4, 4])
  for (const end of ends) end()
})

test('a write on a connection that the server has ended is written on another one', async () => {
  const url = new URL(temporary.url)
  url.port = String(proxy.port)
  const pool = openPostgresPool({ url: url.href, connections: 4, pooled: true, restMs: 60_000 })
  await admin.query('CREATE TABLE ended (n integer)')
  try {
    const [backend] = await pool.reading.rows('SELECT pg_backend_pid() AS pid')
    proxy.keepFarewells()
    await admin.query('SELECT pg_terminate_backend($1)', [backend?.pid])
    const gone = async () =>
      (await admin.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [backend?.pid])).rowCount
    await expect.poll(gone).toBe(0)
    const transaction = pool.transaction()
    sendSoon(transaction, 'INSERT INTO ended VALUES (1)')
    await transaction.commit()
    expect((await admin.query('SELECT n FROM ended')).rows).toEqual([{ n: 1 }])
  } finally {
    await pool.close()
  }
})

describe.each(['read', 'write'] as const)(
  'a connection that the server ends as soon as it is there: a %s',
  (what) => {
    test('goes on on another one, and the process lives', async () => {
      const url = new URL(temporary.url)
      url.port = String(proxy.port)
      const pool = openPostgresPool({ url: url.href, connections: 4, pooled: true })
      await admin.query(`CREATE TABLE greeted_${what} (n integer)`)
      const backends = async () =>
        (await admin.query('SELECT pid FROM pg_stat_activity WHERE datname = current_database()')).rows.map(
          ({ pid }) => Number(pid),
        )
      try {
        const before = await backends()
        proxy.keepGreeting()
        const transaction = pool.transaction()
        sendSoon(transaction, `INSERT INTO greeted_${what} VALUES (1)`)
        const asked = what === 'read' ? pool.reading.rows('SELECT 1') : transaction.commit()
        const made = async () => (await backends()).filter((pid) => !before.includes(pid))
        await expect.poll(made).toHaveLength(1)
        await admin.query('SELECT pg_terminate_backend($1)', await made())
        await asked
        const { rowCount } = await admin.query(`SELECT n FROM greeted_${what}`)
        expect(rowCount).toBe(what === 'read' ? 0 : 1)
      } finally {
        await pool.close()
      }
    })
  },
)

test.each([
  ['has rested is asked for BEGIN first, and another one is taken', 0, 'stored'],
  ['has just answered is sent all at once, so the outcome is unknown', 60_000, 'unknown'],
] as const)('a connection that turns out to be dead and %s', async (_name, restMs, reported) => {
  const url = new URL(temporary.url)
  url.port = String(proxy.port)
  const pool = openPostgresPool({ url: url.href, connections: 4, pooled: true, restMs })
  const table = `made_${restMs}`
  await admin.query(`CREATE TABLE ${table} (n integer)`)
  const insert = async () => {
    const transaction = pool.transaction()
    sendSoon(transaction, `INSERT INTO ${table} VALUES (1)`)
    await transaction.commit()
  }
  try {
    await insert()
    proxy.breakAt('before', `INSERT INTO ${table}`)
    const outcome = insert().then(
      () => 'stored',
      (error: Error) => (error.message.includes('may still be stored') ? 'unknown' : error.message),
    )
    expect(await outcome).toBe(reported)
    expect((await admin.query(`SELECT n FROM ${table}`)).rowCount).toBe(reported === 'stored' ? 2 : 1)
  } finally {
    await pool.close()
  }
})

/** Sessions of node one have no connection until the returned function is called, so their writes stay deferred. */
async function takeConnections(): Promise<() => Promise<unknown>> {
  const sessions = [one.session(), one.session()]
  await one.ensure('held')
  for (const session of sessions) {
    await session.create('held', [])
    await session.count('held', matchAll)
  }
  return () => Promise.all(sessions.map((session) => session.transaction.rollback()))
}

describe('a write that is deferred while its storage changes', () => {
  const sku = { name: 'sku', fields: [{ name: 'sku', ignoreCase: true, ignoreAccents: false }] }

  test('is refused by a unique key that was made meanwhile, or has its value in it', async () => {
    const letGo = await takeConnections()
    const [same, another] = [one.session(), one.session()]
    await same.create(name, setFields({ sku: 'A' }))
    await another.create(name, setFields({ sku: 'b' }))
    await create(two, { sku: 'a' })
    expect(await two.capabilities.uniqueValues.keep(name, sku)).toBeUndefined()
    await letGo()
    await expect(commit(same)).rejects.toMatchObject({ code: 'CONFLICT', fields: ['sku'] })
    await another.transaction.commit()
    expect(await stored()).toBe(2)
    await expect(create(two, { sku: 'B' })).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('is found by free text that was made meanwhile', async () => {
    await create(one, { note: 'a house' })
    const letGo = await takeConnections()
    const session = one.session()
    await session.create(name, setFields({ note: 'a castle' }))
    await two.ensure(name, { text: true })
    await letGo()
    await session.transaction.commit()
    const text = { kind: 'simple_query_string', fields: [], text: 'castle' } as const
    expect(await two.session().count(name, text)).toBe(1)
  })
})

function fail(): never {
  throw new Error('The document is gone.')
}
