/** How often a request goes to PostgreSQL and back, counted on the wire: with the database far away nothing else counts. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { postgresPort } from '../../../../test/postgres/shared-postgres.ts'
import { openTripProxy, type TripProxy } from '../../../../test/postgres/trip-proxy.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { setFields } from '../../../shared/mutation.ts'
import { matchAll, search } from '../../../shared/query.ts'
import { createAll } from '../../create-all.ts'
import { type Database, documentOf, type Session } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { changeDocuments } from '../../many/change-documents.ts'
import { transact } from '../../transact.ts'

let temporary: TemporaryDatabase
let proxy: TripProxy
let database: Database

beforeAll(async () => {
  temporary = await openTemporaryDatabase(storageTemplate)
  proxy = await openTripProxy(await postgresPort())
  const url = new URL(temporary.url)
  url.port = String(proxy.port)
  // Messages and the lease go past the proxy, so that only statements are counted.
  database = await openNode(url.href, { listenUrl: temporary.url })
  await database.ensure('plain')
  await database.ensure('unique', { indexes: [{ fields: ['name'], unique: true }] })
  await database.ensure('keyed')
  const key = { name: 'name', fields: [{ name: 'name', ignoreCase: true, ignoreAccents: false }] }
  expect(await database.capabilities.uniqueValues.keep('keyed', key)).toBeUndefined()
})
afterAll(async () => {
  await database.close()
  await proxy.close()
  await temporary.drop()
})

let names = 0
const fields = () => setFields({ name: `name ${++names}`, n: 1 })
const increment = [{ op: 'increment', field: 'n', amount: 1 }] as const

/** One document of each storage that is there before. */
async function make(storage: string): Promise<string> {
  return transact(database, async (session) => guidOf(documentOf(await session.create(storage, fields()))))
}

type Work = (session: Session, guid: string, storage: string) => unknown

const read: Work = (session, guid, storage) => session.get(storage, guid)
const list: Work = (session, _guid, storage) => session.find(storage, search({}))
const create: Work = (session, _guid, storage) => session.create(storage, fields())
const update: Work = (session, guid, storage) => session.update(storage, guid, increment)
const remove: Work = (session, guid, storage) => session.setRemoved(storage, guid, true)
const erase: Work = (session, guid, storage) => session.delete(storage, guid)
const miss: Work = (session, _guid, storage) => session.update(storage, 'none', increment)
const twice: Work = async (session, guid, storage) => {
  await create(session, guid, storage)
  await create(session, guid, storage)
}
const createAndRead: Work = async (session, guid, storage) => {
  await create(session, guid, storage)
  await read(session, guid, storage)
}
const many: Work = (session, _guid, storage) =>
  createAll(
    session,
    storage,
    Array.from({ length: 20 }, () => ({ mutations: fields() })),
  )

test.each<readonly [string, string, number, Work]>([
  ['a read', 'plain', 1, read],
  ['a list', 'plain', 1, list],
  ['a create', 'plain', 1, create],
  ['a create with a unique index', 'unique', 2, create],
  ['a create with a unique key', 'keyed', 2, create],
  ['two creates', 'plain', 1, twice],
  ['a create and a read of another document', 'plain', 2, createAndRead],
  ['twenty creates at once', 'plain', 2, many],
  ['an increment', 'plain', 2, update],
  ['an increment with a unique index', 'unique', 3, update],
  ['an increment of a storage with a unique key', 'keyed', 2, update],
  ['an update of a document that is not there', 'plain', 2, miss],
  ['a soft delete', 'plain', 2, remove],
  ['a delete', 'plain', 2, erase],
])('%s, storage %s: %i', async (_name, storage, trips, work) => {
  // The connections are open, and were used just now.
  const guid = await make(storage)
  const again = await make(storage)
  await transact(database, (session) => work(session, guid, storage))
  const before = proxy.trips
  await transact(database, (session) => work(session, again, storage))
  expect(proxy.trips - before).toBe(trips)
})

test('a create and a job: 1, and 1 that tells the other nodes of the job, which nothing waits for', async () => {
  await make('plain')
  const before = proxy.trips
  await transact(database, async (session) => {
    await session.create('plain', fields())
    await session.enqueue({ queue: 'default', kind: 'event', title: 'test', payload: {} })
  })
  await expect.poll(() => proxy.trips - before).toBe(2)
})

/** Each took a trip of its own before. The work rests every 10 ms, and what it has written by then is a trip more. */
test.each(['update', 'remove', 'delete'] as const)('%s of thirty documents by one change', async (kind) => {
  const guids: string[] = []
  for (let at = 0; at < 30; at++) guids.push(await make('plain'))
  const before = proxy.trips
  const of = { storage: 'plain', query: matchAll, includeRemoved: false, mutations: increment } as const
  const changed = await transact(database, (session) =>
    changeDocuments(session, { ...of, kind }, guids, (_, error) => {
      throw error
    }),
  )
  expect(changed).toBe(30)
  // A delete gives back what was deleted.
  expect(proxy.trips - before).toBeLessThan(kind === 'delete' ? 35 : 15)
})

// Texts in lists are escaped, long ones in another way.
test.each(['"', '\\', '\n', 'é"', '👍\\"', '{},NULL'])(
  'a document of many %j is stored as it is',
  async (part) => {
    const texts = [70, 65_500, 65_536, 140_000].map((length) => part.repeat(length / part.length))
    const guids = await transact(database, async (session) => {
      const news = texts.map((text) => ({ mutations: setFields({ name: `name ${++names}`, text }) }))
      return (await createAll(session, 'plain', news)).documents.map((one) => guidOf(documentOf(one)))
    })
    const stored: unknown[] = []
    for (const guid of guids) {
      const found = await database.session().get('plain', guid)
      stored.push(found && documentOf(found).text === texts[stored.length])
    }
    expect(stored).toEqual(texts.map(() => true))
  },
)
