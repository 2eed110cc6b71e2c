import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import type { Counted, CountedCall, RunCounts } from '../../blocks/block-services.ts'
import { setFields } from '../../shared/mutation.ts'
import { matchAll, search } from '../../shared/query.ts'
import type { WriteCondition } from '../../storage/database.ts'
import { guidOf, numberIn } from '../../storage/document-fields.ts'
import { documentsOf, findOne } from '../../storage/find-documents.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import { TransparentSession, wrappedDatabase } from '../../storage/wrapped-session.ts'
import { ensureLimits, limitCounts } from './limit-counts.ts'
import { openLimitPurge } from './purge-limits.ts'

let fixture: TestDatabase
let counts: RunCounts
beforeEach(async () => {
  fixture = await openTestDatabase()
  await ensureLimits(fixture.database)
  counts = limitCounts(fixture)
})
afterEach(() => fixture.close())

const call = (more: Partial<CountedCall> = {}): CountedCall => ({
  ...{ key: 'ann', window: 60_000, most: 5, amount: 1 },
  ...more,
})
const passed = (all: readonly Counted[]) => all.filter(({ allowed }) => allowed).length
const rows = async () =>
  documentsOf(
    await fixture.database.session().find(systemStorages.limits, search({ query: matchAll, limit: 1000 })),
  )

describe('50 at once', () => {
  const times = <T>(count: number, one: (at: number) => T) =>
    Array.from({ length: count }, (_none, at) => one(at))

  test('exactly the limit pass, and one row is stored', async () => {
    const all = await Promise.all(times(50, () => counts.count(call())))
    expect(passed(all)).toBe(5)
    expect(all.filter(({ allowed }) => allowed).map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0])
    expect(await rows()).toMatchObject([{ count: 5, until: fixture.clock.now + 60_000 }])
  })

  test('on three nodes', async () => {
    const nodes = times(3, () => limitCounts(fixture))
    const all = await Promise.all(times(60, (at) => nodes[at % 3]?.count(call({ most: 7 }))))
    expect(passed(all.flatMap((one) => one ?? []))).toBe(7)
    expect(await rows()).toMatchObject([{ count: 7 }])
  })

  test('many keys on three nodes, in different orders, without a deadlock', async () => {
    const nodes = times(3, () => limitCounts(fixture))
    const keys = times(40, (at) => `key ${at}`)
    const all = await Promise.all(
      nodes.flatMap((node, at) =>
        times(4, () => keys)
          .flat()
          .toSorted(() => (at % 2 === 0 ? 1 : -1))
          .map((key) => node.count(call({ key, most: 3 }))),
      ),
    )
    expect(passed(all)).toBe(3 * 40)
  })

  test('control: read, decide and write without a lock lets more pass', async () => {
    const { database } = fixture
    await transact(database, (session) =>
      session.create(systemStorages.limits, setFields({ key: 'x', count: 0 })),
    )
    const loose = async () => {
      const found = await findOne(database.session(), systemStorages.limits, 'key', 'x')
      await nextTurn()
      const count = numberIn(found?.count)
      if (!found || count >= 5) return false
      await transact(database, (session) =>
        session.update(systemStorages.limits, guidOf(found), setFields({ count: count + 1 })),
      )
      return true
    }
    const all = await Promise.all(times(50, loose))
    expect(all.filter(Boolean).length).toBeGreaterThan(5)
  })
})

