import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/test-database.ts'
import { setFields } from '../shared/mutation.ts'
import { search } from '../shared/query.ts'
import { transact } from './transact.ts'

// What an engine says of itself changes with what is done to it.

let fixture: TestDatabase
beforeAll(async () => {
  fixture = await openTestDatabase()
  await fixture.database.ensure('things')
})
afterAll(() => fixture.close())

const write = (text: string) =>
  transact(fixture.database, async (session) => {
    await session.create('things', setFields({ text }))
  })

test('writes raise commits and size', async () => {
  const before = await fixture.database.capabilities.figures()
  for (let n = 0; n < 40; n += 1) await write('x'.repeat(50_000) + String(Math.random()))
  // PostgreSQL tells its statistics after a second.
  await expect
    .poll(async () => (await fixture.database.capabilities.figures()).commits - before.commits, {
      timeout: 20_000,
    })
    .toBeGreaterThanOrEqual(40)
  const { sizeBytes, logBytes } = await fixture.database.capabilities.figures()
  expect(sizeBytes + (logBytes ?? 0)).toBeGreaterThan(before.sizeBytes)
  expect(logBytes).toBeGreaterThan(0)
})

test('searches are found in the cache the second time', async () => {
  const before = (await fixture.database.capabilities.figures()).cache
  for (let n = 0; n < 20; n += 1) await fixture.database.session().find('things', search({ limit: 3 }))
  await expect
    .poll(async () => (await fixture.database.capabilities.figures()).cache.hits - before.hits, {
      timeout: 20_000,
    })
    .toBeGreaterThanOrEqual(19)
})

test('a connection that a transaction holds is busy, where there is a pool', async () => {
  const { connections } = await fixture.database.capabilities.figures()
  if (connections === null) return
  const session = fixture.database.session()
  await session.create('things', setFields({ text: 'held' }))
  const held = (await fixture.database.capabilities.figures()).connections
  expect(held?.busy).toBeGreaterThanOrEqual(connections.busy + 1)
  expect(held?.most).toBeGreaterThanOrEqual(held?.busy ?? 0)
  await session.transaction.rollback()
})
