/** Documents that are read at once are read by one statement, and each session gets what it would have got alone. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openNode } from '../../../../test/postgres/open-node.ts'
import { postgresPort } from '../../../../test/postgres/shared-postgres.ts'
import { openTripProxy, type TripProxy } from '../../../../test/postgres/trip-proxy.ts'
import { storageTemplate } from '../../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../../test/temporary-database.ts'
import { setFields } from '../../../shared/mutation.ts'
import { type Database, documentOf } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { transact } from '../../transact.ts'

let temporary: TemporaryDatabase
let proxy: TripProxy
let database: Database
let guids: readonly string[]
let other = ''
let gone = ''

beforeAll(async () => {
  temporary = await openTemporaryDatabase(storageTemplate)
  proxy = await openTripProxy(await postgresPort())
  const url = new URL(temporary.url)
  url.port = String(proxy.port)
  database = await openNode(url.href, { listenUrl: temporary.url })
  for (const name of ['things', 'others']) await database.ensure(name)
  const create = (storage: string, n: number) =>
    transact(database, async (session) => guidOf(documentOf(await session.create(storage, setFields({ n })))))
  guids = await Promise.all(Array.from({ length: 200 }, (_, n) => create('things', n)))
  other = await create('others', -1)
  gone = await create('things', -2)
  await transact(database, (session) => session.setRemoved('things', gone, true))
  // Opens the connections that the largest of the reads below needs.
  await read(guids.map((guid) => ['things', guid] as const))
})
afterAll(async () => {
  await database.close()
  await proxy.close()
  await temporary.drop()
})

/** What each of these gets, all asked for in one turn. */
async function read(requested: readonly (readonly [storage: string, guid: string, removed?: boolean])[]) {
  const before = proxy.trips
  const read = requested.map(([storage, guid, removed = false]) =>
    database.session().get(storage, guid, { removed }),
  )
  const reported = await Promise.allSettled(read)
  const values = reported.map((one) =>
    one.status === 'rejected' ? 'refused' : one.value && documentOf(one.value).n,
  )
  return { values, trips: proxy.trips - before }
}

test('a guid that PostgreSQL refuses fails alone', async () => {
  const { values } = await read([
    ['things', guids[0] ?? ''],
    ['things', 'a\u0000b'],
    ['things', guids[1] ?? ''],
  ])
  expect(values).toEqual([0, 'refused', 1])
})

test('what is not there, quotes, another storage, removed or not, one document twice', async () => {
  const { values } = await read([
    ['things', guids[7] ?? ''],
    ['things', 'none'],
    ['things', '{"a\\b",NULL}'],
    ['things', ''],
    ['others', other],
    ['others', guids[7] ?? ''],
    ['things', gone],
    ['things', gone, true],
    ['things', guids[7] ?? ''],
  ])
  expect(values).toEqual([7, undefined, undefined, undefined, -1, undefined, undefined, -2, 7])
})

test.each([
  [1, 1],
  [2, 1],
  [64, 1],
  [65, 2],
  [200, 4],
])('%i documents at once: %i trips', async (count, trips) => {
  const reported = await read(guids.slice(0, count).map((guid) => ['things', guid] as const))
  expect(reported).toEqual({ values: guids.slice(0, count).map((_, n) => n), trips })
})

test('forty large documents at once, which are not all given in one turn of the event loop', async () => {
  const large = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      transact(database, async (session) =>
        guidOf(documentOf(await session.create('others', setFields({ n, text: 'x'.repeat(50_000) })))),
      ),
    ),
  )
  const times: number[] = []
  let turns = 0
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const values = await Promise.all(
    large.map(async (guid) => {
      const document = await database.session().get('others', guid)
      times.push(turns)
      return document && documentOf(document).n
    }),
  )
  isOver = true
  expect(values).toEqual(large.map((_, n) => n))
  // 2 MB of texts, and a quarter of a megabyte in each turn.
  expect(new Set(times).size).toBeGreaterThan(5)
})

test('a session that has written reads what it has written', async () => {
  const [guid = ''] = guids
  const session = database.session()
  await session.update('things', guid, setFields({ n: 'changed' }))
  const [own, committed] = await Promise.all([
    session.get('things', guid),
    database.session().get('things', guid),
  ])
  expect([own, committed].map((document) => document && documentOf(document).n)).toEqual(['changed', 0])
  await session.transaction.rollback()
})

test('a storage that is dropped meanwhile is not there for each that reads', async () => {
  const second = await openNode(temporary.url, { node: 'two' })
  try {
    await database.ensure('short')
    await second.drop('short')
    const reads = ['a', 'b'].map(async (guid) => database.session().get('short', guid))
    for (const one of await Promise.allSettled(reads)) expect(one.status).toBe('rejected')
  } finally {
    await second.close()
  }
})