describe('a window', () => {
  test('begins with the first call that is counted and ends after its length', async () => {
    expect(await counts.count(call({ most: 1 }))).toEqual({ allowed: true, remaining: 0, retryAfter: 0 })
    fixture.clock.now += 20_500
    expect(await counts.count(call({ most: 1 }))).toEqual({ allowed: false, remaining: 0, retryAfter: 40 })
    fixture.clock.now += 39_499
    expect(await counts.count(call({ most: 1 }))).toMatchObject({ allowed: false, retryAfter: 1 })
    fixture.clock.now += 1
    expect(await counts.count(call({ most: 1 }))).toMatchObject({ allowed: true })
    expect(await counts.count(call({ most: 1 }))).toMatchObject({ allowed: false, retryAfter: 60 })
  })

  test.each<[string, Partial<CountedCall>]>([
    ['key', { key: 'bob' }],
    ['length', { window: 61_000 }],
  ])('another %s counts apart', async (_what, other) => {
    await counts.count(call({ most: 1 }))
    expect(await counts.count(call({ most: 1, ...other }))).toMatchObject({ allowed: true })
    expect(await rows()).toHaveLength(2)
  })

  test('what is refused is not counted, and a higher limit counts on', async () => {
    for (const most of [1, 1, 1, 2, 2]) await counts.count(call({ most }))
    expect(await rows()).toMatchObject([{ count: 2 }])
    expect(await counts.count(call({ most: 3 }))).toMatchObject({ allowed: true, remaining: 0 })
  })

  test('an amount of 0 asks, and counts nothing', async () => {
    expect(await counts.count(call({ most: 1, amount: 0 }))).toMatchObject({ allowed: true, remaining: 1 })
    expect(await rows()).toEqual([])
    await counts.count(call({ most: 1 }))
    expect(await counts.count(call({ most: 1, amount: 0 }))).toMatchObject({ allowed: false })
    expect(await rows()).toMatchObject([{ count: 1 }])
  })

  test('an amount that does not fit is refused, and a smaller one passes', async () => {
    expect(await counts.count(call({ most: 5, amount: 4 }))).toMatchObject({ remaining: 1 })
    expect(await counts.count(call({ most: 5, amount: 2 }))).toMatchObject({ allowed: false, remaining: 1 })
    expect(await counts.count(call({ most: 5, amount: 1 }))).toMatchObject({ allowed: true, remaining: 0 })
  })

  test('of another node whose clock is ahead ends after its length all the same', async () => {
    await limitCounts({ database: fixture.database, clock: () => fixture.clock.now + 600_000 }).count(
      call({ most: 1 }),
    )
    expect(await counts.count(call({ most: 1 }))).toEqual({ allowed: false, remaining: 0, retryAfter: 60 })
  })
})

test('a key of any length and content is a row of the same size, and is not stored', async () => {
  await counts.count(call({ key: 'a' }))
  await counts.count(call({ key: `${'long \ud800\u0000'.repeat(100_000)}` }))
  const texts = (await rows()).map((row) => JSON.stringify(row))
  expect(texts.map((text) => text.length)).toEqual([texts[0]?.length, texts[0]?.length])
  expect(texts.join()).not.toContain('long')
})

test('a client over its limit costs the database nothing', async () => {
  let sessions = 0
  const database = wrappedDatabase(fixture.database, {
    session() {
      sessions += 1
      return fixture.database.session()
    },
  })
  const counting = limitCounts({ database, clock: fixture.clock })
  for (let at = 0; at < 3; at++) await counting.count(call({ most: 1 }))
  const before = sessions
  for (let at = 0; at < 100; at++) expect((await counting.count(call({ most: 1 }))).allowed).toBe(false)
  expect(sessions).toBe(before)
  fixture.clock.now += 60_000
  expect((await counting.count(call({ most: 1 }))).allowed).toBe(true)
})

test('a call that cannot be stored fails, and later ones are counted', async () => {
  let broken = true
  const refusing = limitCounts({
    clock: fixture.clock,
    database: wrappedDatabase(fixture.database, {
      session() {
        if (broken) throw new Error('The disk is full.')
        return fixture.database.session()
      },
    }),
  })
  await expect(refusing.count(call())).rejects.toThrow('The disk is full.')
  broken = false
  expect((await refusing.count(call())).remaining).toBe(4)
})

describe('rows are deleted', () => {
  test('when their window is over, in batches, and not before', async () => {
    const keys = Array.from({ length: 230 }, (_none, at) => `key ${at}`)
    await Promise.all(keys.map((key) => counts.count(call({ key }))))
    await counts.count(call({ key: 'stays', window: 120_000 }))
    const purge = openLimitPurge(fixture)
    expect(await purge.run()).toBe(0)
    fixture.clock.now += 60_000
    expect(await purge.run()).toBe(230)
    expect(await rows()).toMatchObject([{ count: 1 }])
    await purge.close()
  })

  test('but not one whose window has begun since it was found', async () => {
    await counts.count(call({ most: 1 }))
    fixture.clock.now += 60_000
    class LateSession extends TransparentSession {
      override async delete(storage: string, guid: string, condition?: WriteCondition) {
        await counts.count(call({ most: 1 }))
        return super.delete(storage, guid, condition)
      }
    }
    const begins = wrappedDatabase(fixture.database, {
      session: () => new LateSession(fixture.database.session()),
    })
    const purge = openLimitPurge({ database: begins, clock: fixture.clock })
    expect(await purge.run()).toBe(0)
    await purge.close()
    expect(await rows()).toHaveLength(1)
    expect((await counts.count(call({ most: 1 }))).allowed).toBe(false)
  })
})

test('behind a clock that is set back a full window ends after its length', async () => {
  await counts.count(call({ amount: 5 }))
  fixture.clock.now -= 86_400_000
  const refused = await limitCounts(fixture).count(call())
  expect(refused).toMatchObject({ allowed: false, retryAfter: 60 })
  fixture.clock.now += 60_000
  expect(await limitCounts(fixture).count(call())).toMatchObject({ allowed: true })
})
