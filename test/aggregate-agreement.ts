/** An engine against the plain evaluator: for random documents and aggregates the same rows, to the bit. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../src/shared/json.ts'
import type { MaybePromise } from '../src/shared/maybe-promise.ts'
import { matchAll, type Query } from '../src/shared/query.ts'
import {
  type Aggregate,
  dateParts,
  type Figure,
  figures,
  type Grouping,
  type Measure,
} from '../src/storage/aggregate/aggregate.ts'
import type { Aggregated } from '../src/storage/aggregate/finish-aggregate.ts'
import { someField, storedDocuments } from './arbitrary-documents.ts'
import { aggregatePlainly } from './conformance/aggregate-documents.ts'

/** An engine with one storage. */
export interface AggregateWorld {
  /** Replaces all documents. */
  fill(documents: readonly JsonObject[]): MaybePromise<void>
  aggregate(aggregate: Aggregate): MaybePromise<Aggregated>
}

/** Dates around changes of clocks, at the ends of years and weeks, in every spelling, and what only looks like a date. */
const someDate: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  '2026-01-31',
  '2024-02-29',
  '2026-02-29',
  '2020-12-31T23:30:00.000Z',
  '2021-01-03T22:59:59.999Z',
  '2021-01-03T23:00:00Z',
  '2026-03-29T00:59:59Z',
  '2026-03-29T01:00Z',
  '2026-10-25T00:30:00.000Z',
  '2026-10-25T01:30:00.000Z',
  '2026-10-25 01:30',
  '2026-10-24T19:00:00.5-05:30',
  '2026-10-24t19:00:00z',
  '1890-06-01T12:00:00Z',
  '2300-07-01T12:00:00Z',
  '0001-01-01',
  '0001-06-15',
  '0000-06-15',
  '9999-12-31T23:59:59Z',
  '9999-06-15T10:00:00+14:00',
  '2026-13-01',
  '2026-01-31T24:00',
  '2026-01-31T10:00:60Z',
  '2026-01',
  ' 2026-01-31',
  1_700_000_000,
  1_700_000_000_000,
  1_774_746_000,
  1_774_745_999.9,
  -5,
  0.5,
  1e11,
  -1e11,
  1e20,
  99_999_999_999,
)

/** Numbers that doubles do not add exactly, that cancel out, and that are near the limits of the fast sums. */
const someAmount: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -100_000, max: 100_000 }).map((cents) => cents / 100) },
  { weight: 2, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<JsonValue>(
      0.1,
      0.2,
      0.30000000000000004,
      1e16,
      -1e16,
      1e308,
      1.7e308,
      -1.7e308,
      5e-324,
      0.00001,
      2 ** 37,
      2 ** 37 + 0.0001,
      -(2 ** 37) - 0.5,
      225_179_981_368.5248,
      -112_589_990_684.26244,
      137_438_953_471.9999,
      2 ** 53 + 2,
      9_007_199_254_740_994,
      123_456.78901,
    ),
  },
)

/** Also dates and amounts in fields of their own. */
export function aggregatedBodies(
  bodies: fc.Arbitrary<JsonObject>,
  isTidy: boolean,
): fc.Arbitrary<JsonObject> {
  const untidy = fc.constantFrom<JsonValue>(true, 'x', null, [1], ['2026-01-31'], { a: 1 }, '5', '')
  const mixed = (values: fc.Arbitrary<JsonValue>) =>
    isTidy ? values : fc.oneof({ weight: 4, arbitrary: values }, { weight: 1, arbitrary: untidy })
  return fc
    .record({ body: bodies, at: fc.option(mixed(someDate)), amount: fc.option(mixed(someAmount)) })
    .map(({ body, at, amount }) => ({
      ...body,
      ...(at !== null && { at }),
      ...(amount !== null && { amount }),
    }))
}

const field = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('status', 'count', 'nested.deep.flag', 'at', 'amount') },
  { weight: 1, arbitrary: someField },
)
const zone = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Africa/Monrovia',
)

const someGrouping: fc.Arbitrary<Omit<Grouping, 'as'>> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ field }) },
  {
    weight: 2,
    arbitrary: fc.record({
      field: fc.oneof(
        fc.constant('at'),
        fc.constantFrom('at', 'status', '_meta.created', '_meta.cms', 'amount'),
      ),
      part: fc.constantFrom(...dateParts),
      zone,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      field,
      ranges: fc
        .uniqueArray(
          fc.oneof(fc.integer({ min: -3, max: 10 }), fc.constantFrom(0.1, 2 ** 60, 1e20, 1_700_000_000)),
          {
            minLength: 1,
            maxLength: 4,
          },
        )
        .map((bounds) => bounds.toSorted((a, b) => a - b)),
    }),
  },
)

const someMeasure: fc.Arbitrary<Omit<Measure, 'as'>> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ figure: 'count' as Figure }) },
  {
    weight: 6,
    arbitrary: fc.record({
      figure: fc.constantFrom(...figures),
      field: fc.oneof(fc.constantFrom('amount', 'count'), field),
    }),
  },
)

const someQuery: fc.Arbitrary<Query> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(matchAll) },
  { weight: 1, arbitrary: field.map((one): Query => ({ kind: 'exists', field: one })) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('term' as const),
      field: fc.constantFrom('status', 'count'),
      value: fc.constantFrom('open', 'done', 1, 5),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('range' as const),
      field: fc.constantFrom('count', 'amount'),
      bounds: fc.record({ gte: fc.integer({ min: -5, max: 5 }) }),
    }),
  },
)

export const someAggregate: fc.Arbitrary<Aggregate> = fc
  .record({
    query: someQuery,
    groups: fc.array(someGrouping, { maxLength: 3 }),
    values: fc.array(someMeasure, { minLength: 1, maxLength: 4 }),
    orders: fc.array(fc.tuple(fc.nat(6), fc.constantFrom('asc' as const, 'desc' as const)), { maxLength: 2 }),
    limit: fc.constantFrom(10_000, 10_000, 2, 0),
  })
  .map(({ query, groups, values, orders, limit }) => {
    const named = {
      groups: groups.map((one, at) => ({ ...one, as: `g${at}` })),
      values: values.map((one, at) => ({ ...one, as: `v${at}` })),
    }
    const names = [...named.groups, ...named.values].map(({ as }) => as)
    const order = orders.flatMap(([at, way]) => {
      const name = names[at]
      return name === undefined ? [] : [{ name, order: way }]
    })
    return { query, ...named, order, limit }
  })

/** A property to be asserted: up to 14 documents, up to 4 aggregates of them. */
export function aggregateAgreement(world: AggregateWorld, bodies: fc.Arbitrary<JsonObject>) {
  const requested = fc.array(someAggregate, { minLength: 1, maxLength: 4 })
  return fc.asyncProperty(storedDocuments(bodies), requested, async (documents, aggregates) => {
    // As they are stored: JSON has no minus zero.
    const stored = documents.map((document) => JSON.parse(JSON.stringify(document))).filter(isJsonObject)
    await world.fill(stored)
    for (const aggregate of aggregates) {
      const expected = aggregatePlainly(stored, aggregate)
      const input = await world.aggregate(aggregate)
      expect(input.rows.text, JSON.stringify(aggregate)).toBe(expected.rows.text)
      expect(input.total).toBe(expected.total)
    }
  })
}
