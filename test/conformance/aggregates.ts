import { expect } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { matchAll } from '../../src/shared/query.ts'
import type { Aggregate } from '../../src/storage/aggregate/aggregate.ts'
import { createAll } from '../../src/storage/create-all.ts'
import type { Session } from '../../src/storage/database.ts'
import { transact } from '../../src/storage/transact.ts'
import { failure, set } from './expectations.ts'
import type { It, World } from './world.ts'

const orders = [
  { region: 'north', price: 0.1, at: '2026-01-31T23:30:00.000Z', paid: true },
  { region: 'north', price: 0.2, at: '2026-02-01', paid: false },
  { region: 'south', price: 12.5, at: '2026-02-28T12:00:00.000Z', paid: 1 },
  { region: 'south', price: '12.5', at: 'soon' },
  { price: 1e17, at: 1_772_280_000 },
  { region: null, price: 1.25, at: [] },
]

const requested = (changes: Partial<Aggregate>): Aggregate => ({
  query: matchAll,
  groups: [],
  values: [{ figure: 'count', as: 'n' }],
  order: [],
  limit: 10_000,
  ...changes,
})
const region = { field: 'region', as: 'region' }
const total = { figure: 'sum', field: 'price', as: 'total' } as const

const table: readonly (readonly [string, Partial<Aggregate>, readonly JsonObject[], number])[] = [
  ['all documents in one row', {}, [{ n: 6 }], 1],
  [
    'exact sums of groups, missing values last',
    { groups: [region], values: [total] },
    [
      { region: 'north', total: 0.3 },
      { region: 'south', total: 12.5 },
      { region: null, total: 100_000_000_000_000_000 },
    ],
    3,
  ],
  [
    'every figure',
    {
      query: { kind: 'term', field: 'region', value: 'south' },
      values: [
        { figure: 'count', as: 'n' },
        { figure: 'count', field: 'paid', as: 'paid' },
        { figure: 'distinct', field: 'price', as: 'prices' },
        { figure: 'average', field: 'price', as: 'mean' },
        { figure: 'min', field: 'price', as: 'least' },
        { figure: 'max', field: 'price', as: 'most' },
      ],
    },
    [{ n: 2, paid: 1, prices: 2, mean: 12.5, least: 12.5, most: '12.5' }],
    1,
  ],
  [
    'no documents',
    {
      query: { kind: 'or', queries: [] },
      values: [
        total,
        { figure: 'average', field: 'price', as: 'mean' },
        { figure: 'max', field: 'price', as: 'most' },
      ],
    },
    [{ total: 0, mean: null, most: null }],
    1,
  ],
  ['no documents, no groups', { query: { kind: 'or', queries: [] }, groups: [region] }, [], 0],
  [
    'types apart',
    { groups: [{ field: 'paid', as: 'paid' }] },
    [
      { paid: false, n: 1 },
      { paid: 1, n: 1 },
      { paid: true, n: 1 },
      { paid: null, n: 3 },
    ],
    4,
  ],
  [
    'months of a time zone',
    { groups: [{ field: 'at', as: 'month', part: 'month', zone: 'Europe/Berlin' }] },
    [
      { month: '2026-02', n: 4 },
      { month: null, n: 2 },
    ],
    2,
  ],
  [
    'ranges of numbers',
    { groups: [{ field: 'price', as: 'price', ranges: [0.2, 12.5] }] },
    [
      { price: '..0.2', n: 1 },
      { price: '0.2..12.5', n: 2 },
      { price: '12.5..', n: 2 },
      { price: null, n: 1 },
    ],
    4,
  ],
  [
    'the order and the number of rows that are asked for',
    {
      groups: [region],
      order: [
        { name: 'n', order: 'asc' },
        { name: 'region', order: 'desc' },
      ],
      limit: 2,
    },
    [
      { region: 'south', n: 2 },
      { region: 'north', n: 2 },
    ],
    3,
  ],
]

