import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/test-database.ts'
import { ensureLimits, limitCounts } from '../records/limits/limit-counts.ts'
import { openBudgets } from './agents.ts'

let fixture: TestDatabase
beforeEach(async () => {
  fixture = await openTestDatabase()
  await ensureLimits(fixture.database)
})
afterEach(() => fixture.close())

/** A node: its counts are in the database that all share. */
const node = () => openBudgets(() => fixture.clock.now, limitCounts(fixture))

test('a key makes 300 changes an hour on all nodes together, and other keys are not affected', async () => {
  const nodes = [node(), node(), node()]
  const answers = await Promise.all(Array.from({ length: 310 }, (_, at) => nodes[at % 3]?.change('key')))
  expect(answers.filter((refused) => refused === undefined)).toHaveLength(300)
  expect(answers.find((refused) => refused !== undefined)).toContain('300 changes within an hour')
  expect(await node().change('key')).toContain('300 changes within an hour')
  expect(await node().change('other')).toBeUndefined()
  fixture.clock.now += 3_600_000
  expect(await node().change('key')).toBeUndefined()
})

test('a clock that is set back by a day keeps no API key waiting for that day', async () => {
  const { call, change, ended } = node()
  const calls = (count: number) => {
    for (let at = 0; at < count; at++) call('key')
  }
  calls(120)
  expect(() => call('key')).toThrow('120 messages a minute')
  for (let at = 0; at < 300; at++) expect(await change('key')).toBeUndefined()
  expect(await change('key')).toContain('300 changes within an hour')
  for (let at = 0; at < 10; at++) ended('key', true)
  fixture.clock.now -= 86_400_000
  calls(120)
  expect(() => call('key')).toThrow('120 messages a minute')
  expect(await change('key')).toContain('Retry in 3600 s')
  fixture.clock.now += 3_600_000
  expect(await change('key')).toBeUndefined()
  for (let at = 0; at < 10; at++) ended('key', true)
  expect(await change('key')).toContain('changes were refused')
})
