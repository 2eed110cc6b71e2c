/** Searches and the queries that they are given, over the same few documents each time. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import { objectOf, objectsOf } from '../../end-to-end/harness.ts'
import { call, listed } from '../ask-quoin.ts'
import type { ContractRoom } from '../contract-room.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { object, on, onStore, param, reply, storage } from '../flow-blocks.ts'

const animals: readonly JsonObject[] = [
  { name: 'ant', legs: 6, born: '2026-01-01T00:00:00Z', note: 'small and busy', tags: ['wild'] },
  {
    name: 'bee',
    legs: 6,
    born: '2026-02-01T00:00:00Z',
    note: 'busy in the garden',
    tags: ['wild', 'useful'],
  },
  { name: 'cat', legs: 4, born: '2026-03-01T00:00:00Z', note: 'sleeps, says ant', tags: ['tame'] },
  { name: 'dog', legs: 4, born: '2026-04-01T00:00:00Z', note: 'in the garden', tags: ['tame', 'useful'] },
]

/** An endpoint that lists the names of the animals that a query of these blocks finds, in the order of their names. */
async function finding(room: ContractRoom, blocks: JsonObject, pins: JsonObject = {}) {
  const uri = room.name()
  await room.fill(uri, animals)
  await room.run({
    store: storage(uri),
    on: on('get', uri),
    by_name: { type: 'query_sort_field', in: { field: 'name' } },
    ...blocks,
    find: onStore('function_search', '@on.flow', { sort: '@by_name.sort', ...pins }),
    reply: reply('@find.flow', '@find.documents'),
  })
  return (query = '') => listed(room, `${uri}${query}`, 'name')
}

const term = (field: string, value: JsonValue): JsonObject => ({
  type: 'query_bool_term_fields',
  in: { field, value },
})
const matches = (query: JsonObject, more: JsonObject = {}) => ({
  blocks: { query, ...more },
  pins: { query: '@query.query' },
})

/** The query finds exactly these. */
const finds =
  (query: JsonObject, expected: readonly string[], more: JsonObject = {}): Scenario =>
  async (room) => {
    const { blocks, pins } = matches(query, more)
    expect(await (await finding(room, blocks, pins))()).toEqual(expected)
  }

const limits: Scenario = async (room) => {
  const list = await finding(room, { limit: param('limit') }, { limit: '@limit.value' })
  expect([await list('?limit=2'), await list('?limit=0')]).toEqual([['ant', 'bee'], []])
  expect(await list()).toHaveLength(4)
  await expect(list('?limit=abc')).rejects.toThrow('limit')
}

const offsets: Scenario = async (room) => {
  const list = await finding(room, { offset: param('offset') }, { offset: '@offset.value' })
  expect([await list('?offset=3'), await list('?offset=4')]).toEqual([['dog'], []])
  await expect(list('?offset=-1')).rejects.toThrow('offset')
}

/** The kept result is given until its key is deleted, whatever was written; another key asks again. */
const cacheKey: Scenario = async (room) => {
  const uri = room.name()
  const guid = await room.fill(uri, animals.slice(0, 1))
  const pins = { cache_key: '@key.value', cache_seconds: 3600 }
  await room.run({
    store: storage(uri),
    on: on('get', uri),
    key: param('key'),
    find: onStore('function_search', '@on.flow', pins),
    told: object({ found: '@find.documents', kept: '@find.from_cache' }),
    reply: reply('@find.flow', '@told.object'),
  })
  const ask = async (key: string) => {
    const { found, kept } = objectOf((await call(room, 'GET', `${uri}?key=${uri}-${key}`)).body)
    return [objectsOf(found).length, kept]
  }
  expect(await ask('a')).toEqual([1, false])
  await room.manage('POST', `/_system/storages/${guid}/documents`, { name: 'new' })
  expect([await ask('a'), await ask('b'), await ask('b')]).toEqual([
    [1, true],
    [2, false],
    [2, true],
  ])
}

