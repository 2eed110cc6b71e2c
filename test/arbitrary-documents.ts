/**
 * Random documents and searches that meet each other: few fields, few values, so that filters hit, sorts tie and types
 * clash. Their values are the ones that databases get wrong.
 */
import fc from 'fast-check'
import { isJsonObject, type JsonObject, type JsonValue } from '../src/shared/json.ts'
import type { Bounds, Query, Scalar, Search, SortKey } from '../src/shared/query.ts'
import { textProblem, textsOf } from '../src/storage/search/check-search.ts'

/** Field names: plain, nested, with every character that a path or a literal could trip over, and inherited ones. */
export const someFields = [
  'status',
  'count',
  'nested.name',
  'nested.deep.flag',
  "it's",
  'a b',
  '0',
  '#-1',
  '[0]',
  '$',
  'ключ',
  '😀',
  'toString',
] as const

const metaFields = [
  '_meta.created',
  '_meta.cms',
  '_meta.guid',
  '_meta.removed',
  '_meta.updated',
  '_meta.entity',
  '_meta.update_hash',
  '_meta.nothing',
  '_meta.created.x',
  '_meta',
] as const

/** Words that share letters, accents, prefixes and scripts. */
const someWords = [
  'open',
  'Opened',
  'opne',
  'café',
  'CAFE',
  'Straße',
  '東京',
  '東',
  'e-mail',
  'mail',
  'x',
  '😀',
]

const someText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'open',
      'done',
      '',
      ' ',
      '\u3000\ufeff',
      '5',
      'true',
      'null',
      '[1]',
      '["open"]',
      '{}',
      'ÿ',
      'Ä',
      'Done',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\u{1f600}', '\uff5e', 'open\u{1f600}', "o'p", 'a"b', '\\', '%', '\u2028'),
  },
  { weight: 2, arbitrary: fc.array(fc.constantFrom(...someWords), { maxLength: 6 }).map((w) => w.join(' ')) },
  // Longer than what an index of PostgreSQL holds, alike at the beginning, ordered by the end.
  { weight: 1, arbitrary: fc.constantFrom('b', 'a', '\u{1f600}').map((end) => 'open '.repeat(60) + end) },
)

const someNumber: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(0, 1, -1, 5, 1.5, 2),
  fc.constantFrom(
    -0,
    2 ** 53,
    2 ** 60,
    2 ** 60 + 256,
    2 ** 63,
    1e20,
    1e21,
    0.1,
    5e-324,
    1.7976931348623157e308,
    -(2 ** 60),
  ),
)

const someScalar: fc.Arbitrary<Scalar> = fc.oneof(someText, someNumber, fc.boolean())

const someItem: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 6, arbitrary: someScalar },
  { weight: 1, arbitrary: fc.constantFrom<JsonValue>(null, [], {}, [1], ['open'], { name: 'open' }) },
)

const someValue: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 6, arbitrary: someScalar },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.array(someItem, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom('name', 'a', '0'), someItem, { maxKeys: 2 }) },
)

/** What builders store: one type a field, or nothing. Numbers in `count`, flags in `nested.deep.flag`, else strings. */
const tidyValues = new Map<string, fc.Arbitrary<JsonValue>>([
  ['count', someNumber],
  ['nested.deep.flag', fc.boolean()],
])

function body(valuesOf: (field: string) => fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> {
  const values = fc.tuple(
    ...someFields.map((field) => fc.option(valuesOf(field), { nil: undefined, freq: 2 })),
  )
  return values.map((input) => {
    const document: { [key: string]: JsonValue } = {}
    input.forEach((value, index) => {
      if (value !== undefined) put(document, (someFields[index] ?? '').split('.'), value)
    })
    return document
  })
}

function put(document: { [key: string]: JsonValue }, path: readonly string[], value: JsonValue): void {
  const [key = '', ...rest] = path
  if (rest.length === 0) {
    document[key] = value
    return
  }
  const inner = Object.hasOwn(document, key) ? document[key] : {}
  // Another type may stand where the path goes through; then it stays, and the field is missing.
  if (!isJsonObject(inner)) return
  const copy: { [key: string]: JsonValue } = { ...inner }
  put(copy, rest, value)
  document[key] = copy
}

export const untidyBody: fc.Arbitrary<JsonObject> = body((field) =>
  field === 'nested.name' ? fc.oneof(someText, someValue) : someValue,
)
export const tidyBody: fc.Arbitrary<JsonObject> = body((field) => tidyValues.get(field) ?? someText)

/** Documents as stored, with `_meta`; created within few milliseconds, so that creation ties too; some removed. */
export function storedDocuments(bodies: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject[]> {
  const stored = fc.tuple(
    bodies,
    fc.integer({ min: 0, max: 4 }),
    fc.boolean(),
    fc.integer({ min: 0, max: 5 }),
  )
  return fc.array(stored, { maxLength: 14 }).map((list) =>
    list.map(([fields, step, unusual, removed], index) => {
      const cms = 1_700_000_000_000 + step * 499
      const guid = `0190000${unusual ? 'b' : 'a'}-0000-7000-8000-${String(index).padStart(12, '0')}`
      const meta = {
        guid,
        entity: 1,
        created: Math.floor(cms / 1000),
        updated: Math.floor((cms + 700) / 1000),
        cms,
        ums: cms + 700,
        removed: removed === 0 ? 1_700_000_100 : 0,
        expiry: -1,
        update_hash: `h${index % 3}`,
      }
      return { _meta: meta, ...fields }
    }),
  )
}

export const someField = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom<string>(...someFields, 'nested', 'missing', 'status.x') },
  { weight: 2, arbitrary: fc.constantFrom<string>(...metaFields) },
)

