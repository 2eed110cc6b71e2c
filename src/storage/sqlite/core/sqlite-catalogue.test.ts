import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { aggregatePlainly } from '../../../../test/conformance/aggregate-documents.ts'
import { isPromise } from '../../../shared/maybe-promise.ts'
import { setFields } from '../../../shared/mutation.ts'
import { matchAll, type Query, search } from '../../../shared/query.ts'
import type { Aggregate } from '../../aggregate/aggregate.ts'
import { createAll } from '../../create-all.ts'
import { type Database, documentOf } from '../../database.ts'
import { guidOf } from '../../document-fields.ts'
import { documentsOf } from '../../find-documents.ts'
import { transact } from '../../transact.ts'
import { openSqliteDatabase } from './sqlite-database.ts'

// Aggregates that are kept are those that would be worked out again.

let directory: string
let database: Database

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  database = await openSqliteDatabase({
    ...{ directory, clock: Date.now, random: randomFillSync, entity: 1 },
    synchronous: 'OFF',
  })
  await database.ensure('sales')
})
afterEach(async () => {
  await database.close()
  await rm(directory, { recursive: true, force: true })
})

const inRegion = (value: string): Query => ({ kind: 'term', field: 'region', value })
const sums = (query: Query = matchAll): Aggregate => ({
  query,
  groups: [{ field: 'region', as: 'region' }],
  values: [
    { figure: 'sum', field: 'price', as: 'total' },
    { figure: 'max', field: 'price', as: 'most' },
  ],
  order: [],
  limit: 100,
})

const create = (region: string, price: number) =>
  transact(database, async (session) =>
    guidOf(documentOf(await session.create('sales', setFields({ region, price })))),
  )

async function all() {
  return documentsOf(await database.session().find('sales', search({ limit: 10_000 })))
}

const region = fc.constantFrom('north', 'south')
const step = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), region, price: fc.constantFrom(0.1, 0.2, 5) }),
  fc.record({ kind: fc.constant('change' as const), at: fc.nat(9), price: fc.constantFrom(0.3, 7) }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat(9) }),
  fc.record({ kind: fc.constant('look' as const) }),
)

test('whatever is written, it gives what the documents give', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const guids: string[] = []
      for (const one of steps) {
        const guid = 'at' in one ? guids[one.at % Math.max(1, guids.length)] : undefined
        if (one.kind === 'create') guids.push(await create(one.region, one.price))
        if (one.kind === 'change' && guid !== undefined)
          await transact(database, (session) =>
            session.update('sales', guid, setFields({ price: one.price })),
          )
        if (one.kind === 'remove' && guid !== undefined)
          await transact(database, (session) => session.setRemoved('sales', guid, true))
        const documents = await all()
        for (const requested of [sums(), sums(inRegion('north'))]) {
          const expected = aggregatePlainly(documents, requested).rows.text
          expect((await database.session().aggregate('sales', requested)).rows.text).toBe(expected)
        }
      }
    }),
    { numRuns: 30 },
  )
})

test('a version lasts until a document is written that the query finds', async () => {
  await create('north', 1)
  const requested = sums(inRegion('north'))
  const session = database.session()
  const version = database.capabilities.readVersions?.of('sales', { aggregate: requested })
  expect(version?.()).toBeUndefined()
  const first = await session.aggregate('sales', requested)
  const seen = version?.()
  expect(seen).toBeDefined()
  await create('south', 1)
  expect(version?.()).toBe(seen)
  expect((await session.aggregate('sales', requested)).rows).toBe(first.rows)
  await create('north', 2)
  expect(version?.()).not.toBe(seen)
  expect((await session.aggregate('sales', requested)).rows.value).toEqual([
    { region: 'north', total: 3, most: 2 },
  ])
})

test('what the search thread works out is kept until the next write', async () => {
  await transact(database, async (session) => {
    const documents = Array.from({ length: 3_001 }, () => ({
      mutations: setFields({ region: 'north', price: 0.1 }),
    }))
    await createAll(session, 'sales', documents)
  })
  const first = database.session().aggregate('sales', sums())
  expect(isPromise(first)).toBe(true)
  expect((await first).rows.value).toEqual([{ region: 'north', total: 300.1, most: 0.1 }])
  const second = database.session().aggregate('sales', sums())
  expect(isPromise(second)).toBe(false)
  expect((await second).rows).toBe((await first).rows)
  await create('south', 1)
  expect((await database.session().aggregate('sales', sums())).rows.value).toEqual([
    { region: 'north', total: 300.1, most: 0.1 },
    { region: 'south', total: 1, most: 1 },
  ])
})

test('a run that has written to the storage is refused what it cannot aggregate in one turn', async () => {
  await transact(database, async (session) => {
    const documents = Array.from({ length: 10_001 }, (_, n) => ({
      mutations: setFields({ region: n === 0 ? 'south' : 'north', price: 1 }),
    }))
    await createAll(session, 'sales', documents)
  })
  const session = database.session()
  await session.create('sales', setFields({ region: 'south', price: 5 }))
  expect((await session.aggregate('sales', sums(inRegion('south')))).rows.value).toEqual([
    { region: 'south', total: 6, most: 5 },
  ])
  expect(() => session.aggregate('sales', sums())).toThrow('Aggregate before the first write')
  await session.transaction.rollback()
  expect((await session.aggregate('sales', sums(inRegion('south')))).rows.value).toEqual([
    { region: 'south', total: 1, most: 1 },
  ])
})
