/** Updates of a session that can begin again: no lock until it commits, and nothing of it is stored where others were faster. */
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { postgresPort } from '../../../../test/postgres/shared-postgres.ts'
import { openTripProxy, type TripProxy } from '../../../../test/postgres/trip-proxy.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { type Mutation, setFields } from '../../../shared/mutation.ts'
import { matchAll } from '../../../shared/query.ts'
import { type Database, documentOf, type Session } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { transact } from '../../transact.ts'
import { SerializationConflict } from '../../unit-of-work.ts'

let temporary: TemporaryDatabase
let proxy: TripProxy
let database: Database
let other: Database
let client: Client
let storage = ''
let storages = 0

beforeAll(async () => {
  temporary = await openTemporaryDatabase(storageTemplate)
  proxy = await openTripProxy(await postgresPort())
  const url = new URL(temporary.url)
  url.port = String(proxy.port)
  database = await openNode(url.href, { listenUrl: temporary.url })
  other = await openNode(temporary.url)
  client = new Client({ connectionString: temporary.url })
  await client.connect()
})
beforeEach(async () => {
  storage = `things_${++storages}`
  await database.ensure(storage)
})
afterAll(async () => {
  await client.end()
  await Promise.all([database.close(), other.close()])
  await proxy.close()
  await temporary.drop()
})

const add: readonly Mutation[] = [{ op: 'increment', field: 'n', amount: 1 }]
const make = (fields: Record<string, string | number> = {}) =>
  transact(database, async (session) =>
    guidOf(documentOf(await session.create(storage, setFields({ n: 1, ...fields })))),
  )
const optimistic = () => database.session({ optimistic: true })
const increment = (session: Session, guid: string) => session.update(storage, guid, add)
async function update(guid: string): Promise<void> {
  const session = optimistic()
  await increment(session, guid)
  await session.transaction.commit()
}

const stored = (guid: string) => transact(other, async (session) => (await session.get(storage, guid))?.value)
const count = () => transact(other, (session) => session.count(storage, matchAll))

/** Another node that has written the document, and has not committed: reads see what was there before. */
async function underWay(work: (session: Session) => unknown): Promise<Session> {
  const session = other.session({})
  await work(session)
  return session
}

describe('a document that another node has changed meanwhile', () => {
  test.each<[string, (session: Session, guid: string) => unknown]>([
    ['updated', increment],
    ['removed', (session, guid) => session.setRemoved(storage, guid, true)],
    ['deleted', (session, guid) => session.delete(storage, guid)],
  ])('%s: the commit says so, and nothing of the session is stored', async (_kind, change) => {
    const guid = await make()
    const changing = await underWay((session) => change(session, guid))
    const session = optimistic()
    await increment(session, guid)
    const created = session.create(storage, setFields({ n: 100 }))
    const committed = Promise.resolve(created).then(() => session.transaction.commit())
    const outcome = expect(committed).rejects.toThrow(SerializationConflict)
    await changing.transaction.commit()
    const [before, documents] = [await stored(guid), await count()]
    await outcome
    expect([await stored(guid), await count()]).toEqual([before, documents])
  })

  test('is told by the next statement where the session goes on', async () => {
    const guid = await make()
    const changing = await underWay((session) => increment(session, guid))
    const session = optimistic()
    await increment(session, guid)
    const counted = expect(Promise.resolve(session.count(storage, matchAll))).rejects.toThrow(
      SerializationConflict,
    )
    await changing.transaction.commit()
    await counted
    await session.transaction.rollback()
    expect(await stored(guid)).toMatchObject({ n: 2 })
  })

  test('an update that goes on where the other one is undone', async () => {
    const guid = await make()
    const changing = await underWay((session) => increment(session, guid))
    const session = optimistic()
    await increment(session, guid)
    const committed = Promise.resolve(session.transaction.commit())
    await changing.transaction.rollback()
    await committed
    expect(await stored(guid)).toMatchObject({ n: 2 })
  })

  test('keeps no session waiting that commits at the same time', async () => {
    const guids = await Promise.all(Array.from({ length: 8 }, () => make()))
    const [first = '', ...others] = guids
    const changing = await underWay((session) => increment(session, first))
    const outcomes = guids.map(update)
    await Promise.all(outcomes.slice(1))
    for (const one of others) expect(await stored(one)).toMatchObject({ n: 2 })
    const refused = expect(outcomes[0]).rejects.toThrow(SerializationConflict)
    await changing.transaction.commit()
    await refused
    expect(await stored(first)).toMatchObject({ n: 2 })
  })
})

test('200 increments of one document on two nodes all count, each session tried again with a lock', async () => {
  const guid = await make()
  const once = async (on: Database, isOptimistic: boolean): Promise<void> => {
    const session = on.session({ optimistic: isOptimistic })
    try {
      await session.update(storage, guid, add)
      await session.transaction.commit()
    } catch (error) {
      await session.transaction.rollback()
      if (!(isOptimistic && error instanceof SerializationConflict)) throw error
      await once(on, false)
    }
  }
  await Promise.all(Array.from({ length: 200 }, (_, at) => once(at % 2 === 0 ? database : other, true)))
  expect(await stored(guid)).toMatchObject({ n: 201 })
})

describe('round trips', () => {
  const trips = async (work: () => unknown): Promise<number> => {
    const before = proxy.trips
    await work()
    return proxy.trips - before
  }

  test('32 updates at once: reads share a trip, and so do commits', async () => {
    const guids = await Promise.all(Array.from({ length: 32 }, () => make()))
    // 64 with locks: two for each.
    expect(await trips(() => Promise.all(guids.map(update)))).toBeLessThan(12)
    for (const guid of guids) expect(await stored(guid)).toMatchObject({ n: 2 })
  })
})

describe('an update that waits for the lock, and counts from what the other one stored', () => {
  const waiting = async () => {
    const asked = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    return (await client.query(asked)).rows[0].count
  }

  async function expectLocked(session: Session, guid: string): Promise<void> {
    const changing = await underWay((one) => increment(one, guid))
    const updated = increment(session, guid)
    await expect.poll(waiting).toBe('1')
    await changing.transaction.commit()
    await updated
    await session.transaction.commit()
    expect(await stored(guid)).toMatchObject({ n: 3 })
  }

  test('of a long document, which is not sent a second time', async () => {
    await expectLocked(optimistic(), await make({ text: 'x'.repeat(10_000) }))
  })

  test('of a storage with a unique index', async () => {
    await database.ensure(storage, { indexes: [{ fields: ['n'], unique: true }] })
    await expectLocked(optimistic(), await make())
  })

  test('behind the first commit of its session', async () => {
    const session = optimistic()
    await increment(session, await make())
    await session.transaction.commit()
    await expectLocked(session, await make())
  })

  test('of a session that has written before', async () => {
    const session = optimistic()
    await session.create(storage, setFields({ n: 7 }))
    await expectLocked(session, await make())
  })
})
