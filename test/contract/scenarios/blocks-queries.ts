/** The queries that searches are given, over the same few documents each time. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import { objectsOf } from '../../end-to-end/harness.ts'
import { animals, finding, term } from '../animals.ts'
import { call, needs } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { fields, on, onStore, reply, storage } from '../flow-blocks.ts'

const matches = (query: JsonObject, more: JsonObject = {}) => ({
  blocks: { query, ...more },
  pins: { query: '@query.query' },
})

/** The query finds exactly these. */
const finds =
  (query: JsonObject, expected: readonly string[], more: JsonObject = {}): Scenario =>
  async (fixture) => {
    const { blocks, pins } = matches(query, more)
    expect(await (await finding(fixture, blocks, pins))()).toEqual(expected)
  }

/** Documents whose fields are of many kinds, each with its name. */
const kinds: readonly JsonObject[] = [
  { name: 'five', at: 5 },
  { name: 'five as text', at: '5' },
  { name: 'yes', at: true },
  { name: 'yes as text', at: 'true' },
  { name: 'no', at: false },
  { name: 'list', at: ['a', 5, null] },
  { name: 'empty', at: '' },
  { name: 'null', at: null },
  { name: 'other field', elsewhere: 5, note: 5 },
  { name: 'deep', in: { side: 'a' } },
]

/**
 * An endpoint with this block on documents, whose pins are what is posted. Gives the names that are found, or the status
 * of what is refused.
 */
async function asked(
  fixture: ContractFixture,
  type: string,
  pins: readonly string[],
  documents = kinds,
  more: JsonObject = {},
  wired: JsonObject = {},
) {
  const uri = fixture.name()
  await fixture.fill(uri, documents)
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    sent: fields('@on.body', ...pins),
    ...more,
    query: { type, in: { ...Object.fromEntries(pins.map((pin) => [pin, `@sent.${pin}`])), ...wired } },
    by_name: { type: 'query_sort_field', in: { field: 'name' } },
    find: onStore('function_search', '@on.flow', {
      query: '@query.query',
      sort: '@by_name.sort',
      limit: 100,
    }),
    reply: reply('@find.flow', '@find.documents'),
  })
  return async (body: JsonObject): Promise<JsonValue> => {
    const { status, body: answer } = await call(fixture, 'POST', uri, body)
    return status === 200 ? objectsOf(answer).map(({ name }) => name ?? null) : status
  }
}

type Asked = readonly (readonly [JsonObject, readonly string[] | number])[]

async function each(ask: (body: JsonObject) => Promise<JsonValue>, rows: Asked): Promise<void> {
  for (const [body, expected] of rows) expect([body, await ask(body)]).toEqual([body, expected])
}

const everything = kinds.map(({ name }) => String(name)).sort()
const inSearch = (query: JsonObject): JsonObject => ({
  store: storage('kept'),
  on: on('get', 'never'),
  query,
  find: onStore('function_search', '@on.flow', { query: '@query.query' }),
  reply: reply('@find.flow', '@find.documents'),
})

const exact: Scenario = async (fixture) => {
  const ask = await asked(fixture, 'query_bool_term_fields', ['field', 'value', 'ignore_empty'])
  await each(ask, [
    [{ field: 'at', value: 5 }, ['five', 'list']],
    // What comes with a request is text: it finds the number or boolean that it spells, too.
    [{ field: 'at', value: '5' }, ['five', 'five as text', 'list']],
    [{ field: 'at', value: true }, ['yes']],
    [{ field: 'at', value: 'true' }, ['yes', 'yes as text']],
    [{ field: 'at', value: 'false' }, ['no']],
    [{ field: 'at', value: false }, ['no']],
    [{ field: 'at', value: 'a' }, ['list']],
    [{ field: 'at', value: ['a', true, null] }, ['list', 'yes']],
    [{ field: 'at', value: 'fiv' }, []],
    [{ field: 'name', value: 'five' }, ['five']],
    [{ field: 'in.side', value: 'a' }, ['deep']],
    // Empty: the documents where it is empty, or no filter where that is asked for.
    [{ field: 'at', value: '' }, ['deep', 'empty', 'null', 'other field']],
    [{ field: 'at' }, ['deep', 'empty', 'null', 'other field']],
    [{ field: 'at', value: null }, ['deep', 'empty', 'null', 'other field']],
    [{ field: 'at', value: ['', 'a'] }, ['empty', 'list']],
    [{ field: 'at', value: '', ignore_empty: true }, everything],
    [{ field: 'at', ignore_empty: true }, everything],
    [{ field: 'at', value: ['', 'a'], ignore_empty: true }, ['list']],
    [{ field: 'at', value: 5, ignore_empty: true }, ['five', 'list']],
    [{ field: 'at', value: { a: 1 } }, 400],
    [{ field: 'at', value: [['a']] }, 400],
    [{ field: 'a..b', value: 5 }, 400],
  ])
  await needs(fixture, inSearch(term('a', 1)), 'query', 'field')
}

