/** Searches that may come from the result cache give what the same searches give without it, whatever is written between. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../../test/test-database.ts'
import { isJsonObject } from '../../../shared/json.ts'
import { type Query, search } from '../../../shared/query.ts'
import { documentOf, type Session } from '../../database.ts'

let fixture: TestDatabase
beforeAll(async () => {
  fixture = await openTestDatabase()
  await fixture.database.ensure('other')
})
afterAll(() => fixture.close())

const queries: readonly Query[] = [
  { kind: 'all' },
  { kind: 'term', field: 'n', value: 1 },
  { kind: 'range', field: 'n', bounds: { gte: 2 } },
  { kind: 'not', query: { kind: 'term', field: 'n', value: 0 } },
  { kind: 'simple_query_string', text: '1 2', fields: [] },
]

type Step =
  | { readonly kind: 'create' | 'look'; readonly n: number }
  | { readonly kind: 'change' | 'remove'; readonly n: number; readonly isCommitted: boolean }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('look' as const), n: fc.nat(4) }) },
  fc.record({ kind: fc.constant('create' as const), n: fc.nat(3) }),
  fc.record({
    kind: fc.constantFrom('change' as const, 'remove' as const),
    n: fc.nat(20),
    isCommitted: fc.boolean(),
  }),
)

/** What a session sees: a page, its length and the count. */
async function look(session: Session, name: string, query: Query) {
  const found = await session.find(name, search({ query, limit: 3 }))
  return [found.documents.text, found.length, found.next(), await session.count(name, query)]
}

let storages = 0

test('writes and searches in any order', async () => {
  const { database, clock } = fixture
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 40 }), async (steps) => {
      const name = `things_${++storages}`
      await database.ensure(name)
      const guids: string[] = []
      for (const { kind, n, ...more } of steps) {
        clock.now += 1
        const session = database.session()
        if (kind === 'create') {
          const meta = documentOf(await session.create(name, [{ op: 'set', field: 'n', value: n }]))._meta
          await session.transaction.commit()
          if (isJsonObject(meta)) guids.push(String(meta.guid))
        } else if (kind === 'look') {
          const query = queries[n] ?? { kind: 'all' }
          const cached = await look(session, name, query)
          // A session that has written, if only elsewhere, reads past the cache.
          const uncached = database.session()
          await uncached.create('other', [])
          expect(cached).toEqual(await look(uncached, name, query))
          await uncached.transaction.rollback()
          expect(await look(database.session(), name, query)).toEqual(cached)
        } else {
          const guid = guids[n % Math.max(1, guids.length)] ?? 'none'
          if (kind === 'change')
            await session.update(name, guid, [{ op: 'increment', field: 'n', amount: 1 }])
          else await session.setRemoved(name, guid, true)
          if ('isCommitted' in more && more.isCommitted) await session.transaction.commit()
          else await session.transaction.rollback()
        }
      }
      await database.drop(name)
    }),
    { numRuns: 60 },
  )
})

test('a page stays over a write that cannot have changed it, and no other does', async () => {
  const { database } = fixture
  await database.ensure('carried')
  const ask = (value: number) =>
    database.session().find('carried', search({ query: { kind: 'term', field: 'n', value } }))
  const create = async (n: number) => {
    const session = database.session()
    await session.create('carried', [{ op: 'set', field: 'n', value: n }])
    await session.transaction.commit()
  }
  await create(1)
  const [ones, twos] = [await ask(1), await ask(2)]
  await create(2)
  expect(await ask(1)).toBe(ones)
  expect((await ask(2)).length).toBe(1)
  expect(twos.length).toBe(0)
})

test('a search after a write is not the one from before it', async () => {
  const { database } = fixture
  await database.ensure('control')
  const before = await look(database.session(), 'control', { kind: 'all' })
  const session = database.session()
  await session.create('control', [])
  await session.transaction.commit()
  expect(await look(database.session(), 'control', { kind: 'all' })).not.toEqual(before)
})
