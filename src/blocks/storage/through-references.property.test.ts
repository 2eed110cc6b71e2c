/**
 * Queries that lead through a reference: each engine finds the same documents as the evaluator, and both find those that a plain
 * query finds where the document that is referred to stands in the place of its guid.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { setFields } from '../../shared/mutation.ts'
import { type Query, search } from '../../shared/query.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { documentsOf } from '../../storage/find-documents.ts'
import { throughReferences } from '../../storage/reference/through-references.ts'
import { matches } from '../../storage/search/evaluate-query.ts'
import { transact } from '../../storage/transact.ts'

const references = [{ from: 'orders', field: 'customer', storage: 'customers', onDelete: 'refuse' as const }]
const nowhere = '019b76da-a800-7000-8000-000000000000'
const long = 'x'.repeat(400)

let fixture: TestDatabase
/** Present ones, by guid. */
const customers = new Map<string, JsonObject>()
let orders: readonly JsonObject[] = []

const values: readonly (JsonValue | undefined)[] = [
  undefined,
  null,
  '',
  'a',
  'ab',
  'b',
  '1',
  1,
  2,
  0,
  true,
  false,
  long,
  ['a', 1],
  [],
  {},
  { a: 1 },
]

beforeAll(async () => {
  fixture = await openTestDatabase()
  for (const name of ['customers', 'orders']) await fixture.database.ensure(name)
  await fixture.database.ensure('orders', { indexes: [{ fields: ['customer'] }] })
  await fixture.database.ensure('customers', { indexes: [{ fields: ['name'] }] })
  await transact(fixture.database, async (session) => {
    const guids: string[] = []
    for (const [at, name] of values.entries()) {
      const n = values[(at * 5 + 3) % values.length]
      const stored = documentOf(await session.create('customers', setFields({ name, n })))
      const guid = guidOf(stored)
      guids.push(guid)
      if (at % 5 === 4) await session.setRemoved('customers', guid, true)
      else customers.set(guid, stored)
    }
    const refs: readonly (JsonValue | undefined)[] = [
      ...guids,
      nowhere,
      undefined,
      null,
      7,
      '',
      [guids[0] ?? ''],
      long,
    ]
    for (const [at, customer] of refs.entries())
      await session.create('orders', setFields({ customer, name: values[at % values.length] }))
  })
  const found = await fixture.database.session().find('orders', search({ limit: 1_000 }))
  orders = documentsOf(found)
})
afterAll(() => fixture.close())

const field = fc.constantFrom('customer.name', 'customer.n', 'customer.name.a', 'name', 'customer._meta.guid')
const scalar = fc.constantFrom('', 'a', 'ab', 'b', '1', 1, 2, 0, true, false, long, nowhere)
const ofItems = fc.constantFrom({}, { scalar: true } as const)
const leaf: fc.Arbitrary<Query> = fc.oneof(
  fc
    .tuple(field, scalar, ofItems)
    .map(([name, value, items]): Query => ({ kind: 'term', field: name, value, ...items })),
  fc
    .tuple(field, fc.array(scalar, { maxLength: 3 }), ofItems)
    .map(([name, list, items]): Query => ({ kind: 'terms', field: name, values: list, ...items })),
  fc.tuple(field, fc.constantFrom('a', 'b', 0, 1), fc.constantFrom('gte', 'gt', 'lte', 'lt'), ofItems).map(
    ([name, bound, side, items]): Query => ({
      kind: 'range',
      field: name,
      bounds: { [side]: bound },
      ...items,
    }),
  ),
  field.map((name): Query => ({ kind: 'exists', field: name })),
  field.map((name): Query => ({ kind: 'empty', field: name })),
  fc
    .tuple(field, fc.constantFrom('a', 1, ''))
    .map(([name, value]): Query => ({ kind: 'contains', field: name, value })),
)
const { query: anyQuery } = fc.letrec<{ query: Query }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 3 },
    { weight: 3, arbitrary: leaf },
    { weight: 1, arbitrary: tie('query').map((query): Query => ({ kind: 'not', query })) },
    {
      weight: 1,
      arbitrary: fc.array(tie('query'), { maxLength: 3 }).map((queries): Query => ({ kind: 'and', queries })),
    },
    {
      weight: 1,
      arbitrary: fc.array(tie('query'), { maxLength: 3 }).map((queries): Query => ({ kind: 'or', queries })),
    },
  ),
}))

const target = ({ customer }: JsonObject) =>
  typeof customer === 'string' ? customers.get(customer) : undefined
const inPlace = (order: JsonObject): JsonObject => ({ ...order, customer: target(order) ?? null })

test('three say the same', async () => {
  await fc.assert(
    fc.asyncProperty(anyQuery, async (query) => {
      const through = throughReferences(query, references)
      const session = fixture.database.session()
      const found = documentsOf(await session.find('orders', search({ query: through, limit: 1_000 }))).map(
        guidOf,
      )
      const reported = orders.filter((order) =>
        matches(through, order, (_storage, guid) => customers.get(guid)),
      )
      const plain = orders.filter((order) => matches(query, inPlace(order)))
      expect(reported.map(guidOf)).toEqual(plain.map(guidOf))
      expect(found).toEqual(plain.map(guidOf))
      expect(await session.count('orders', through)).toBe(plain.length)
    }),
    { numRuns: 300 },
  )
})

test('in a storage that is not there nothing is found', async () => {
  const query = { kind: 'through', field: 'customer', storage: 'nobody', query: { kind: 'all' } } as const
  expect(await fixture.database.session().count('orders', query)).toBe(0)
})

test.each<[string, Query]>([
  ['free text', { kind: 'simple_query_string', fields: ['customer.name'], text: 'a' }],
  ['two documents compared', { kind: 'fields', field: 'customer.name', operator: '==', other: 'name' }],
])('%s is refused', (_what, query) => {
  expect(() => throughReferences(query, references)).toThrow('another document')
})