/** The field that is named is compared, and no other one that holds the value. */
const onlyTheField: Scenario = async (fixture) => {
  await finds(term('note', 'in the garden'), ['dog'])(fixture)
  const ask = await asked(fixture, 'query_bool_term_fields', ['field', 'value'])
  await each(ask, [
    [{ field: 'note', value: 5 }, ['other field']],
    [{ field: 'elsewhere', value: 5 }, ['other field']],
    [{ field: 'at', value: 5 }, ['five', 'list']],
  ])
}

const wild = term('tags', 'wild')
const useful = term('tags', 'useful')
const none = { type: 'query_bool_term_fields', in: { field: 'name', ignore_empty: true } }

const all: Scenario = async (fixture) => {
  const and = (...queries: readonly string[]) => ({ type: 'query_and', in: { queries } })
  await finds(and('@a.query', '@b.query'), ['bee'], { a: wild, b: useful })(fixture)
  await finds(and('@a.query'), ['ant', 'bee'], { a: wild })(fixture)
  await finds(and('@a.query', '@none.query', '@b.query'), ['bee'], { a: wild, b: useful, none })(fixture)
  await finds(and('@none.query'), ['ant', 'bee', 'cat', 'dog'], { none })(fixture)
}

const atLeastOne: Scenario = async (fixture) => {
  const must = (pins: JsonObject) => ({ type: 'query_bool_must', in: pins })
  await finds(must({ field: 'name', terms: ['ant', 'dog', 'eel'] }), ['ant', 'dog'])(fixture)
  const both = { a: wild, b: term('legs', 4) }
  await finds(must({ queries: ['@a.query', '@b.query'] }), ['ant', 'bee', 'cat', 'dog'], both)(fixture)
  await finds(must({ queries: ['@a.query'] }), ['ant', 'bee'], both)(fixture)
  await finds(must({ queries: ['@none.query', '@a.query'] }), ['ant', 'bee'], { ...both, none })(fixture)
  const mixed = must({ field: 'name', terms: ['cat'], queries: ['@a.query'] })
  await finds(mixed, ['ant', 'bee', 'cat'], { a: wild })(fixture)
  const ask = await asked(fixture, 'query_bool_must', ['field', 'terms', 'ignore_empty'])
  await each(ask, [
    [{ field: 'at', terms: [] }, []],
    [{ field: 'at' }, []],
    [{ terms: [] }, []],
    [{}, everything],
    [{ field: 'at', terms: [], ignore_empty: true }, everything],
    [{ field: 'at', terms: ['5', 'a'] }, ['five', 'five as text', 'list']],
    [{ field: 'at', terms: [true, null] }, ['yes']],
    [{ field: 'at', terms: [{ a: 1 }] }, 400],
    [{ terms: ['a'] }, 400],
  ])
  await requires(fixture)
}

/** It is required: beside another query not a document comes that it does not find. */
async function requires(fixture: ContractFixture): Promise<void> {
  const blocks = {
    a: { type: 'query_bool_must', in: { field: 'name', terms: ['ant', 'dog'] } },
    b: { type: 'query_bool_simple_query_string_field', in: { field: 'note', value: 'busy' } },
  }
  await finds({ type: 'query_and', in: { queries: ['@a.query', '@b.query'] } }, ['ant'], blocks)(fixture)
}

