import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/test-database.ts'
import { TransparentSession, wrappedDatabase } from '../storage/wrapped-session.ts'
import { openNamedRecords } from './named-records.ts'

const by = { guid: '', username: 'ada' }
const kind = { storage: '_environment', noun: 'value of the environment', most: 10 }

let fixture: TestDatabase
beforeEach(async () => {
  fixture = await openTestDatabase()
})
afterEach(() => fixture.close())

test('a read that fails leaves what was known, also for the changes behind it', async () => {
  let fails = false
  class FailingSession extends TransparentSession {
    override find(...search: Parameters<TransparentSession['find']>) {
      if (fails) throw new Error('The database is away.')
      return super.find(...search)
    }
  }
  const { database } = fixture
  const session = (origin?: Parameters<typeof database.session>[0]) =>
    new FailingSession(database.session(origin))
  const records = await openNamedRecords(wrappedDatabase(database, { session }), kind)
  const names = () => [...records.present().keys()]
  await records.create({ name: 'FIRST' }, by)
  await records.create({ name: 'SECOND' }, by)
  fails = true
  await expect(records.refresh()).rejects.toThrow('The database is away.')
  expect(names()).toEqual(['FIRST', 'SECOND'])
  await records.create({ name: 'THIRD' }, by)
  expect(names()).toEqual(['FIRST', 'SECOND', 'THIRD'])
  fails = false
  await records.refresh()
  expect(names()).toEqual(['FIRST', 'SECOND', 'THIRD'])
  records.close()
})
