/** Cached counts against fresh ones, while documents are created, changed and deleted, committed or rolled back. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { someSearch, tidyBody, untidyBody } from '../../../../test/arbitrary-documents.ts'
import { openSqliteWorld, type SqliteWorld, someWrite, writingTo } from '../../../../test/sqlite-world.ts'
import { type Search, search } from '../../../shared/query.ts'
import { set } from '../../conformance/expectations.ts'
import { searchDocuments } from '../../conformance/order-documents.ts'
import type { Session } from '../../database.ts'
import { documentsOf } from '../../find-documents.ts'
import { followWrites } from './kept-results.ts'

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
    for (const wanted of searches) await expectSame(session, name, wanted)
    for (const one of steps) {
      if (one.do === 'count') {
        const wanted = searches[one.at % searches.length] ?? search()
        await expectSame(session, name, wanted)
        await expectSame(database.session(), name, wanted)
      } else await write(one)
    }
    await session.transaction.commit()
    for (const wanted of searches) await expectSame(database.session(), name, wanted)
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
  const key = JSON.stringify([{ kind: 'term', field: 'n', value: 1 }, false])
  const known = () => {
    followWrites(parts, entry())
    return entry().counts?.known(key)
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
