import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll } from '../../shared/query.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { openRetention, type RetentionParts } from './retention.ts'

const { systemLogs, userLogs, runs, history, auditLogs } = systemStorages
const DAY = 86_400
const all = [systemLogs, userLogs, runs, history, auditLogs]

let fixture: TestDatabase
let said: unknown[] = []
beforeEach(async () => {
  said = []
  fixture = await openTestDatabase()
  for (const name of [...all, 'tasks']) await fixture.database.ensure(name)
})
afterEach(() => fixture.close())

async function create(count: number): Promise<void> {
  await transact(fixture.database, async (session) => {
    for (const name of [...all, 'tasks'])
      for (let n = 0; n < count; n += 1) await session.create(name, setFields({ n }))
  })
}
const counts = () =>
  Promise.all([...all, 'tasks'].map((name) => fixture.database.session().count(name, matchAll, true)))
const open = (more: Partial<RetentionParts>) =>
  openRetention({
    ...{ database: fixture.database, clock: fixture.clock, leads: async () => true },
    log: { write: (entry) => void said.push(entry) },
    retainedFor: () => ({ logs: 30 * DAY, runs: DAY, history: 0, removed: 0 }),
    ...more,
  })

test('records are deleted at their age, in batches, and the audit log, documents and records without a limit stay', async () => {
  const retention = open({})
  await create(250)
  fixture.clock.now += (DAY - 1) * 1000
  expect(await retention.run()).toBe(0)
  await create(1)
  fixture.clock.now += 1000
  expect(await retention.run()).toBe(250)
  expect(await counts()).toEqual([251, 251, 1, 251, 251, 251])
  fixture.clock.now += 29 * DAY * 1000
  expect(await retention.run()).toBe(501)
  expect(await counts()).toEqual([1, 1, 0, 251, 251, 251])
  await retention.close()
})

test('a change counts for what is stored already', async () => {
  let kept = { logs: 0, runs: 0, history: 0, removed: 0 }
  const retention = open({ retainedFor: () => kept })
  await create(3)
  fixture.clock.now += 100 * DAY * 1000
  expect(await retention.run()).toBe(0)
  kept = { ...kept, logs: 101 * DAY, history: 100 * DAY }
  expect(await retention.run()).toBe(3)
  expect(await counts()).toEqual([3, 3, 3, 0, 3, 3])
  kept = { ...kept, logs: 100 * DAY, history: 0 }
  expect(await retention.run()).toBe(6)
  await retention.close()
})

test('one node of a cluster does it, and a failure is logged and ends nothing', async () => {
  await create(1)
  fixture.clock.now += 100 * DAY * 1000
  const other = open({ leads: async () => false })
  expect(await other.run()).toBe(0)
  let fails = true
  const retention = open({
    leads: async () => {
      if (fails) throw new Error('no connection')
      return true
    },
  })
  expect(await retention.run()).toBe(0)
  expect(said).toMatchObject([{ level: 'error', message: 'Old records could not be deleted: no connection' }])
  fails = false
  expect(await retention.run()).toBe(3)
  await other.close()
  await retention.close()
})

test('it looks by itself, until it is closed', async () => {
  await create(1)
  fixture.clock.now += 100 * DAY * 1000
  const retention = open({ every: 1 })
  await expect.poll(counts).toEqual([0, 0, 0, 1, 1, 1])
  await retention.close()
  await create(1)
  fixture.clock.now += 100 * DAY * 1000
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(await counts()).toEqual([1, 1, 1, 2, 2, 2])
})