/** All of the queries, and the order is that of the other query alone: what filters does not rank. */
const filters: Scenario = async (fixture) => {
  const only = (...queries: readonly string[]) => ({ type: 'query_bool_filter', in: { queries } })
  await finds(only('@a.query', '@b.query'), ['bee'], { a: wild, b: useful })(fixture)
  await finds(only('@a.query'), ['ant', 'bee'], { a: wild })(fixture)
  await finds(only('@none.query'), ['ant', 'bee', 'cat', 'dog'], { none })(fixture)
  const [ranked, filtered] = [
    await inOrder(fixture, 'query_and'),
    await inOrder(fixture, 'query_bool_filter'),
  ]
  expect(ranked).toEqual(['often', 'seldom'])
  expect(filtered, 'newest first: nothing is ranked').toEqual(['seldom', 'often'])
}

/** Two documents that hold a word, found by free text through a block that takes queries; the best one is the older one. */
async function inOrder(fixture: ContractFixture, type: string): Promise<JsonValue[]> {
  const uri = fixture.name()
  await fixture.fill(uri, [
    { name: 'often', note: 'garden garden garden' },
    { name: 'seldom', note: 'a garden among many other words that say nothing at all of it' },
  ])
  await fixture.run({
    store: storage(uri),
    on: on('get', uri),
    words: text('garden'),
    query: { type, in: { queries: ['@words.query'] } },
    find: onStore('function_search', '@on.flow', { query: '@query.query' }),
    reply: reply('@find.flow', '@find.documents'),
  })
  return objectsOf((await call(fixture, 'GET', uri)).body).map(({ name }) => name ?? null)
}

const text = (value: string, field: JsonObject = { field: 'note' }): JsonObject => ({
  type: 'query_bool_simple_query_string_field',
  in: { value, ...field },
})

const freeText: Scenario = async (fixture) => {
  await finds(text('garden'), ['bee', 'dog'])(fixture)
  await finds(text('garden -busy'), ['dog'])(fixture)
  await finds(text('slee*'), ['cat'])(fixture)
  await finds(text('ant', { field: ['name', 'note'] }), ['ant', 'cat'])(fixture)
  await finds(text('ant', {}), ['ant', 'cat'])(fixture)
  await finds(text('wild', {}), ['ant', 'bee'])(fixture)
  const ask = await asked(
    fixture,
    'query_bool_simple_query_string_field',
    ['field', 'value', 'ignore_empty'],
    animals,
  )
  const every = ['ant', 'bee', 'cat', 'dog']
  await each(ask, [
    [{ field: 'note', value: 'garden' }, ['bee', 'dog']],
    [{ field: 'note', value: '' }, every],
    [{ field: 'note', value: '  ' }, every],
    [{ field: 'note' }, every],
    [{ value: 'busy' }, ['ant', 'bee']],
    [{ field: '', value: 'busy' }, ['ant', 'bee']],
    [{ field: 'note', value: '', ignore_empty: false }, []],
    [{ field: 'note', value: 'garden', ignore_empty: false }, ['bee', 'dog']],
    [{ field: 'a..b', value: 'garden' }, 400],
  ])
}

const range = (field: string, bounds: JsonObject): JsonObject => ({
  type: 'query_bool_range_field',
  in: { field, ...bounds },
})
const numbers = finds(range('legs', { gt: 4, lte: 6 }), ['ant', 'bee'])
const dates = finds(range('born', { gte: '2026-02-01T00:00:00Z', lt: '2026-04-01T00:00:00Z' }), [
  'bee',
  'cat',
])

