import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/test-database.ts'
import { search } from '../shared/query.ts'
import { batchedLog, logText, storedLater } from './batched-log.ts'

let fixture: TestDatabase
beforeEach(async () => {
  fixture = await openTestDatabase()
})
afterEach(() => fixture.close())

const open = () =>
  batchedLog<number>({
    database: fixture.database,
    name: '_log',
    recordOf: (n) => ({ n }),
    lost: (count) => -count,
  })

async function numbers(): Promise<unknown[]> {
  const sort = [{ field: '_meta.cms', order: 'asc', missing: 'last' }] as const
  const found = await fixture.database.session().find('_log', search({ sort, limit: 10_000 }))
  const records = Array.isArray(found.documents.value) ? found.documents.value : []
  return records.map((record) =>
    typeof record === 'object' && record !== null && 'n' in record ? record.n : 0,
  )
}

test('entries are stored in order, by flush and by close', async () => {
  await fixture.database.ensure('_log')
  const log = open()
  for (let n = 1; n <= 1_200; n++) log.write(n)
  await log.flush()
  expect(await numbers()).toEqual(Array.from({ length: 1_200 }, (_, i) => i + 1))
  log.write(1_201)
  await log.close()
  expect((await numbers()).at(-1)).toBe(1_201)
})

test('what cannot be stored is counted, and the count is stored when it can be', async () => {
  const log = open()
  log.write(1)
  log.write(2)
  // There is no such storage yet.
  await expect(log.flush()).resolves.toBeUndefined()
  await fixture.database.ensure('_log')
  log.write(3)
  await log.close()
  expect((await numbers()).sort()).toEqual([-2, 3])
})

test('what cannot be stored later ends no process, and the next is stored', async () => {
  let [tries, stored] = [0, 0]
  const later = storedLater(async () => {
    tries += 1
    if (tries === 1) throw new Error('no disk')
    stored += 1
  }, 1)
  later.ask()
  await expect.poll(() => tries).toBe(1)
  await later.flush()
  expect([tries, stored]).toEqual([2, 1])
})

test.each([
  ['as it is', 'as it is'],
  ['a\u0000b\ud800', 'a\ufffdb\ufffd'],
  ['x'.repeat(8_193), `${'x'.repeat(8_192)}…`],
])('the text %j is kept as far as a record can hold it', (input, kept) => {
  expect(logText(input)).toBe(kept)
})

test('what is the same within a batch is one record', async () => {
  await fixture.database.ensure('_log')
  const log = batchedLog<{ readonly n: number; readonly times: number }>({
    database: fixture.database,
    name: '_log',
    recordOf: ({ n, times }) => ({ n: n * 1_000 + times }),
    lost: (count) => ({ n: -1, times: count }),
    repeated: {
      keyOf: ({ n }) => String(n),
      both: (earlier, later) => ({ ...earlier, times: earlier.times + later.times }),
    },
  })
  for (const n of [1, 2, 1, 1, 3]) log.write({ n, times: 1 })
  await log.flush()
  expect(await numbers()).toEqual([1_003, 2_001, 3_001])
  // The next batch is counted from zero.
  log.write({ n: 1, times: 1 })
  await log.close()
  expect(await numbers()).toEqual([1_003, 2_001, 3_001, 1_001])
})
