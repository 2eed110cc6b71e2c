/** Several nodes on one database: the others know a change before it is acknowledged; a lost node does not harm them. */
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { setFields } from '../../../shared/mutation.ts'
import { type Database, documentOf, type Session } from '../../database.ts'
import { StoredJson } from '../../stored-json.ts'
import { transact } from '../../transact.ts'

let temporary: TemporaryDatabase
let admin: Client
const open = new Set<Database>()
beforeAll(async () => {
  temporary = await openTemporaryDatabase(storageTemplate)
  admin = new Client({ connectionString: temporary.url })
  await admin.connect()
})
afterEach(async () => {
  for (const database of open) await database.close()
  open.clear()
})
afterAll(async () => {
  await admin.end()
  await temporary.drop()
})

const still = () => 0

/** `skew`, `jumped`: how far the node's clocks have gone on by themselves: the monotonic one, and the wall clock. */
async function node(name: string, skew = still, jumped = still): Promise<Database> {
  const database = await openNode(temporary.url, {
    node: name,
    connections: 6,
    monotonic: () => performance.now() + skew(),
    wall: () => Date.now() + jumped(),
    load: () => 0.5,
  })
  open.add(database)
  return database
}

let names = 0
const newName = () => `things_${++names}`
const create = async (database: Database, name: string, fields = {}) => {
  const made = documentOf(await transact(database, (session) => session.create(name, setFields(fields))))
  return String((made._meta as { guid?: unknown }).guid)
}

describe('storages', () => {
  test('one that a node makes is there on the others, with its indexes, when that is done', async () => {
    const [one, two] = [await node('one'), await node('two')]
    const name = newName()
    await one.ensure(name, { indexes: [{ fields: ['email'], unique: true }], text: true })
    expect(two.has(name)).toBe(true)
    const guid = await create(two, name, { email: 'a@b.c', note: 'a red house' })
    expect(await one.session().get(name, guid)).toBeDefined()
    await expect(create(one, name, { email: 'a@b.c' })).rejects.toMatchObject({ code: 'CONFLICT' })
    const text = { kind: 'simple_query_string', fields: [], text: 'house' } as const
    expect(await one.session().count(name, text)).toBe(1)
  })

  test('two nodes that need the same one at the same time make one', async () => {
    const [one, two] = [await node('one'), await node('two')]
    const name = newName()
    await Promise.all([
      one.ensure(name, { indexes: [{ fields: ['a'] }] }),
      two.ensure(name, { indexes: [{ fields: ['a'] }, { fields: ['b'] }], text: true }),
    ])
    const { rows } = await admin.query('SELECT count(*)::int AS n FROM storage WHERE name = $1', [name])
    expect(rows).toEqual([{ n: 1 }])
    await create(one, name, { a: 1, b: 2 })
    expect(await two.session().count(name, { kind: 'term', field: 'b', value: 2 })).toBe(1)
  })

  test('free text comes to a storage while both nodes write to it, and no document is missing', async () => {
    const [one, two] = [await node('one'), await node('two')]
    const name = newName()
    await one.ensure(name)
    let writing = true
    let count = 0
    const write = async (database: Database) => {
      while (writing) {
        await create(database, name, { note: 'needle' })
        count += 1
      }
    }
    const writers = [write(one), write(two), write(one), write(two)]
    await wait(50)
    await one.ensure(name, { text: true })
    await wait(50)
    writing = false
    await Promise.all(writers)
    const text = { kind: 'simple_query_string', fields: [], text: 'needle' } as const
    expect([await one.session().count(name, text), await two.session().count(name, text)]).toEqual([
      count,
      count,
    ])
  })

  test('one that another node dropped is gone, and says so', async () => {
    const [one, two] = [await node('one'), await node('two')]
    const name = newName()
    await one.ensure(name)
    await create(two, name)
    await one.drop(name)
    expect(two.has(name)).toBe(false)
    await expect(two.session().count(name, { kind: 'all' })).rejects.toThrow(`no storage named "${name}"`)
  })
})

