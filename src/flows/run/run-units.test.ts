import { afterEach, beforeEach, expect, test } from 'vitest'
import { blockServices } from '../../../test/bare-services.ts'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import type { BlockServices } from '../../blocks/block-services.ts'
import { ensureLimits, limitCounts } from '../../records/limits/limit-counts.ts'
import type { RetryState } from './run-start.ts'
import { unitServices } from './run-units.ts'

let fixture: TestDatabase
let services: BlockServices
beforeEach(async () => {
  fixture = await openTestDatabase()
  await ensureLimits(fixture.database)
  services = blockServices({ counts: limitCounts(fixture) })
})
afterEach(() => fixture.close())

const call = { key: 'ann', window: 60_000, most: 3, amount: 1 }

test('a unit that begins once more gets what its first try has counted, call by call', async () => {
  const unit: RetryState = { attempt: 1, holdsReads: true, until: 0, committed: false, counted: new Map() }
  const oneTry = async (calls: number) => {
    const counts = unitServices(services, unit).counts
    const left: number[] = []
    for (let at = 0; at < calls; at++) left.push((await counts.count(call)).remaining)
    return left
  }
  expect(await oneTry(2)).toEqual([2, 1])
  expect(await oneTry(2)).toEqual([2, 1])
  expect(await oneTry(3)).toEqual([2, 1, 0])
  expect(await oneTry(1)).toEqual([2])
})

test('another call of a unit, and runs that are no units, are counted', async () => {
  const unit: RetryState = { attempt: 1, holdsReads: true, until: 0, committed: false, counted: new Map() }
  const counts = unitServices(services, unit).counts
  await counts.count(call)
  expect((await counts.count({ ...call, amount: 2 })).remaining).toBe(0)
  const alone = unitServices(services, undefined).counts
  expect((await alone.count(call)).allowed).toBe(false)
  expect((await alone.count({ ...call, key: 'bob' })).allowed).toBe(true)
})
