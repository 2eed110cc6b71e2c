import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Circumstances, runBlock } from '../../../test/run-block.ts'
import { openTestDatabase } from '../../../test/test-database.ts'
import type { Database } from '../../storage/database.ts'
import { StoredJson } from '../../storage/stored-json.ts'
import functionAggregate from './function_aggregate.ts'

const sales = [
  { region: 'north', price: 0.1, at: '2026-01-31T23:30:00.000Z' },
  { region: 'north', price: 0.2, at: '2026-02-01T10:00:00.000Z' },
  { region: 'south', price: 250, at: '2026-02-28T12:00:00.000Z' },
  { price: 3, at: '2026-03-01T12:00:00.000Z' },
]

let database: Database
let close: () => Promise<void>

beforeAll(async () => {
  ;({ database, close } = await openTestDatabase())
  await database.ensure('sales')
  const session = database.session()
  for (const sale of sales)
    await session.create(
      'sales',
      Object.entries(sale).map(([field, value]) => ({ op: 'set', field, value })),
    )
  await session.transaction.commit()
})

afterAll(() => close())

async function aggregate(inputs: Circumstances['inputs'], more: Circumstances = {}) {
  const session = database.session()
  const ran = await runBlock(functionAggregate, { session, ...more, inputs: { storage: 'sales', ...inputs } })
  const { rows, total } = ran.outputs
  return { next: ran.next, rows: rows instanceof StoredJson ? rows.value : rows, total }
}

const sum = { sum: 'price', as: 'total' }

describe('function_aggregate', () => {
  test.each([
    ['no storage', { storage: undefined }, 'storage', /is empty/],
    ['a storage of the cluster', { storage: '_user' }, 'storage', /starts with _/],
    ['a group that is a number', { group: [5] }, 'group', /names of fields/],
    [
      'a group without a field',
      { group: [{ part: 'day' }] },
      'group',
      /nothing in place of the name of a field/,
    ],
    ['a field name that is none', { group: ['a"'] }, 'group', /which contains a quote/],
    [
      'a part that is none',
      { group: [{ field: 'at', part: 'decade' }] },
      'group',
      /"decade" for at: use one of year/,
    ],
    [
      'a zone that is none',
      { group: [{ field: 'at', part: 'day', zone: 'Mars' }] },
      'group',
      /"Mars", which does not exist/,
    ],
    ['a zone without a part', { group: [{ field: 'at', zone: 'UTC' }] }, 'group', /no part/],
    [
      'ranges that are none',
      { group: [{ field: 'price', ranges: 'all' }] },
      'group',
      /must be a list of numbers/,
    ],
    ['ranges in no order', { group: [{ field: 'price', ranges: [2, 1] }] }, 'group', /ascending order/],
    [
      'ranges and a part',
      { group: [{ field: 'at', ranges: [1], part: 'day' }] },
      'group',
      /both part and ranges/,
    ],
    [
      'a word that is unknown',
      { group: [{ field: 'at', by: 'day' }] },
      'group',
      /"by", which it does not know/,
    ],
    ['a name with a dot', { group: [{ field: 'at', as: 'a.b' }] }, 'group', /without dots/],
    ['the same group twice', { group: ['at', 'at'] }, 'group', /"at" twice/],
    ['too many groups', { group: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }, 'group', /at most 6/],
    ['a value that is a text', { values: ['price'] }, 'values', /objects with one of count/],
    ['a value that is unknown', { values: [{ median: 'price' }] }, 'values', /one of count, count_distinct/],
    ['two values in one', { values: [{ sum: 'price', max: 'price' }] }, 'values', /objects with one of/],
    ['a sum of everything', { values: [{ sum: '*' }, { sum: 5 }] }, 'values', /5 in place of/],
    ['a value of the name of a group', { group: ['total'], values: [sum] }, 'values', /"total" twice/],
    ['too many values', { values: Array(21).fill(sum) }, 'values', /at most 20/],
    [
      'an order by an unknown name',
      { values: [sum], order: ['price'] },
      'order',
      /"price", which is no group and no value: use one of total/,
    ],
    ['an order that is a number', { order: [5] }, 'order', /must hold names/],
    ['an order in no direction', { values: [sum], order: [{ total: 'up' }] }, 'order', /must hold names/],
    ['a limit above 10,000', { limit: 10_001 }, 'limit', /from 0 to 10,000/],
  ])('refuses %s', async (_name, inputs, pin, message) => {
    const error = await aggregate(inputs).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'PinError', pin, message: expect.stringMatching(message) })
  })

  test.each([
    ['all documents, when nothing is said', {}, [{ count: 4 }], 1],
    [
      'groups of a field',
      { group: ['region'], values: [sum] },
      [
        { region: 'north', total: 0.3 },
        { region: 'south', total: 250 },
        { region: null, total: 3 },
      ],
      3,
    ],
    [
      'what matches',
      {
        where: { kind: 'term', field: 'region', value: 'north' },
        values: [{ average: 'price' }, { count: '*', as: 'n' }],
      },
      [{ average_price: 0.15, n: 2 }],
      1,
    ],
    [
      'a part of a date',
      { group: [{ field: 'at', part: 'month', zone: 'Europe/Berlin' }] },
      [
        { month: '2026-02', count: 3 },
        { month: '2026-03', count: 1 },
      ],
      2,
    ],
    [
      'ranges',
      { group: [{ field: 'price', ranges: [1, 100], as: 'size' }] },
      [
        { size: '..1', count: 2 },
        { size: '1..100', count: 1 },
        { size: '100..', count: 1 },
      ],
      3,
    ],
    [
      'the rows that are asked for',
      { group: ['region'], values: [sum], order: ['total desc'], limit: '1' },
      [{ region: 'south', total: 250 }],
      3,
    ],
    [
      'an order as an object',
      { group: ['region'], values: [sum], order: [{ total: 'asc' }], limit: 1 },
      [{ region: 'north', total: 0.3 }],
      3,
    ],
    [
      'fields of _meta',
      { group: ['_meta.removed'], values: [{ count_distinct: '_meta.guid', as: 'n' }] },
      [{ _meta_removed: 0, n: 4 }],
      1,
    ],
  ])('gives %s', async (_name, inputs, rows, total) => {
    expect(await aggregate(inputs)).toEqual({ next: 'flow', rows, total })
  })

  test('takes the time zone of the cluster when none is said', async () => {
    const months = { group: [{ field: 'at', part: 'month' }], limit: 1 }
    expect(await aggregate(months)).toMatchObject({ rows: [{ month: '2026-01', count: 1 }] })
    expect(await aggregate(months, { timeZone: 'Europe/Berlin' })).toMatchObject({
      rows: [{ month: '2026-02', count: 3 }],
    })
  })

  test('says which pin gives too many groups', async () => {
    await database.ensure('many')
    const session = database.session()
    for (let n = 0; n <= 10_000; n++) await session.create('many', [{ op: 'set', field: 'n', value: n }])
    await session.transaction.commit()
    const error = await aggregate({ storage: 'many', group: ['n'] }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ pin: 'group', message: expect.stringMatching(/more than 10,000 groups/) })
  })

  test.each([
    ['constant groups and values', { group: ['region'], values: [{ sums: 'price' }] }, 'values'],
    ['an order of constant groups and values', { group: ['region'], values: [sum], order: ['x'] }, 'order'],
  ])('checks %s when it is deployed', (_name, inputs, pin) => {
    expect(() => functionAggregate.check?.(inputs, {})).toThrow(expect.objectContaining({ pin }))
    expect(() => functionAggregate.check?.({ group: ['region'], order: ['x'] }, {})).not.toThrow()
  })
})
