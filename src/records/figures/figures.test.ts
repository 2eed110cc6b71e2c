/** Figures over time, on the engine of the run: recorded, read, added up, bounded, and there after a restart. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { matchAll } from '../../shared/query.ts'
import type { Database } from '../../storage/database.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { addFigures, ensureFigures } from './figure-documents.ts'
import { openFigureRecorder } from './figure-recorder.ts'
import type { Figures } from './figure-row.ts'
import { readFigures } from './read-figures.ts'

let fixture: TestDatabase
/** A full hour. */
const start = Date.UTC(2026, 0, 1) / 1000
beforeEach(async () => {
  fixture = await openTestDatabase()
  await ensureFigures(fixture.database)
})
afterEach(() => fixture.close())

const documents = (database: Database = fixture.database) =>
  database.session().count(systemStorages.figures, matchAll, true)

function recorder(traffic: () => Figures, node = 'one', leads = true, failures: unknown[] = []) {
  return openFigureRecorder({
    ...{ database: fixture.database, clock: fixture.clock, node },
    traffic,
    leads: async () => leads,
    failed: (error) => failures.push(error),
  })
}
const read = (range: 'hour' | 'day' | 'week', until = start + 3_599, node?: string) =>
  readFigures(fixture.database, { range, until, node })

test('what came in each minute is its point, and what came before the start of the node is not', async () => {
  let counted: number[] = []
  const one = recorder(() => counted)
  counted = [10, 2, 1, 4, 1, 0, 10]
  fixture.clock.now += 60_000
  await one.record()
  counted = [15, 2, 1, 4, 1, 0, 12, 0, 3]
  fixture.clock.now += 60_000
  await one.record()
  const { points, nodes, step, from } = await read('hour')
  expect([points.length, nodes, step, from]).toEqual([60, ['one'], 60, start])
  expect(points.slice(0, 3)).toMatchObject([
    { at: start, requests: 10, refused: 2, failed: 1, runs: 4, failed_runs: 1, p50: 1.8 },
    { at: start + 60, requests: 5, refused: 0, failed: 0, runs: 0, p95: 9.6 },
    { at: start + 120, requests: 0, p50: null, p95: null, waiting: 0 },
  ])
  expect((await read('day')).points.at(-6)).toMatchObject({ at: start, requests: 15, failed: 1 })
  expect((await read('week')).points.at(-1)).toMatchObject({ at: start, requests: 15, failed_runs: 1 })
  await one.close()
})

test('a minute in which nothing happened writes nothing', async () => {
  const one = recorder(() => [0, 0, 0])
  fixture.clock.now += 60_000
  await one.record()
  expect(await documents()).toBe(0)
  await one.close()
  expect(await documents()).toBe(0)
})

test('jobs that wait are counted by the leading node only, the most of each step', async () => {
  await transact(fixture.database, async (session) => {
    for (const title of ['a', 'b', 'c'])
      await session.enqueue({
        queue: 'mails',
        kind: 'function',
        title,
        payload: {},
        runAt: fixture.clock.now,
      })
  })
  const [one, other] = [recorder(() => []), recorder(() => [], 'other', false)]
  fixture.clock.now += 60_000
  await Promise.all([one.record(), other.record()])
  expect((await read('hour')).points[0]).toMatchObject({ waiting: 3, running: 0, dead: 0, oldest: 60 })
  fixture.clock.now += 60_000
  await Promise.all([one.record(), other.record()])
  expect((await read('day')).points.at(-6)).toMatchObject({ waiting: 3, oldest: 120 })
  await Promise.all([one.close(), other.close()])
})

test('nodes are added up, two processes of one name too, and each can be read alone', async () => {
  const nodes = [recorder(() => [3]), recorder(() => [5], 'two'), recorder(() => [7], 'two')]
  for (const node of nodes) await node.record()
  expect((await read('hour')).points[0]?.requests).toBe(15)
  expect((await read('hour')).nodes).toEqual(['one', 'two'])
  expect((await read('hour', start + 3_599, 'two')).points[0]?.requests).toBe(12)
  expect((await read('hour', start + 3_599, 'nine')).points[0]?.requests).toBe(0)
  for (const node of nodes) await node.close()
})

test('minutes that were cut by a restart are added up, and a reader that started again takes nothing away', async () => {
  const one = recorder(() => [4])
  await one.close()
  let counted = [6]
  const again = recorder(() => counted)
  await again.record()
  counted = [2]
  await again.record()
  counted = [3]
  await again.record()
  await again.close()
  expect((await read('hour')).points[0]?.requests).toBe(11)
})

test('what could not be stored is in the next minute', async () => {
  const failures: unknown[] = []
  let counted = [4]
  let broken = true
  const one = openFigureRecorder({
    ...{ database: fixture.database, clock: fixture.clock, node: 'one' },
    traffic: () => counted,
    leads: async () => {
      if (broken) throw new Error('no database')
      return true
    },
    failed: (error) => failures.push(error),
  })
  await one.record()
  expect([failures.length, await documents()]).toEqual([1, 0])
  broken = false
  counted = [5]
  fixture.clock.now += 60_000
  await one.record()
  expect((await read('hour')).points[0]?.requests).toBe(5)
  await one.close()
})

test('a week of full minutes has 35 documents at most, and what is older is deleted', async () => {
  const database = fixture.database
  const busy = [9_999, 99, 99, 999, 99, ...Array.from({ length: 15 }, () => 999)]
  for (let hour = 0; hour < 10 * 24; hour += 1) {
    const at = start + hour * 3_600
    fixture.clock.now = at * 1000
    await addFigures({ database, clock: fixture.clock }, at, [[{ kind: 'traffic', node: 'one' }, busy]])
  }
  expect(await documents()).toBeLessThanOrEqual(35)
  const last = start + 10 * 86_400 - 1
  const week = await read('week', last)
  expect(week.points.every(({ requests }) => requests === 9_999)).toBe(true)
  expect((await read('hour', last - 23 * 3_600)).points[0]?.requests).toBe(9_999)
})