const someMetaNumber = fc.constantFrom(
  1_699_999_999,
  1_700_000_000,
  1_700_000_001,
  1_700_000_000.5,
  1_700_000_000_499,
)
const searchedNumber = fc.oneof(
  { weight: 4, arbitrary: someNumber },
  { weight: 1, arbitrary: someMetaNumber },
)
const searchedText = fc.oneof(
  { weight: 4, arbitrary: someText },
  { weight: 1, arbitrary: fc.constantFrom('0190000a-0000-7000-8000-000000000001', 'h1', '1700000000') },
)
export const searched: fc.Arbitrary<Scalar> = fc.oneof(searchedText, searchedNumber, fc.boolean())

function boundsOf<T extends string | number>(one: fc.Arbitrary<T>): fc.Arbitrary<Bounds> {
  return fc
    .record({ gte: one, gt: one, lte: one, lt: one }, { requiredKeys: [] })
    .filter((bounds) => Object.keys(bounds).length > 0)
}

const quotedWords = fc
  .array(fc.constantFrom(...someWords), { minLength: 1, maxLength: 3 })
  .map((words) => `"${words.join(' ')}"`)
/** Free text made of the grammar's own parts, mostly well formed. */
export const someQueryText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...someWords) },
      {
        weight: 2,
        arbitrary: fc.constantFrom('ope*', 'caf*', '東*', 'o*', 'open~1', 'opne~2', 'mial~', '*'),
      },
      { weight: 2, arbitrary: quotedWords },
      { weight: 1, arbitrary: quotedWords.map((words) => `${words}~2`) },
      {
        weight: 2,
        arbitrary: fc.constantFrom('|', '+', '(', ')', '-x', '-open', '-(open mail)', '-"open x"', '-', '"'),
      },
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(' '))

const leaf: fc.Arbitrary<Query> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Query>({ kind: 'all' }) },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        kind: fc.constant('term' as const),
        field: someField,
        value: searched,
        scalar: fc.constant(true as const),
      },
      { requiredKeys: ['kind', 'field', 'value'] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fields' as const),
      field: someField,
      operator: fc.constantFrom('==' as const, '<' as const, '<=' as const),
      other: someField,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('contains' as const), field: someField, value: searched }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('caseless' as const),
      field: someField,
      test: fc.constantFrom('equals', 'contains', 'startsWith', 'endsWith'),
      value: searchedText,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('folded' as const),
      field: someField,
      test: fc.constantFrom('equals' as const, 'contains' as const, 'startsWith' as const),
      values: fc.oneof(
        { weight: 4, arbitrary: fc.array(searchedText, { maxLength: 3 }) },
        {
          weight: 1,
          arbitrary: searchedText.map((one) =>
            Array.from({ length: 60 }, (_, at) => `${one}${at % 60 || ''}`),
          ),
        },
      ),
      folding: fc.record({
        collation: fc.constantFrom('und' as const, 'sv' as const, 'cs' as const, 'tr' as const),
        ignoreAccents: fc.boolean(),
      }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('empty' as const), field: someField }) },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        kind: fc.constant('terms' as const),
        field: someField,
        values: fc.array(searched, { maxLength: 4 }),
        scalar: fc.constant(true as const),
      },
      { requiredKeys: ['kind', 'field', 'values'] },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        kind: fc.constant('range' as const),
        field: someField,
        bounds: fc.oneof(boundsOf(searchedText), boundsOf(searchedNumber)),
        scalar: fc.constant(true as const),
      },
      { requiredKeys: ['kind', 'field', 'bounds'] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('range' as const),
      field: fc.constantFrom('_meta.created', '_meta.updated', '_meta.cms'),
      bounds: boundsOf(someMetaNumber),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('exists' as const), field: someField }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('simple_query_string' as const),
      fields: fc.oneof(fc.constant<string[]>([]), fc.array(someField, { minLength: 1, maxLength: 2 })),
      text: someQueryText,
    }),
  },
)

/** With no more misspelled words and gaps than one search may have. */
const someQuery: fc.Arbitrary<Query> = fc
  .letrec<{ query: Query }>((tie) => ({
    query: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      { weight: 4, arbitrary: leaf },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constantFrom('and' as const, 'or' as const),
          queries: fc.array(tie('query'), { maxLength: 3 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constantFrom('not' as const, 'filter' as const),
          query: tie('query'),
        }),
      },
    ),
  }))
  .query.filter((query) => textProblem(textsOf(query)) === undefined)

const someSortKey: fc.Arbitrary<SortKey> = fc.record(
  {
    field: someField,
    order: fc.constantFrom('asc' as const, 'desc' as const),
    missing: fc.constantFrom('first' as const, 'last' as const),
    collation: fc.constantFrom('und' as const, 'sv' as const),
  },
  { requiredKeys: ['field', 'order', 'missing'] },
)

/** Pages are small, so that a walk along the cursors takes several. */
export const someSearch: fc.Arbitrary<Search> = fc.record({
  query: someQuery,
  sort: fc.array(someSortKey, { maxLength: 3 }),
  limit: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constant(100)),
  offset: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 4 }) },
  ),
  includeRemoved: fc.boolean(),
})
