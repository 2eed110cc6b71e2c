/** Groups that are kept by parts are those that one statement would give, and only what was written is worked out again. */
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { byN, fillRoom, OF_A_PART } from '../../../../test/postgres/parted-documents.ts'
import { openPartedRoom, type PartedRoom } from '../../../../test/postgres/parted-room.ts'
import { setFields } from '../../../shared/mutation.ts'
import { matchAll, search } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import { createAll } from '../../create-all.ts'
import { transact } from '../../transact.ts'

let room: PartedRoom
let guids: readonly string[] = []
beforeAll(async () => {
  room = await openPartedRoom(OF_A_PART)
})
afterAll(() => room?.close())
beforeEach(async () => {
  guids = await fillRoom(room)
})

/** By parts, which must be what one statement gives. */
async function given(wanted = byN): Promise<string> {
  const rows = await room.parted(wanted)
  expect(rows).toBe(await room.direct(wanted))
  return rows
}

const guid = (n: number) => guids[n] ?? ''
const [first, other] = [() => room.nodes[0], () => room.nodes[1]]
const part = (n: number) => Math.floor((n + 1) / OF_A_PART)

describe('only the parts that were written are worked out again', () => {
  test('after nothing, none', async () => {
    await given()
    expect([room.ways, room.worked()]).toEqual([['written'], []])
  })

  test.each<[string, (n: number) => Promise<unknown>]>([
    [
      'a change',
      (n) => transact(other(), (session) => session.update(room.name(), guid(n), setFields({ n: 7 }))),
    ],
    ['a removal', (n) => transact(first(), (session) => session.setRemoved(room.name(), guid(n), true))],
    ['a deletion', (n) => transact(other(), (session) => session.delete(room.name(), guid(n)))],
    ['a new document of that time', (n) => room.create({ n: 1, amount: 5 }, n + 1, other())],
    [
      'a row that is written by hand',
      (n) => room.admin.query(`UPDATE ${room.table()} SET doc = '{"n":9}' WHERE guid = $1`, [guid(n)]),
    ],
  ])('after %s, that of the document', async (_, write) => {
    for (const n of [0, 34, 99]) {
      const before = await given()
      await write(n)
      expect(await given()).not.toBe(before)
      expect(room.worked()).toEqual([part(n)])
    }
    expect(room.ways).not.toContain('all')
  })

  test('after a removal that is undone', async () => {
    const before = await given()
    await transact(first(), (session) => session.setRemoved(room.name(), guid(50), true))
    await given()
    await transact(other(), (session) => session.setRemoved(room.name(), guid(50), false))
    expect(await given()).toBe(before)
    expect([room.worked(), room.ways.includes('all')]).toEqual([[part(50)], false])
  })

  test('after the time of creation was changed, both parts', async () => {
    await room.admin.query(`UPDATE ${room.table()} SET created = 95, doc = doc WHERE guid = $1`, [guid(20)])
    await given()
    expect(room.worked()).toEqual([part(20), part(94)])
  })

  test('after all documents of a part have gone', async () => {
    await room.admin.query(`DELETE FROM ${room.table()} WHERE created >= 40 AND created < 50`)
    await given()
    expect(room.worked()).toEqual([4])
    await room.admin.query(`DELETE FROM ${room.table()} WHERE created >= 60`)
    await given()
  })

  test('for each aggregate for itself', async () => {
    const paid: Aggregate = { ...byN, query: { kind: 'term', field: 'n', value: 1 }, groups: [] }
    await given(paid)
    await transact(first(), (session) => session.update(room.name(), guid(3), setFields({ n: 1 })))
    await given()
    await given(paid)
    expect(room.worked()).toEqual([part(3)])
  })
})