const ranges: Scenario = async (fixture) => {
  await numbers(fixture)
  await dates(fixture)
  await needs(fixture, inSearch(range('legs', { gt: 4 })), 'query', 'field')
  const now = Date.now()
  const day = (days: number) => new Date(now + days * 86_400_000).toISOString()
  const documents = [
    ...[1, 2, 3].map((n) => ({ name: `n${n}`, n, text: `${n}` })),
    { name: 'old', when: day(-10) },
    { name: 'today', when: day(0) },
    { name: 'plain', when: '2026-01-02' },
  ]
  const ask = await asked(fixture, 'query_bool_range_field', ['field', 'gte', 'gt', 'lte', 'lt'], documents)
  const every = documents.map(({ name }) => name).sort()
  await each(ask, [
    [{ field: 'n', gte: 2 }, ['n2', 'n3']],
    [{ field: 'n', gt: 2 }, ['n3']],
    [{ field: 'n', lte: 2 }, ['n1', 'n2']],
    [{ field: 'n', lt: 2 }, ['n1']],
    [{ field: 'n', gte: 2, lt: 3 }, ['n2']],
    [{ field: 'n', gt: '1', lte: '2' }, ['n2']],
    [{ field: 'text', gte: '2' }, ['n2', 'n3']],
    [{ field: 'n' }, every],
    [{ field: 'n', gte: '', lt: null }, every],
    [{ field: 'when', gte: 'now-3d/d' }, ['today']],
    [{ field: 'when', lte: 'now/d', gt: 'now-1d/d' }, ['today']],
    [{ field: 'when', gt: 'now/d' }, []],
    [{ field: 'when', lt: 'now-1d', gte: 'now-30d' }, ['old']],
    [{ field: 'when', gte: ' 2026-01-02 ', lte: '2026-01-02' }, ['plain']],
    [{ field: '_meta.created', gte: 'now-1h' }, every],
    [{ field: '_meta.created', lt: '2020-01-01' }, []],
    [{ field: '_meta.cms', gte: 'now-1h' }, every],
    [{ field: 'when', gte: '2026-02-30' }, 400],
    [{ field: 'when', gte: 'now-1x' }, 400],
    [{ field: 'n', gte: { a: 1 } }, 400],
    [{ field: 'n', gte: 1, lt: 'abc' }, 400],
    [{ field: 'a..b', gte: 1 }, 400],
  ])
}

const sorts: Scenario = async (fixture) => {
  const by = (pins: JsonObject) => ({ type: 'query_sort_field', in: pins })
  const order = async (...pins: readonly JsonObject[]) => {
    const blocks = Object.fromEntries(pins.map((one, at) => [`s${at}`, by(one)]))
    const list = await finding(fixture, blocks, { sort: pins.map((_, at) => `@s${at}.sort`) })
    return (await list()).join(' ')
  }
  expect(await order({ field: 'legs', order: 'asc' }, { field: 'name', order: 'desc' })).toBe(
    'dog cat bee ant',
  )
  expect(await order({ field: 'name' })).toBe('ant bee cat dog')
  expect(await order({ field: 'name', order: 'desc' })).toBe('dog cat bee ant')
  // Documents without the field come last whatever the order is, unless they are wanted first.
  const only = { field: 'only_cat' }
  expect((await order(only, { field: 'name' })).slice(0, 7)).toBe('cat ant')
  expect((await order({ ...only, order: 'desc' }, { field: 'name' })).slice(0, 7)).toBe('cat ant')
  expect((await order({ ...only, missing: 'first' }, { field: 'name' })).slice(-3)).toBe('cat')
  await needs(
    fixture,
    {
      ...inSearch(by({ field: 'a' })),
      find: onStore('function_search', '@on.flow', { sort: '@query.sort' }),
    },
    'query',
    'field',
  )
  const uri = fixture.name()
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    sent: fields('@on.body', 'field'),
    by: by({ field: '@sent.field' }),
    find: onStore('function_search', '@on.flow', { sort: '@by.sort' }),
    reply: reply('@find.flow', '@find.documents'),
  })
  expect((await call(fixture, 'POST', uri, { field: 'a..b' })).status).toBe(400)
}

export const scenarios: Scenarios = {
  query_and: all,
  query_bool_must: atLeastOne,
  query_bool_term_fields: exact,
  'query_bool_term_fields: field': onlyTheField,
  query_bool_filter: filters,
  query_bool_simple_query_string_field: freeText,
  'query_bool_simple_query_string_field: field': finds(text('ant'), ['cat']),
  query_bool_range_field: ranges,
  'query_bool_range_field: number': numbers,
  'query_bool_range_field: date': dates,
  query_sort_field: sorts,
}