describe('watching', () => {
  test('a write is acknowledged when the others have heard of it, and raises the version there', async () => {
    const [one, two] = [await node('one'), await node('two')]
    const name = newName()
    await one.ensure(name)
    const heard: unknown[] = []
    one.capabilities.changes.watch(name, () => undefined)
    two.capabilities.changes.watch(name, async (guids) => {
      await wait(30)
      heard.push(guids)
    })
    const version = two.capabilities.changes.version(name)
    const guid = await create(one, name)
    expect(heard).toEqual([[guid]])
    expect(two.capabilities.changes.version(name)).toBeGreaterThan(version)
  })

  test('no node is told of a write that is undone', async () => {
    const [one, two] = [await node('one'), await node('two')]
    const name = newName()
    await one.ensure(name)
    const heard: unknown[] = []
    one.capabilities.changes.watch(name, () => undefined)
    two.capabilities.changes.watch(name, (guids) => void heard.push(guids))
    const session = one.session()
    await session.create(name, [])
    await session.transaction.rollback()
    await create(one, name, { n: 2 })
    expect(heard).toHaveLength(1)
  })

  test('messages reach the watchers of their topic on the other nodes', async () => {
    const [one, two] = [await node('one'), await node('two')]
    const heard: unknown[] = []
    two.capabilities.changes.watch('greetings', (messages) => void heard.push(messages))
    await one.capabilities.cluster?.notify('greetings', ['hello', 'world'])
    expect(heard).toEqual([['hello', 'world']])
  })

  test('many writers at once are each obeyed, in one order on all nodes', async () => {
    const nodes = [await node('one'), await node('two'), await node('three')]
    const heard: string[][] = [[], [], []]
    for (const [index, database] of nodes.entries())
      database.capabilities.changes.watch(
        'order',
        (messages) => void heard[index]?.push(...(messages ?? ['everything'])),
      )
    await Promise.all(
      nodes.flatMap((database, index) =>
        Array.from({ length: 20 }, (_, n) =>
          database.capabilities.cluster?.notify('order', [`${index}-${n}`]),
        ),
      ),
    )
    for (const [index, list] of heard.entries()) {
      const others = (heard[(index + 1) % 3] ?? []).filter((message) => !message.startsWith(`${index}-`))
      const shared = new Set(others.filter((message) => list.includes(message)))
      expect(list).toHaveLength(40)
      expect(list.filter((message) => shared.has(message))).toEqual(others.filter((m) => shared.has(m)))
    }
  })
})

describe('a node that is lost', () => {
  test('does not answer, does not hold up the others for longer than its lease, and reads everything again', async () => {
    const one = await node('one')
    const two = await node('two')
    const name = newName()
    await one.ensure(name)
    one.capabilities.changes.watch(name, () => undefined)
    const heard: unknown[] = []
    let stuck = true
    two.capabilities.changes.watch(name, (guids) => {
      if (stuck) throw new Error('as planned')
      heard.push(guids)
    })
    expect(two.capabilities.cluster?.alive()).toBe(true)
    const guid = await create(one, name)
    // It was acknowledged without the other, which therefore must have stopped to answer.
    expect(two.capabilities.cluster?.alive()).toBe(false)
    const nodes = await one.capabilities.cluster?.nodes()
    expect(nodes?.filter(({ live }) => live).map((live) => live.name)).toEqual(['one'])
    stuck = false
    await expect.poll(() => two.capabilities.cluster?.alive(), { timeout: 8_000 }).toBe(true)
    expect(heard[0]).toBeUndefined()
    expect(await two.session().get(name, guid)).toBeDefined()
  }, 30_000)

  test('knows it by its own clock, before the others go on', async () => {
    let skew = 0
    const one = await node('one', () => skew)
    expect(one.capabilities.cluster?.alive()).toBe(true)
    skew = 6_000
    expect(one.capabilities.cluster?.alive()).toBe(false)
    await expect.poll(() => one.capabilities.cluster?.alive(), { timeout: 8_000 }).toBe(true)
  })

  test('with the whole machine, which its monotonic clock does not show: it reads everything again', async () => {
    let jumped = 0
    const one = await node('one', still, () => jumped)
    const heard: unknown[] = []
    one.capabilities.changes.watch('things', (guids) => void heard.push(guids))
    jumped = 6_000
    expect(one.capabilities.cluster?.alive()).toBe(false)
    await expect.poll(() => one.capabilities.cluster?.alive(), { timeout: 8_000 }).toBe(true)
    expect(heard).toContain(undefined)
    // An administrator or a time service set the clock back: that proves nothing.
    jumped = -3_600_000
    expect(one.capabilities.cluster?.alive()).toBe(true)
  })

  test('that leaves does not make the others wait', async () => {
    const [one, two] = [await node('one'), await node('two')]
    two.capabilities.changes.watch('leaving', () => {
      throw new Error('never')
    })
    await two.close()
    await one.capabilities.cluster?.notify('leaving', ['bye'])
    expect((await one.capabilities.cluster?.nodes())?.map((other) => other.name)).toEqual(['one'])
  })
})