describe('a transaction is seen as a whole or not at all', () => {
  test('also one that has begun before, and ends after, what was written meanwhile', async () => {
    const before = await given()
    const session = first().session()
    await session.update(room.name(), guid(1), setFields({ amount: 1_000 }))
    await session.update(room.name(), guid(90), setFields({ amount: -1_000 }))
    // So that its statements are sent.
    await session.find(room.name(), search({ query: matchAll }))
    expect(await given()).toBe(before)
    await transact(other(), (one) => one.update(room.name(), guid(50), setFields({ n: 8 })))
    await given()
    await session.transaction.commit()
    await given()
    expect(room.worked()).toEqual([part(1), part(90)])
    expect(room.ways).not.toContain('all')
  })

  test('while transactions move amounts between any two parts', async () => {
    const total: Aggregate = { ...byN, groups: [], values: [{ figure: 'sum', field: 'n', as: 'sum' }] }
    const expected = await room.parted(total)
    const add = `UPDATE ${room.table()} SET doc = json_build_object('n', (doc ->> 'n')::integer + $2) WHERE guid = $1`
    let over = false
    let moved = 0
    const move = async (client: Client, seed: number) => {
      await client.connect()
      for (let number = seed; !over; number += 1) {
        // Always the earlier document first: no two of them wait for each other.
        const [from, to] = [(number * 37) % 100, (number * 61 + 13) % 100].toSorted((a, b) => a - b)
        await client.query('BEGIN')
        await client.query(add, [guid(from ?? 0), -number])
        await client.query(add, [guid(to ?? 0), number])
        await client.query('COMMIT')
        moved += 1
      }
      await client.end()
    }
    const connectionString = room.url
    const moving = [1, 1_000, 2_000].map((seed) => move(new Client({ connectionString }), seed))
    const seen = new Set<string>()
    for (let asked = 0; asked < 300; asked++) seen.add(await room.parted(total))
    over = true
    await Promise.all(moving)
    seen.add(await room.parted(total))
    expect([...seen]).toEqual([expected])
    await given(byN)
    expect(moved).toBeGreaterThan(100)
    expect(room.ways.filter((way) => way === 'written').length).toBeGreaterThan(100)
  })
})

describe('parts', () => {
  test('follow the storage as it grows', async () => {
    await transact(other(), (session) =>
      createAll(
        session,
        room.name(),
        Array.from({ length: 35 }, (_, n) => ({
          mutations: setFields({ n: 4, amount: n }),
          options: { cms: 200 + n },
        })),
      ),
    )
    await given()
    expect(room.worked()).toEqual([10])
    room.clocks.passed += 10_000
    await given()
    expect(room.worked()).toEqual([10, 11, 12, 13])
    await room.create({ n: 1 }, 215)
    await given()
    expect(room.worked()).toEqual([11])
    expect(room.ways).not.toContain('all')
  })

  test('hold all documents of one millisecond, which have no bound between them', async () => {
    await room.empty()
    for (let n = 0; n < 3; n++)
      await transact(first(), (session) =>
        createAll(
          session,
          room.name(),
          Array.from({ length: 25 }, (_, at) => ({
            mutations: setFields({ n: at }),
            options: { cms: 1 + n },
          })),
        ),
      )
    await given()
    await room.create({ n: 1 }, 2)
    await given()
    expect(room.worked()).toEqual([2])
  })
})

test('after the bounds of parts have changed, no part of before is left', async () => {
  await room.admin.query(`DELETE FROM ${room.table()} WHERE created > 40 AND created <= 65`)
  // Bringing it up to date took more than half as long as all: bounds are read again.
  room.clocks.each = 1
  await given()
  room.clocks.each = 0
  await given()
  await given()
  expect(room.ways).toEqual(['written', 'written', 'written'])
})

describe('as one are worked out', () => {
  test('different values', async () => {
    await given({ ...byN, values: [{ figure: 'distinct', field: 'n', as: 'different' }] })
    expect(room.ways).toEqual(['whole'])
  })

  test('more groups than are kept', async () => {
    await room.admin.query(
      `INSERT INTO ${room.table()} (guid, created, updated, removed, version, doc) SELECT 'x' || n, n, 1, 0, 1, ('{"g":' || n || '}')::json FROM generate_series(1, 20001) n`,
    )
    const many: Aggregate = { ...byN, groups: [{ field: 'g', as: 'g' }] }
    expect(await room.parted(many)).toBe('undefined []')
    expect(await room.parted(many)).toBe('undefined []')
    expect(room.ways).toEqual(['all', 'whole', 'whole'])
  })
})

test('a search that has no document, and none at all', async () => {
  const none: Aggregate = { ...byN, groups: [], query: { kind: 'term', field: 'n', value: 'none' } }
  await given(none)
  await given(none)
  await room.empty()
  await given({ ...byN, groups: [] })
  await given({ ...byN, groups: [] })
  await given()
})
