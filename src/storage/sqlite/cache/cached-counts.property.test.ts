/** Cached counts against fresh ones, while documents are created, changed and deleted, committed or rolled back. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { someSearch, tidyBody, untidyBody } from '../../../../test/arbitrary-documents.ts'
import { metaOf, set } from '../../../../test/conformance/expectations.ts'
import { searchDocuments } from '../../../../test/conformance/order-documents.ts'
import { openSqliteWorld, type SqliteWorld, someWrite, writingTo } from '../../../../test/sqlite-world.ts'
import { type Query, type Search, search } from '../../../shared/query.ts'
import type { Session } from '../../database.ts'
import { documentsOf } from '../../find-documents.ts'
import { followWrites } from '../core/sqlite-catalogue.ts'
import { CachedCounts } from './cached-counts.ts'

let world: SqliteWorld
beforeAll(async () => {
  world = await openSqliteWorld()
})
afterAll(() => world.close())

const step = fc.oneof(
  { arbitrary: someWrite(fc.oneof(tidyBody, untidyBody)), weight: 6 },
  { arbitrary: fc.record({ do: fc.constant('count' as const), at: fc.nat() }), weight: 4 },
)

const everything = search({ limit: 10_000, includeRemoved: true })

async function expectSame(session: Session, name: string, { query, includeRemoved }: Search): Promise<void> {
  const all = documentsOf(await session.find(name, everything))
  const expected = searchDocuments(all, search({ query, includeRemoved, limit: 10_000 })).length
  expect(await session.count(name, query, includeRemoved)).toBe(expected)
}

let count = 0

const property = fc.asyncProperty(
  fc.array(someSearch, { minLength: 1, maxLength: 4 }),
  fc.array(step, { minLength: 5, maxLength: 30 }),
  async (searches, steps) => {
    const { database } = world
    const name = `counted_${count++}`
    await database.ensure(name)
    const session = database.session()
    const write = writingTo(session, name)
    for (const requested of searches) await expectSame(session, name, requested)
    for (const one of steps) {
      if (one.do === 'count') {
        const requested = searches[one.at % searches.length] ?? search()
        await expectSame(session, name, requested)
        await expectSame(database.session(), name, requested)
      } else await write(one)
    }
    await session.transaction.commit()
    for (const requested of searches) await expectSame(database.session(), name, requested)
    await database.drop(name)
  },
)

test('a count equals a fresh count, for each session and after any writes', async () => {
  await fc.assert(property, { numRuns: 200 })
})

test('a count is kept: after a write it is not counted again', async () => {
  const { parts, database } = world
  await database.ensure('kept')
  const session = database.session()
  const ask = () => database.session().count('kept', { kind: 'term', field: 'n', value: 1 })
  const entry = () => parts.catalogue.entry('kept')
  const known = () => {
    followWrites(parts, entry())
    return entry().counts?.known({ query: { kind: 'term', field: 'n', value: 1 }, includeRemoved: false })
  }
  for (const n of [1, 1, 2]) await session.create('kept', set({ n }))
  await session.transaction.commit()
  expect(ask()).toBe(2)
  await session.create('kept', set({ n: 1 }))
  await session.transaction.commit()
  expect(known()).toBe(3)
  // Too many documents to compare one by one: counted again, and right.
  for (let n = 0; n < 300; n++) await session.create('kept', set({ n: 1 }))
  await session.transaction.commit()
  expect(known()).toBeUndefined()
  expect(ask()).toBe(303)
})

test('counts of hundreds of queries are kept until a write, and of those the last 32 are corrected by it', () => {
  const counts = new CachedCounts()
  const numbers = Array.from({ length: 300 }, (_, value) => value)
  const requested = (value: number) => ({
    query: { kind: 'term', field: 'n', value } as const,
    includeRemoved: false,
  })
  const known = () => numbers.filter((value) => counts.known(requested(value)) === 7)
  for (const value of numbers) counts.keep(requested(value), 7)
  expect(known()).toEqual(numbers)
  const created = { before: undefined, now: { _meta: { removed: 0 }, n: 299 } }
  counts.follow([created])
  expect(known()).toEqual(numbers.slice(-32, -1))
  expect(counts.known(requested(299))).toBe(8)
  for (const value of Array(1_000).keys()) counts.keep(requested(value), 7)
  expect(known()).toEqual([])
})

test('how often a count was kept is told with the searches', async () => {
  const { database, parts } = world
  await database.ensure('told')
  const before = { ...parts.results.uses }
  for (let asked = 0; asked < 3; asked++) await database.session().count('told', { kind: 'all' })
  const { hits, misses } = parts.results.uses
  expect([hits - before.hits, misses - before.misses]).toEqual([2, 1])
})

test('while the cache is behind what is committed a count is right, whether it was kept before or is new', async () => {
  const { database } = world
  await database.ensure('behind')
  const ones = { kind: 'term', field: 'n', value: 1 } as const
  const all = { kind: 'all' } as const
  const counts = (queries: readonly Query[]) =>
    queries.map((query) => database.session().count('behind', query))
  expect(counts([ones])).toEqual([0])
  const [session, other] = [database.session(), database.session()]
  // After the second commit without a search in between the cache is not checked, and then another one writes.
  for (const _ of [1, 2]) {
    await session.create('behind', set({ n: 1 }))
    await session.transaction.commit()
  }
  await other.create('behind', set({ n: 1 }))
  expect(counts([ones, all])).toEqual([2, 2])
  await other.transaction.commit()
  expect(counts([ones, all])).toEqual([3, 3])
})

test('a count that leads into another storage is not kept', async () => {
  const { database } = world
  const customer = { kind: 'term', field: 'city', value: 'Graz' } as const
  const ofGraz = { kind: 'through', field: 'customer', storage: 'customers', query: customer } as const
  for (const name of ['orders', 'customers']) await database.ensure(name)
  const session = database.session()
  const { guid } = metaOf(await session.create('customers', set({ city: 'Linz' })))
  await session.create('orders', set({ customer: guid }))
  await session.transaction.commit()
  expect(database.session().count('orders', ofGraz)).toBe(0)
  await session.update('customers', guid, set({ city: 'Graz' }))
  await session.transaction.commit()
  expect(database.session().count('orders', ofGraz)).toBe(1)
})
