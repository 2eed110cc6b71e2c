/** Units of work whose searches go to the search thread: one after the other, so that none reads what another one undoes. */
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { set } from '../../../../test/conformance/expectations.ts'
import { openSqliteWorld, type SqliteWorld } from '../../../../test/sqlite-world.ts'
import { isJsonObject } from '../../../shared/json.ts'
import { matchAll, search } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import { createAll } from '../../create-all.ts'
import type { Session } from '../../database.ts'
import { SerializationConflict } from '../../unit-of-work.ts'
import { SlowUnits } from './unit-reads.ts'

/** More than are aggregated in one turn of the event loop. */
const MANY = 3_200
/** More than may wait for the search thread. */
const UNITS = 40

let world: SqliteWorld
beforeAll(async () => {
  world = await openSqliteWorld()
  await world.database.ensure('sales', {})
  const session = world.database.session()
  const documents = Array.from({ length: MANY }, (_, at) => ({ mutations: set({ n: 1, at }) }))
  await createAll(session, 'sales', documents)
  await session.transaction.commit()
})
afterAll(() => world.close())

const sum: Aggregate = {
  query: matchAll,
  groups: [],
  values: [{ figure: 'sum', field: 'n', as: 'sum' }],
  order: [],
  limit: 1,
}

async function total(session: Session): Promise<number> {
  const { rows } = await session.aggregate('sales', sum)
  const [row] = Array.isArray(rows.value) ? rows.value : []
  return isJsonObject(row) ? Number(row.sum) : Number.NaN
}

/** Sums and writes the next number, as often as others change what it has read. Gives how many tries it took. */
async function next(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const session = world.database.session({ unit: { attempt } })
    try {
      await session.create('sales', set({ n: 1, at: await total(session) }))
      await session.transaction.commit()
      return attempt
    } catch (error) {
      await session.transaction.rollback()
      if (!(error instanceof SerializationConflict)) throw error
    }
  }
}

test('many that sum a large storage and then write are all served, each at its first try, and none reads what another one wrote over', async () => {
  const tries = await Promise.all(Array.from({ length: UNITS }, next))
  expect(new Set(tries)).toEqual(new Set([1]))
  const reader = world.database.session()
  expect(await total(reader)).toBe(MANY + UNITS)
  const found = await reader.find('sales', search({ query: matchAll, limit: 10_000 }))
  const numbers = Array.isArray(found.documents.value) ? found.documents.value : []
  const all = new Set(numbers.map((one) => (isJsonObject(one) ? one.at : undefined)))
  expect(all.size).toBe(MANY + UNITS)
})

test('a unit that is given up while it waits lets the next one go on', async () => {
  const first = world.database.session({ unit: { attempt: 1 } })
  const before = await total(first)
  const input = world.database.session({ unit: { attempt: 1 } })
  const waiting = total(input).catch((error: unknown) => error)
  const third = world.database.session({ unit: { attempt: 1 } })
  const last = total(third)
  await input.transaction.rollback()
  await first.create('sales', set({ n: 1 }))
  await first.transaction.commit()
  expect(await waiting).toBeInstanceOf(Error)
  expect(await last).toBe(before + 1)
  await third.transaction.rollback()
})

test('a turn is handed on once, however often it is given back, and more than 1,000 are refused', async () => {
  const units = new SlowUnits()
  const end = await units.take()
  const order: number[] = []
  const waiting = [1, 2].map(async (n) => {
    const over = await units.take()
    order.push(n)
    if (n === 1) over()
  })
  await setImmediate()
  expect(order).toEqual([])
  end()
  end()
  await Promise.all(waiting)
  expect(order).toEqual([1, 2])
  const queue = Array.from({ length: 1_000 }, () => units.take())
  await expect(units.take()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(queue).toHaveLength(1_000)
})
