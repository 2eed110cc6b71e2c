import { afterEach, beforeEach, expect, test } from 'vitest'
import type { TestDatabase } from '../../test/test-database.ts'
import { openTestDatabase } from '../../test/test-database.ts'
import { search } from '../shared/query.ts'
import { documentOf } from '../storage/database.ts'
import { guidOf } from '../storage/document-fields.ts'
import { documentsOf } from '../storage/find-documents.ts'
import { transact } from '../storage/transact.ts'
import { deleteExpired } from './identify.ts'

let temporary: TestDatabase
beforeEach(async () => {
  temporary = await openTestDatabase()
  await temporary.database.ensure('_counters', { indexes: [{ fields: ['until'] }] })
})
afterEach(() => temporary.close())

async function add(...untils: number[]) {
  return transact(temporary.database, async (session) => {
    const guids: string[] = []
    for (const value of untils) {
      const made = await session.create('_counters', [{ op: 'set', field: 'until', value }])
      guids.push(guidOf(documentOf(made)))
    }
    return guids
  })
}

async function left() {
  const found = await temporary.database.session().find('_counters', search({ limit: 1000 }))
  return documentsOf(found)
    .map(({ until }) => Number(until))
    .toSorted((a, b) => a - b)
}

test('what is over goes, what is not stays', async () => {
  await add(10, 99, 100, 101, 500)
  await deleteExpired(temporary.database, '_counters', 'until', 100)
  expect(await left()).toEqual([101, 500])
})

test('at most 50 at a time, the oldest first', async () => {
  await add(...Array.from({ length: 60 }, (_, index) => 60 - index))
  await deleteExpired(temporary.database, '_counters', 'until', 100)
  expect(await left()).toEqual(Array.from({ length: 10 }, (_, index) => 51 + index))
})

test('a record restarted since it was found stays', async () => {
  const [, begunAnew] = await add(10, 20)
  // SQLite reads and writes at once: what is over has been found when this first waits.
  const deleting = deleteExpired(temporary.database, '_counters', 'until', 100)
  const session = temporary.database.session()
  session.update('_counters', begunAnew ?? '', [{ op: 'set', field: 'until', value: 900 }])
  await session.transaction.commit()
  await deleting
  expect(await left()).toContain(900)
})