describe('alone', () => {
  test('work with one key is done by one node at a time', async () => {
    const nodes = [await node('one'), await node('two')]
    let busy = 0
    let most = 0
    let done = 0
    await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        nodes[n % 2]?.capabilities.withClusterLock('key', async () => {
          busy += 1
          most = Math.max(most, busy)
          await wait(5)
          busy -= 1
          done += 1
        }),
      ),
    )
    expect([most, done]).toEqual([1, 12])
  })

  test('what fails lets go', async () => {
    const [one, two] = [await node('one'), await node('two')]
    await expect(
      one.capabilities.withClusterLock('key', () => Promise.reject(new Error('as planned'))),
    ).rejects.toThrow('as planned')
    expect(await two.capabilities.withClusterLock('key', async () => 'next')).toBe('next')
  })

  test('a lock within another one is let go when its work ends, and takes no connection', async () => {
    const [one, two] = [await node('one'), await node('two')]
    const lockOf = (database: Database) => database.capabilities.withClusterLock
    const ofThisDatabase = '(SELECT oid FROM pg_database WHERE datname = current_database())'
    const locks = async () => {
      const held = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = ${ofThisDatabase}`
      return (await admin.query(held)).rows.map(({ pid }) => pid)
    }
    await lockOf(one)('outer', async () => {
      const before = (await locks()).length
      const aside = lockOf(one)('a', async () => wait(20))
      const seen = await lockOf(one)('b', () => lockOf(one)('c', locks))
      expect(seen).toHaveLength(before + 3)
      expect(new Set(seen).size).toBe(1)
      await aside
      expect(await locks()).toHaveLength(before)
      expect(await lockOf(two)('c', async () => 'free')).toBe('free')
      const isFree = "SELECT pg_try_advisory_xact_lock(hashtextextended('outer', 7101)) AS free"
      expect((await admin.query(isFree)).rows).toEqual([{ free: false }])
    })
    expect(await lockOf(two)('outer', async () => 'free')).toBe('free')
  })
})

describe('a connection that is lost', () => {
  const cut = () =>
    admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )

  /** A read that sees what was written. */
  const sent = async (session: Session, name: string) => session.count(name, { kind: 'all' })

  test('in the middle of a session: it says so until it is rolled back, and nothing is stored', async () => {
    const one = await node('one')
    const name = newName()
    await one.ensure(name)
    const session = one.session()
    await session.create(name, [])
    await sent(session, name)
    await cut()
    await expect(sent(session, name)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expect(session.create(name, [])).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expect(session.get(name, 'x')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await session.transaction.rollback()
    expect(await session.count(name, { kind: 'all' })).toBe(0)
    await session.create(name, [])
    await session.transaction.commit()
    expect(await one.session().count(name, { kind: 'all' })).toBe(1)
  })

  test('before a commit: that fails, and nothing is stored', async () => {
    const one = await node('one')
    const name = newName()
    await one.ensure(name)
    const session = one.session()
    await session.create(name, [])
    await sent(session, name)
    await cut()
    await expect(Promise.resolve(session.transaction.commit())).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(await one.session().count(name, { kind: 'all' })).toBe(0)
  })

  test('while idle: the next reader or writer does not notice', async () => {
    const one = await node('one')
    const name = newName()
    await one.ensure(name)
    for (let round = 0; round < 3; round++) {
      await create(one, name)
      await cut()
      expect(await one.session().count(name, { kind: 'all' })).toBe(round + 1)
    }
  })
})

test('a database on a lower timeline than was seen, or at an earlier change, is told to administrators', async () => {
  const notices: string[] = []
  const looking = async () => {
    const database = await openNode(temporary.url, {
      node: 'looks',
      notice: (message) => void notices.push(message),
    })
    open.add(database)
    return database
  }
  const database = await looking()
  const { cluster } = database.capabilities
  const original = (await admin.query("SELECT pg_get_functiondef('quoin_timeline'::regproc) AS text")).rows[0]
    .text
  const timeline = (number: number) =>
    admin.query(
      `CREATE OR REPLACE FUNCTION quoin_timeline() RETURNS integer LANGUAGE sql STABLE AS $$ SELECT ${number} $$`,
    )
  const joined = (number: number) =>
    expect
      .poll(
        async () =>
          (await admin.query(`SELECT 1 FROM node WHERE name = 'looks' AND timeline = ${number}`)).rows.length,
        {
          timeout: 20_000,
        },
      )
      .toBe(1)
  try {
    // First the change: behind a failover, an acknowledgement takes as long as a lease.
    await admin.query('UPDATE change_counter SET number = number + 1000')
    await cluster?.notify('nothing', [])
    expect([notices, cluster?.wentBack()]).toEqual([[], false])
    await admin.query('UPDATE change_counter SET number = number - 1000')
    await expect.poll(() => notices.length, { timeout: 20_000 }).toBe(1)
    expect(notices[0]).toMatch(/is at change \d+, where this node has seen change \d+/)
    expect(cluster?.wentBack()).toBe(true)
    await database.close()
    await admin.query('DELETE FROM change')
    notices.length = 0
    const later = await looking()
    await timeline(4)
    await joined(4)
    expect([notices, later.capabilities.cluster?.wentBack()]).toEqual([[], false])
    await timeline(3)
    await joined(3)
    expect(later.capabilities.cluster?.wentBack()).toBe(true)
    expect(notices).toEqual([
      expect.stringContaining('is on timeline 3, where this node has seen timeline 4'),
    ])
  } finally {
    await admin.query(original)
    await admin.query('DELETE FROM change')
  }
})

test('changes that wait for one locked document leave connections to what changes others', async () => {
  const database = await node('crowded')
  const name = newName()
  await database.ensure(name)
  const hot = await create(database, name, { n: 0 })
  const change = () => transact(database, (session) => session.update(name, hot, setFields({ by: 'change' })))
  await admin.query('BEGIN')
  const { id } = (await admin.query('SELECT id FROM storage WHERE name = $1', [name])).rows[0]
  await admin.query(`SELECT 1 FROM doc_${id} WHERE guid = $1 FOR UPDATE`, [hot])
  const changes = Array.from({ length: 20 }, change)
  try {
    const waiting =
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    await expect.poll(async () => (await admin.query(waiting)).rows[0].n).toBe(1)
    const others = Array.from({ length: 8 }, () =>
      transact(database, async (session) => {
        const { guid } = documentOf(await session.create(name, setFields({ n: 1 })))._meta as { guid: string }
        return (await session.update(name, guid, setFields({ n: 2 }))).outcome
      }),
    )
    expect(new Set(await Promise.all(others))).toEqual(new Set(['written']))
    expect((await admin.query(waiting)).rows[0].n).toBe(1)
  } finally {
    await admin.query('COMMIT')
  }
  expect(new Set((await Promise.all(changes)).map(({ outcome }) => outcome))).toEqual(new Set(['written']))
  expect(documentOf((await database.session().get(name, hot)) ?? new StoredJson('{}'))).toMatchObject({
    by: 'change',
  })
})

test('a change waits for its turn no longer than its run may take, and the session can go on', async () => {
  const database = await node('patience')
  const name = newName()
  await database.ensure(name)
  const hot = await create(database, name, { n: 0 })
  const cold = await create(database, name, { n: 0 })
  const [first, second] = [database.session(), database.session({ until: Date.now() - 1 })]
  await first.update(name, hot, setFields({ by: 1 }))
  await expect(Promise.resolve(second.update(name, hot, setFields({ by: 2 })))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('changed by others for too long'),
  })
  await second.update(name, cold, setFields({ by: 2 }))
  await second.transaction.commit()
  await first.transaction.commit()
  await transact(database, (session) => session.update(name, hot, setFields({ by: 3 })))
  const stored = await Promise.all([hot, cold].map((guid) => database.session().get(name, guid)))
  expect(stored.map((one) => one && documentOf(one).by)).toEqual([3, 2])
})

test('a change that waits for its turn and is rolled back gives the turn to the next one', async () => {
  const database = await node('turns')
  const name = newName()
  await database.ensure(name)
  const hot = await create(database, name, { n: 0 })
  const [first, second, third] = [database.session(), database.session(), database.session()]
  await first.update(name, hot, setFields({ by: 1 }))
  const late = Promise.resolve(second.update(name, hot, setFields({ by: 2 })))
  const last = Promise.resolve(third.update(name, hot, setFields({ by: 3 })))
  const committed = last.then(() => third.transaction.commit())
  await second.transaction.rollback()
  await first.transaction.commit()
  await expect(late).rejects.toThrow()
  await committed
  expect(documentOf((await database.session().get(name, hot)) ?? new StoredJson('{}'))).toMatchObject({
    by: 3,
  })
})

test('units of two nodes with one turn come one after the other, and none has to begin once more', async () => {
  const first = await node('one')
  const nodes = [first, await node('two')]
  const name = newName()
  await first.ensure(name)
  const guid = await create(first, name, { n: 0 })
  const read = async (session: Session) => {
    const stored = await session.get(name, guid)
    return Number(stored && documentOf(stored).n)
  }
  const add = async (database: Database) => {
    const session = database.session({ unit: { attempt: 1, turn: 'the same' } })
    const n = await read(session)
    await wait(20)
    await session.update(name, guid, setFields({ n: n + 1 }))
    await session.transaction.commit()
  }
  await Promise.all([...nodes, ...nodes].map(add))
  expect(await Promise.all(nodes.map((one) => read(one.session())))).toEqual([4, 4])
})