const searches: Scenario = async (room) => {
  const blocks = { query: term('legs', 4), limit: param('limit'), offset: param('offset') }
  const pins = { query: '@query.query', limit: '@limit.value', offset: '@offset.value' }
  const list = await finding(room, blocks, pins)
  expect([await list(), await list('?limit=1'), await list('?limit=1&offset=1')]).toEqual([
    ['cat', 'dog'],
    ['cat'],
    ['dog'],
  ])
  await cacheKey(room)
}

const firstHit: Scenario = async (room) => {
  const uri = room.name()
  await room.fill(uri, animals)
  await room.run({
    store: storage(uri),
    on: on('get', uri),
    legs: param('legs'),
    query: term('legs', '@legs.value'),
    last: { type: 'query_sort_field', in: { field: 'name', order: 'desc' } },
    find: onStore('function_search_single_result', '@on.flow', { query: '@query.query', sort: '@last.sort' }),
    reply: reply('@find.flow', '@find.document'),
    none: reply('@find.not_found', 'none', 404),
  })
  expect(await call(room, 'GET', `${uri}?legs=6`)).toMatchObject({ status: 200, body: { name: 'bee' } })
  expect(await call(room, 'GET', `${uri}?legs=8`)).toMatchObject({ status: 404, body: 'none' })
}

const text = (value: string, field: JsonObject = { field: 'note' }): JsonObject => ({
  type: 'query_bool_simple_query_string_field',
  in: { value, ...field },
})
const range = (field: string, bounds: JsonObject): JsonObject => ({
  type: 'query_bool_range_field',
  in: { field, ...bounds },
})
const numbers = finds(range('legs', { gt: 4, lte: 6 }), ['ant', 'bee'])
const dates = finds(range('born', { gte: '2026-02-01T00:00:00Z', lt: '2026-04-01T00:00:00Z' }), [
  'bee',
  'cat',
])

const ranges: Scenario = async (room) => {
  await numbers(room)
  await dates(room)
}

const both = { a: term('legs', 4), b: term('tags', 'useful') }
const filters: Scenario = async (room) => {
  const only = { type: 'query_bool_filter', in: { queries: ['@a.query', '@b.query'] } }
  await finds(only, ['dog'], both)(room)
}

const freeText: Scenario = async (room) => {
  await finds(text('garden'), ['bee', 'dog'])(room)
  await finds(text('garden -busy'), ['dog'])(room)
  await finds(text('slee*'), ['cat'])(room)
}

const sorts: Scenario = async (room) => {
  const legs = { type: 'query_sort_field', in: { field: 'legs', order: 'asc' } }
  const name = { type: 'query_sort_field', in: { field: 'name', order: 'desc' } }
  const list = await finding(room, { legs, name }, { sort: ['@legs.sort', '@name.sort'] })
  expect(await list()).toEqual(['dog', 'cat', 'bee', 'ant'])
}

const exact: Scenario = async (room) => {
  await finds(term('name', 'ant'), ['ant'])(room)
  await finds(term('name', 'an'), [])(room)
  await finds(term('tags', 'tame'), ['cat', 'dog'])(room)
}

export const scenarios: Scenarios = {
  function_search: searches,
  'function_search: query': finds(term('legs', 6), ['ant', 'bee']),
  'function_search: limit': limits,
  'function_search: offset': offsets,
  'function_search: cache key': cacheKey,
  function_search_single_result: firstHit,
  query_and: finds({ type: 'query_and', in: { queries: ['@a.query', '@b.query'] } }, ['dog'], both),
  query_bool_must: finds({ type: 'query_bool_must', in: { field: 'name', terms: ['ant', 'dog', 'eel'] } }, [
    'ant',
    'dog',
  ]),
  query_bool_term_fields: exact,
  'query_bool_term_fields: field': finds(term('note', 'in the garden'), ['dog']),
  query_bool_filter: filters,
  query_bool_simple_query_string_field: freeText,
  'query_bool_simple_query_string_field: field': finds(text('ant'), ['cat']),
  query_bool_range_field: ranges,
  'query_bool_range_field: number': numbers,
  'query_bool_range_field: date': dates,
  query_sort_field: sorts,
}
