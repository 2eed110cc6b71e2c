/** Times of sampled runs on the engine of the run: added up, bounded, and of the version that is asked for. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { matchAll } from '../../shared/query.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import type { PlainTimes } from './sample.ts'
import { ensureSamples, readTimes, storeTimes } from './samples.ts'

let fixture: TestDatabase
beforeEach(async () => {
  fixture = await openTestDatabase()
  await ensureSamples(fixture.database)
})
afterEach(() => fixture.close())

const HOUR = 3_600_000
const times = (deployment: number, ...pairs: [number, number][]): PlainTimes => ({
  ...{ blueprint: 'shop', deployment, runs: 1 },
  blocks: [['a', pairs]],
})
const store = (one: PlainTimes) => storeTimes(fixture.database, fixture.clock, one)
const read = async (deployment: number) => {
  const of = { blueprint: 'shop', deployment }
  const { runs, blocks } = (await readTimes(fixture.database, of)).of(of)
  return [runs, [...(blocks.get('a') ?? [])].toSorted(([a], [b]) => a - b)]
}
const documents = () => fixture.database.session().count(systemStorages.samples, matchAll, true)

test('nothing was sampled', async () => expect(await read(1)).toEqual([0, []]))

test('times of one version are added up, over hours too', async () => {
  await store(times(1, [4, 1], [9, 2]))
  await store(times(1, [4, 3]))
  expect(await documents()).toBe(1)
  fixture.clock.now += 7 * HOUR
  await store(times(1, [4, 5]))
  expect(await documents()).toBe(2)
  expect(await read(1)).toEqual([
    3,
    [
      [4, 9],
      [9, 2],
    ],
  ])
  expect(await read(2)).toEqual([0, []])
})

test('what models used is added up with the times of their blocks, and of no others', async () => {
  const of = { blueprint: 'shop', deployment: 1 }
  const used = (tokens: number, cost: number): PlainTimes => ({
    ...{ ...of, runs: 1 },
    blocks: [
      ['ask', [[4, 1]], { tokens, cost }],
      ['b', [[4, 1]]],
    ],
  })
  await store(used(15, 0.1))
  await store(used(20, 0.2))
  fixture.clock.now += 7 * HOUR
  await store(used(5, 0))
  const sample = (await readTimes(fixture.database, of)).of(of)
  expect([...sample.used]).toEqual([['ask', { tokens: 40, cost: 0.3 }]])
  expect(sample.blocks.get('ask')).toEqual(new Map([[4, 3]]))
})

test('two nodes at once lose nothing that they could store', async () => {
  await store(times(1, [4, 1]))
  await Promise.all(Array.from({ length: 8 }, () => store(times(1, [4, 1]))))
  expect(await read(1)).toEqual([9, [[4, 9]]])
})

test('a new version deletes those before it, and no other blueprint', async () => {
  await store(times(1, [4, 1]))
  await store({ ...times(1, [4, 1]), blueprint: 'other' })
  await store(times(2, [5, 1]))
  expect(await read(1)).toEqual([0, []])
  expect(await read(2)).toEqual([1, [[5, 1]]])
  expect(await documents()).toBe(2)
})

test('a version that runs for a week has six documents at most', async () => {
  for (let hour = 0; hour < 7 * 24; hour += 1) {
    await store(times(1, [4, 1]))
    fixture.clock.now += HOUR
  }
  expect(await documents()).toBeLessThanOrEqual(6)
  const [runs] = await read(1)
  expect(runs).toBeGreaterThanOrEqual(24)
  expect(runs).toBeLessThanOrEqual(36)
})
