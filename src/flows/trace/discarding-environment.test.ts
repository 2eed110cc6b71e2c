import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { setFields } from '../../shared/mutation.ts'
import { discardingEnvironment } from './discarding-environment.ts'

const limits = { deadline: 30_000, budget: 1000, depth: 10 }
let fixture: TestDatabase

beforeEach(async () => {
  fixture = await openTestDatabase()
  await fixture.database.ensure('notes')
})
afterEach(() => fixture.close())

const everything = { kind: 'all' } as const

test('what is written is read by its session only, and is gone afterwards', async () => {
  const { database, discard } = discardingEnvironment({ ...fixture, limits }, 4_000)
  const session = database.session()
  await session.create('notes', setFields({ title: 'first' }))
  await session.transaction.commit()
  expect(await session.count('notes', everything)).toBe(1)
  expect(await fixture.database.session().count('notes', everything)).toBe(0)
  await discard()
  expect(await session.count('notes', everything)).toBe(0)
  expect(await fixture.database.session().count('notes', everything)).toBe(0)
})

test('after it others write at once, however many sessions there were', async () => {
  const { database, discard } = discardingEnvironment({ ...fixture, limits }, 4_000)
  const [one, two] = [database.session(), database.session()]
  await one.create('notes', setFields({ title: 'first' }))
  // On SQLite it waits for the one writer.
  const second = Promise.resolve(two.create('notes', setFields({ title: 'second' }))).catch(() => undefined)
  await discard()
  await second
  await discard()
  const other = fixture.database.session()
  await other.create('notes', setFields({ title: 'kept' }))
  await other.transaction.commit()
  expect(await fixture.database.session().count('notes', everything)).toBe(1)
})

test('values of its cache are its own', () => {
  const [one, two] = [1, 2].map(() => discardingEnvironment({ ...fixture, limits }, 4_000))
  one?.cache.set('key', 'value', 60, 10)
  expect([one?.cache.get('key'), two?.cache.get('key')]).toEqual(['value', undefined])
})

test.each([
  ['a shorter deadline than that of other runs', 2_000, 2_000],
  ['never a longer one', 60_000, 30_000],
])('%s', (_, input, deadline) => {
  expect(discardingEnvironment({ ...fixture, limits }, input).limits).toEqual({ ...limits, deadline })
})
