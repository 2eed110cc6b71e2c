/**
 * Indexed fields that hold the oddest values, through the interface of a database: filters, orders, counts, sums and unique keys are those of
 * a plain list in memory, with each kind of index and with none. Documents are created, changed and removed before they are asked for.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aggregatePlainly } from '../../test/conformance/aggregate-documents.ts'
import { searchDocuments } from '../../test/conformance/order-documents.ts'
import { openTestDatabase, type TestDatabase } from '../../test/test-database.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import { matchAll, type Query, type Scalar, type Search, type SortKey, search } from '../shared/query.ts'
import { type Aggregate, figures } from './aggregate/aggregate.ts'
import { type Database, documentOf } from './database.ts'
import { guidOf } from './document-fields.ts'
import { documentsOf } from './find-documents.ts'
import { transact } from './transact.ts'

let fixture: TestDatabase
let database: Database
let count = 0
beforeAll(async () => {
  fixture = await openTestDatabase()
  ;({ database } = fixture)
})
afterAll(() => fixture.close())

/** By what fields hold: each meets its like, and what only looks like it. */
const kinds: Readonly<Record<string, readonly JsonValue[]>> = {
  numbers: [
    0,
    1,
    -1,
    1.5,
    10,
    9,
    0.1,
    1e-7,
    2 ** 53,
    2 ** 53 + 2,
    1e21,
    1.7976931348623157e308,
    -1e300,
    5e-324,
  ],
  'texts that look like numbers': [
    'NaN',
    'Infinity',
    '-Infinity',
    '1e400',
    '0x10',
    '1',
    '01',
    '1.0',
    ' 1',
    '-0',
    '１',
    'null',
  ],
  dates: [
    ...[
      '2026-01-31',
      '2026-01-31T00:00:00Z',
      '2026-01-31T00:00:00.000Z',
      '2026-02-30',
      '2026-01-31T01:00:00+01:00',
    ],
    ...['9999-12-31', '0001-01-01', 'yesterday', 1_769_817_600, 1_769_817_600_000],
  ],
  marks: [
    'e\u0301',
    'é',
    'e',
    'É',
    `a${'\u0301'.repeat(40)}`,
    'か\u3099',
    'が',
    'ß',
    'SS',
    'ﬁ',
    '\u{1f600}',
    '\uff5e',
    'I',
    'ı',
    'i\u0307',
  ],
  'long texts': ['x', 'y'].flatMap((end) => [
    `${'open '.repeat(60)}${end}`,
    `${'é'.repeat(3_000)}${end}`,
    `${'k'.repeat(9_000)}${end}`,
  ]),
  'flags and nothing': [true, false, null, '', ' ', 'true', 0, 1],
  'lists and objects': [
    [],
    [1],
    [1, 'x'],
    ['x'],
    ['é'],
    [null],
    [[1]],
    {},
    { a: 1 },
    { value: 'x' },
    [true],
    [1, 2, 3],
  ],
}
const all = Object.values(kinds).flat()
const isScalar = (value: JsonValue): value is Scalar => value !== null && typeof value !== 'object'

const indexes: readonly (readonly [string, readonly { fields: readonly string[] }[]])[] = [
  ['none', []],
  ['one of the field', [{ fields: ['value'] }]],
  ['one of two fields', [{ fields: ['value', 'other'] }, { fields: ['other', 'value', '_meta.created'] }]],
  ['one as people sort', [{ fields: ['value COLLATE "und"'] }, { fields: ['value'] }]],
]

type Body = { readonly value?: JsonValue; readonly other?: JsonValue }
interface Row {
  readonly body: Body
  readonly change: Body | undefined
  readonly isRemoved: boolean
}

const bodyOf = (one: fc.Arbitrary<JsonValue>): fc.Arbitrary<Body> =>
  fc.record({ value: one, other: fc.constantFrom<JsonValue>(1, 2, 'x', null) }, { requiredKeys: [] })
const rowOf = (one: fc.Arbitrary<JsonValue>): fc.Arbitrary<Row> =>
  fc.record({
    body: bodyOf(one),
    change: fc.option(bodyOf(one), { nil: undefined, freq: 3 }),
    isRemoved: fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
  })

function queryOf(one: fc.Arbitrary<Scalar>): fc.Arbitrary<Query> {
  const field = 'value'
  const scalar = fc.constantFrom<{ scalar?: true }>({}, { scalar: true })
  const bounds = one.filter((value) => typeof value !== 'boolean')
  const leaf: fc.Arbitrary<Query> = fc.oneof(
    fc.tuple(one, scalar).map(([value, only]): Query => ({ kind: 'term', field, value, ...only })),
    fc
      .tuple(fc.array(one, { maxLength: 4 }), scalar)
      .map(([values, only]): Query => ({ kind: 'terms', field, values, ...only })),
    fc.tuple(bounds, bounds, fc.boolean(), scalar).map(([from, to, isOpen, only]): Query => {
      const isSame = typeof from === typeof to
      const upper = isSame && typeof to !== 'boolean' ? (isOpen ? { lt: to } : { lte: to }) : {}
      const lower = typeof from === 'boolean' ? {} : isOpen ? { gt: from } : { gte: from }
      return { kind: 'range', field, bounds: { ...lower, ...upper }, ...only }
    }),
    fc.constantFrom<Query>({ kind: 'exists', field }, { kind: 'empty', field }),
    one.map((value): Query => ({ kind: 'contains', field, value })),
    fc.constant<Query>({ kind: 'fields', field, operator: '==', other: 'other' }),
  )
  return fc.oneof(
    { weight: 4, arbitrary: leaf },
    { weight: 1, arbitrary: leaf.map((query): Query => ({ kind: 'not', query })) },
    { weight: 1, arbitrary: fc.tuple(leaf, leaf).map((queries): Query => ({ kind: 'and', queries })) },
    { weight: 1, arbitrary: fc.tuple(leaf, leaf).map((queries): Query => ({ kind: 'or', queries })) },
  )
}

