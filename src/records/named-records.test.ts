import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/test-database.ts'
import { setFields } from '../shared/mutation.ts'
import { guidOf } from '../storage/document-fields.ts'
import { transact } from '../storage/transact.ts'
import { TransparentSession, wrappedDatabase } from '../storage/wrapped-session.ts'
import { openNamedRecords } from './named-records.ts'

const by = { guid: '', username: 'ada' }
const kind = { storage: '_environment', noun: 'value of the environment', most: 10 }

let fixture: TestDatabase
beforeEach(async () => {
  fixture = await openTestDatabase()
})
afterEach(() => fixture.close())

test('what is committed is shown where it cannot be read behind that, and read again at the next use', async () => {
  let [fails, reads] = [false, 0]
  class FailingSession extends TransparentSession {
    override get(...requested: Parameters<TransparentSession['get']>) {
      reads += 1
      // The record is read in the transaction that changes it too.
      if (fails && this.origin.user === undefined) throw new Error('The database is away.')
      return super.get(...requested)
    }
  }
  const { database } = fixture
  const session = (origin?: Parameters<typeof database.session>[0]) =>
    new FailingSession(database.session(origin))
  const records = await openNamedRecords(wrappedDatabase(database, { session }), kind)
  const shown = () => Object.fromEntries([...records.present()].map(([name, { value }]) => [name, value]))
  const first = guidOf(await records.create({ name: 'FIRST', value: 1 }, by))
  const second = guidOf(await records.create({ name: 'SECOND', value: 1 }, by))
  fails = true
  expect(await records.create({ name: 'THIRD', value: 1 }, by)).toMatchObject({ name: 'THIRD' })
  expect(await records.update(first, () => ({ value: 2 }), by)).toMatchObject({ value: 2 })
  await records.remove(second, by)
  const written = { FIRST: 2, THIRD: 1 }
  expect(shown()).toEqual(written)
  // Not told to these records: only a second read can show it.
  await transact(database, (other) => other.update(kind.storage, first, setFields({ value: 3 })))
  expect(shown()).toEqual(written)
  fails = false
  await expect.poll(() => records.present().get('FIRST')?.value).toBe(3)
  expect(shown()).toEqual({ ...written, FIRST: 3 })
  const before = reads
  shown()
  await records.get(first)
  expect(reads).toBe(before + 1)
  records.close()
})

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
