import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/test-database.ts'
import { matchAll, search } from '../shared/query.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { openSystemLog } from './system-log.ts'

let fixture: TestDatabase
beforeEach(async () => {
  fixture = await openTestDatabase()
})
afterEach(() => fixture.close())

const records = async () =>
  (
    await fixture.database
      .session()
      .find(
        systemStorages.systemLogs,
        search({ sort: [{ field: '_meta.cms', order: 'asc', missing: 'last' }] }),
      )
  ).documents.value

test('what is written is stored by the next flush, in order', async () => {
  const log = await openSystemLog(fixture.database)
  log.write({
    level: 'info',
    message: 'one',
    run: 'r',
    blueprint: 'b',
    block: 'k',
    pin: 'p',
    value: { n: 1 },
  })
  log.write({ level: 'error', message: 'two' })
  await log.flush()
  expect(await records()).toMatchObject([
    { level: 'info', message: 'one', run: 'r', blueprint: 'b', block: 'k', pin: 'p', value: { n: 1 } },
    { level: 'error', message: 'two' },
  ])
  await log.close()
})

test('what cannot be stored as it is, is stored as far as it can be', async () => {
  const log = await openSystemLog(fixture.database)
  log.write({ level: 'info', message: `a\u0000\ud800${'x'.repeat(10_000)}`, value: 'y'.repeat(10_000) })
  await log.close()
  const all = await records()
  const record = Array.isArray(all) ? all[0] : undefined
  expect(record).toMatchObject({ message: expect.stringMatching(/^a\ufffd\ufffdx+…$/) })
  expect(record).not.toHaveProperty('value')
})

test('a flood is cut, and the log says how much is missing', async () => {
  const log = await openSystemLog(fixture.database)
  for (let i = 0; i < 10_050; i++) log.write({ level: 'info', message: 'flood' })
  await log.flush()
  await log.close()
  const count = await fixture.database.session().count(systemStorages.systemLogs, matchAll)
  expect(count).toBe(10_001)
  const lost = { kind: 'term', field: 'level', value: 'warn' } as const
  const found = await fixture.database.session().find(systemStorages.systemLogs, search({ query: lost }))
  expect(found.documents.value).toMatchObject([
    { message: expect.stringMatching(/^50 log entries were lost/) },
  ])
})