const refused: readonly (readonly [string, Partial<Aggregate>, RegExp])[] = [
  ['nothing to work out', { values: [] }, /a group or a value/],
  ['a sum of nothing', { values: [{ figure: 'sum', as: 'x' }] }, /needs a field/],
  ['two columns of one name', { groups: [{ field: 'a', as: 'n' }] }, /used twice/],
  ['an order by what is no column', { order: [{ name: 'x', order: 'asc' }] }, /no group and no value/],
  ['a field name that is none', { groups: [{ field: 'a"', as: 'a' }] }, /field name/],
  [
    'a time zone that is none',
    { groups: [{ field: 'a', as: 'a', part: 'day', zone: 'Mars' }] },
    /no time zone/,
  ],
  ['bounds in no order', { groups: [{ field: 'a', as: 'a', ranges: [2, 1] }] }, /ascending/],
  ['too many rows', { limit: 10_001 }, /from 0 to 10000/],
]

async function fill({ database, name }: World, documents: readonly JsonObject[]): Promise<void> {
  await transact(database, async (session) => {
    await createAll(
      session,
      name,
      documents.map((document) => ({ mutations: set(document) })),
    )
  })
}

async function rowsOf(session: Session, name: string, changes: Partial<Aggregate>): Promise<unknown> {
  return (await session.aggregate(name, requested(changes))).rows.value
}

export function aggregateChapter(it: It): void {
  for (const indexed of [false, true])
    it(`works out figures of groups, ${indexed ? 'with' : 'without'} indexes`, async (world) => {
      const { database, name } = world
      if (indexed)
        await database.ensure(name, { indexes: [{ fields: ['region', 'price'] }, { fields: ['at'] }] })
      await fill(world, orders)
      for (const [title, changes, rows, groups] of table) {
        const input = await database.session().aggregate(name, requested(changes))
        expect([input.rows.value, input.total], title).toEqual([rows, groups])
      }
    })

  it('refuses an aggregate that makes no sense', async ({ database, name }) => {
    for (const [title, changes, message] of refused) {
      const error = await failure('INVALID_QUERY', async () =>
        database.session().aggregate(name, requested(changes)),
      )
      expect(error.message, title).toMatch(message)
    }
  })

  it('aggregates what its session has written, and removed documents never', async (world) => {
    const { database, name } = world
    await fill(world, orders)
    const session = database.session()
    await session.create(name, set({ region: 'north', price: 5 }))
    const sums = { groups: [region], values: [total], limit: 1 }
    expect(await rowsOf(session, name, sums)).toEqual([{ region: 'north', total: 5.3 }])
    expect(await rowsOf(database.session(), name, sums)).toEqual([{ region: 'north', total: 0.3 }])
    await session.transaction.rollback()
    expect(await rowsOf(session, name, sums)).toEqual([{ region: 'north', total: 0.3 }])
    const found = await database.session().find(name, {
      query: { kind: 'term', field: 'price', value: 0.2 },
      ...{ sort: [], limit: 1, offset: 0, includeRemoved: false },
    })
    const [document] = JSON.parse(found.documents.text)
    await transact(database, (writing) => writing.setRemoved(name, document._meta.guid, true))
    expect(await rowsOf(database.session(), name, sums)).toEqual([{ region: 'north', total: 0.1 }])
  })

  it('aggregates more documents than are read in one turn, exactly, and says when there are too many groups', async (world) => {
    const { database, name } = world
    const many = Array.from({ length: 10_001 }, (_, n) => ({
      n,
      price: 0.1,
      half: n % 2,
      odd: n === 7 ? 0.30000000000000004 : n / 8,
    }))
    await fill(world, many)
    const sums = {
      groups: [{ field: 'half', as: 'half' }],
      values: [total, { figure: 'sum', field: 'odd', as: 'odd' }],
    } as const
    expect(await rowsOf(database.session(), name, sums)).toEqual([
      { half: 0, total: 500.1, odd: 3_125_625 },
      { half: 1, total: 500, odd: 3_124_999.425 },
    ])
    const { rows, total: groups } = await database
      .session()
      .aggregate(name, requested({ groups: [{ field: 'n', as: 'n' }], values: [] }))
    expect([rows.text, groups]).toEqual(['[]', undefined])
    const all = await database.session().aggregate(
      name,
      requested({
        groups: [{ field: 'n', as: 'n' }],
        values: [],
        query: { kind: 'range', field: 'n', bounds: { lt: 10_000 } },
      }),
    )
    expect(all.total).toBe(10_000)
  })
}