const order: fc.Arbitrary<SortKey> = fc.record(
  {
    field: fc.constantFrom('value', 'value', 'other'),
    order: fc.constantFrom('asc', 'desc'),
    missing: fc.constantFrom('first', 'last'),
    collation: fc.constant('und' as const),
  },
  { requiredKeys: ['field', 'order', 'missing'] },
)

/** Writes the rows as requests would, and gives all documents as they are stored. */
async function write(name: string, rows: readonly Row[]): Promise<JsonObject[]> {
  const guids: string[] = []
  for (const { body } of rows)
    guids.push(
      await transact(database, async (one) => guidOf(documentOf(await one.create(name, setFields(body))))),
    )
  await transact(database, async (session) => {
    for (const [at, { change, isRemoved }] of rows.entries()) {
      const guid = guids[at] ?? ''
      if (change) await session.update(name, guid, setFields(change))
      if (isRemoved) await session.setRemoved(name, guid, true)
    }
  })
  const every = search({ includeRemoved: true, limit: 10_000 })
  return [...documentsOf(await database.session().find(name, every))]
}

const guidsOf = (documents: readonly JsonObject[]) => documents.map(guidOf)

async function expectSame(name: string, documents: readonly JsonObject[], requested: Search): Promise<void> {
  const session = database.session()
  const found = [...documentsOf(await session.find(name, requested))]
  expect(guidsOf(found)).toEqual(guidsOf(searchDocuments(documents, requested)))
  const whole = { ...requested, limit: 10_000, offset: 0 }
  expect(await session.count(name, requested.query)).toBe(searchDocuments(documents, whole).length)
  const aggregates: readonly Pick<Aggregate, 'groups' | 'values'>[] = [
    { groups: [], values: figures.map((figure) => ({ figure, field: 'value', as: figure })) },
    { groups: [{ field: 'value', as: 'value' }], values: [{ figure: 'count', as: 'count' }] },
    {
      groups: [{ field: 'other', as: 'other' }],
      values: [
        { figure: 'sum', field: 'value', as: 'sum' },
        { figure: 'distinct', field: 'value', as: 'distinct' },
      ],
    },
  ]
  for (const one of aggregates) {
    const aggregate: Aggregate = { query: requested.query, order: [], limit: 10_000, ...one }
    expect(await session.aggregate(name, aggregate)).toEqual(aggregatePlainly(documents, aggregate))
  }
}

describe.each(indexes)('indexes: %s', (_, made) => {
  test.each(Object.entries(kinds))('%s', async (_kind, values) => {
    const one = fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...values) },
      { weight: 1, arbitrary: fc.constantFrom(...all) },
    )
    const asked = fc.constantFrom(...values.filter(isScalar), 1, 'x')
    const searches = fc.array(fc.tuple(queryOf(asked), fc.array(order, { maxLength: 2 }), fc.nat(3)), {
      minLength: 3,
      maxLength: 5,
    })
    await fc.assert(
      fc.asyncProperty(fc.array(rowOf(one), { maxLength: 10 }), searches, async (rows, requested) => {
        const name = `indexed_${++count}`
        await database.ensure(name, { indexes: made })
        const documents = await write(name, rows)
        const present = documents.filter(({ _meta }) => isJsonObject(_meta) && _meta.removed === 0)
        for (const [query, sort, offset] of requested)
          await expectSame(name, present, search({ query, sort, offset, limit: 5 }))
        await database.drop(name)
      }),
      { numRuns: 6 },
    )
  })
})

/** What a unique key that ignores nothing tells apart: texts by their characters, whatever their form, and all else by type and value. */
function classOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  return JSON.stringify(value, (_key, one: JsonValue) =>
    typeof one === 'string' ? one.normalize('NFC') : one,
  )
}

test('a unique key over the oddest values refuses the second of each, and lists as many where it comes late', async () => {
  const key = { name: 'value', fields: [{ name: 'value', ignoreCase: false, ignoreAccents: false }] }
  // Forty marks in a row stay as they are.
  const values = all.filter(
    (value) => classOf(value) !== undefined && !String(value).includes('\u0301\u0301'),
  )
  const [early, late] = ['unique_early', 'unique_late']
  await database.ensure(early, { indexes: [{ fields: ['value'] }] })
  await database.ensure(late, { indexes: [{ fields: ['value'] }] })
  await database.capabilities.uniqueValues.keep(early, key)
  const seen = new Set<string>()
  const wrong: JsonValue[] = []
  for (const value of values) {
    const mutations = setFields({ value })
    await transact(database, (session) => session.create(late, mutations))
    const refused = await transact(database, (session) => session.create(early, mutations)).then(
      () => false,
      () => true,
    )
    if (refused !== seen.has(String(classOf(value)))) wrong.push(value)
    seen.add(String(classOf(value)))
  }
  expect(wrong).toEqual([])
  expect(await database.session().count(early, matchAll)).toBe(seen.size)
  const duplicates = await database.capabilities.uniqueValues.keep(late, key)
  expect(duplicates?.total).toBe(values.length - seen.size)
})

test('control: an engine that takes a text for its number would be seen', async () => {
  await database.ensure('control', { indexes: [{ fields: ['value'] }] })
  const documents = await write('control', [{ body: { value: '1' }, change: undefined, isRemoved: false }])
  const wrong = documents.map((document) => ({ ...document, value: 1 }))
  const requested = search({ query: { kind: 'term', field: 'value', value: 1 } })
  await expect(expectSame('control', wrong, requested)).rejects.toThrow()
})
