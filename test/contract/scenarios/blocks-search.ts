/** Searches: what they find, how many, in which order, and their cache. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf } from '../../end-to-end/harness.ts'
import { animals, finding, term } from '../animals.ts'
import { call, needs, refusesConstants } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { create, fields, object, on, onStore, param, reply, setOne, storage } from '../flow-blocks.ts'

const query: Scenario = async (fixture) => {
  const list = await finding(fixture, { query: term('legs', 6) }, { query: '@query.query' })
  expect(await list()).toEqual(['ant', 'bee'])
}

const limits: Scenario = async (fixture) => {
  const list = await finding(fixture, { limit: param('limit') }, { limit: '@limit.value' })
  expect([await list('?limit=2'), await list('?limit=0')]).toEqual([['ant', 'bee'], []])
  expect(await list()).toHaveLength(4)
  expect(await list('?limit=10000')).toHaveLength(4)
  for (const limit of ['abc', '-1', '10001', '1.5'])
    await expect(list(`?limit=${limit}`)).rejects.toThrow('limit')
}

const offsets: Scenario = async (fixture) => {
  const list = await finding(fixture, { offset: param('offset') }, { offset: '@offset.value' })
  expect([await list('?offset=3'), await list('?offset=4')]).toEqual([['dog'], []])
  expect([(await list()).length, await list('?offset=10000')]).toEqual([4, []])
  for (const offset of ['-1', '10001', '0.5'])
    await expect(list(`?offset=${offset}`)).rejects.toThrow('offset')
}

/** The kept result is given until its key is deleted, whatever was written; another key, or search, asks again. */
const cacheKey: Scenario = async (fixture) => {
  const uri = fixture.name()
  const guid = await fixture.fill(uri, animals.slice(0, 1))
  const pins = { cache_key: '@key.value', cache_seconds: '@seconds.value', limit: '@limit.value' }
  await fixture.run({
    store: storage(uri),
    on: on('get', uri),
    key: param('key'),
    seconds: param('seconds'),
    limit: param('limit'),
    find: onStore('function_search', '@on.flow', pins),
    told: object({ found: '@find.documents', kept: '@find.from_cache' }),
    reply: reply('@find.flow', '@told.object'),
  })
  const ask = async (key: string, more = '') => {
    const answer = await call(fixture, 'GET', `${uri}?${key && `key=${uri}-${key}`}${more}`)
    if (answer.status !== 200) return answer.status
    const { found, kept } = objectOf(answer.body)
    return [objectsOf(found).length, kept]
  }
  expect(await ask('a')).toEqual([1, false])
  await fixture.manage('POST', `/_system/storages/${guid}/documents`, { name: 'new' })
  expect([await ask('a'), await ask('b'), await ask('b')]).toEqual([
    [1, true],
    [2, false],
    [2, true],
  ])
  expect([await ask(''), await ask('', '')]).toEqual([
    [2, false],
    [2, false],
  ])
  expect(await ask('b', '&limit=1'), 'another search').toEqual([1, false])
  const never = '&seconds=0'
  expect([await ask('c', never), await ask('c', never)]).toEqual([
    [2, false],
    [2, false],
  ])
  expect([await ask('c', '&seconds=-1'), await ask('c', '&seconds=2592001')]).toEqual([400, 400])
  expect(await ask('x'.repeat(600))).toBe(400)
}

/** A result is kept for as long as was said, 60 seconds if nothing was. */
async function keepsFor(fixture: ContractFixture, type: string, out: string): Promise<void> {
  const uri = fixture.name()
  await fixture.fill(uri, animals.slice(0, 1))
  await fixture.run({
    store: storage(uri),
    on: on('get', uri),
    key: param('key'),
    seconds: param('seconds'),
    newest: { type: 'query_sort_field', in: { field: 'name', order: 'desc' } },
    find: onStore(type, '@on.flow', {
      cache_key: '@key.value',
      cache_seconds: '@seconds.value',
      sort: '@newest.sort',
    }),
    reply: reply('@find.flow', `@find.${out}`),
  })
  const text = async (key: string, seconds: string) =>
    (await call(fixture, 'GET', `${uri}?key=${uri}${key}${seconds}`)).text
  const before = [await text('a', ''), await text('b', '&seconds=90'), await text('c', '&seconds=0')]
  const [{ guid = '' } = {}] = objectsOf(
    await fixture.manage('POST', '/_system/storages/search', { filters: { name: uri } }),
  ).map((one) => ({ guid: guidOf(one) }))
  await fixture.manage('POST', `/_system/storages/${guid}/documents`, { name: 'zebra' })
  const seen = async () => [
    await text('a', ''),
    await text('b', '&seconds=90'),
    await text('c', '&seconds=0'),
  ]
  const same = async () => (await seen()).map((one, at) => one === before[at])
  expect(await same()).toEqual([true, true, false])
  // What only this run can see is not kept for others: nothing of it may come to be.
  await keepsNothingOfItsOwn(fixture, type, out)
}

async function keepsNothingOfItsOwn(fixture: ContractFixture, type: string, out: string): Promise<void> {
  const uri = fixture.name()
  await fixture.fill(uri, animals.slice(0, 1))
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    set: setOne('name', 'undone'),
    write: create('@on.flow', '@set.mutations'),
    by: { type: 'query_sort_field', in: { field: 'name', order: 'desc' } },
    find: onStore(type, '@write.flow', { cache_key: uri, sort: '@by.sort' }),
    fails: { type: 'function_custom_execute', in: { flow: '@find.flow', function: 'there is none' } },
    read: on('get', uri),
    look: onStore(type, '@read.flow', { cache_key: uri, sort: '@by.sort' }),
    reply: reply('@look.flow', `@look.${out}`),
  })
  expect((await call(fixture, 'POST', uri, {})).status).toBe(500)
  const { text } = await call(fixture, 'GET', uri)
  expect([text.includes('ant'), text.includes('undone')]).toEqual([true, false])
}

const searches: Scenario = async (fixture) => {
  const blocks = { query: term('legs', 4), limit: param('limit'), offset: param('offset') }
  const pins = { query: '@query.query', limit: '@limit.value', offset: '@offset.value' }
  const list = await finding(fixture, blocks, pins)
  expect([await list(), await list('?limit=1'), await list('?limit=1&offset=1')]).toEqual([
    ['cat', 'dog'],
    ['cat'],
    ['dog'],
  ])
  await cacheKey(fixture)
  await keepsFor(fixture, 'function_search', 'documents')
  await countsAll(fixture)
  const find = onStore('function_search', '@on.flow', {})
  const blocksOf = {
    store: storage('kept'),
    on: on('get', 'never'),
    find,
    reply: reply('@find.flow', '@find.documents'),
  }
  await needs(fixture, blocksOf, 'find', 'storage')
  const pages = [-1, 10_001, 1.5]
  await refusesConstants(fixture, blocksOf, 'find', { limit: pages, offset: pages })
}

/** 25 documents, one of them removed: 20 on a page unless it is said; the total is of all pages. */
async function countsAll(fixture: ContractFixture): Promise<void> {
  const uri = fixture.name()
  const guid = await fixture.fill(
    uri,
    Array.from({ length: 25 }, (_, n) => ({ n })),
  )
  const [first] = await fixture.documents(uri)
  await fixture.manage('DELETE', `/_system/storages/${guid}/documents/${guidOf(first)}`)
  const names = ['query', 'limit', 'offset', 'removed', 'key']
  const by = { type: 'query_sort_field', in: { field: 'n', order: 'desc' } }
  const from = { type: 'query_bool_range_field', in: { field: 'n', gte: '@sent.query' } }
  const pins = {
    query: '@from.query',
    sort: '@by.sort',
    limit: '@sent.limit',
    offset: '@sent.offset',
    include_removed: '@sent.removed',
    cache_key: '@sent.key',
  }
  await fixture.run({
    store: storage(uri),
    on: on('post', uri),
    sent: fields('@on.body', ...names),
    from,
    by,
    find: onStore('function_search', '@on.flow', pins),
    told: object({ found: '@find.documents', total: '@find.total' }),
    reply: reply('@find.flow', '@told.object'),
    untold: on('put', uri),
    plain: onStore('function_search', '@untold.flow', { cache_key: `${uri} plain` }),
    listed: reply('@plain.flow', '@plain.documents'),
  })
  const ask = async (body: JsonObject) => {
    const answer = objectOf((await call(fixture, 'POST', uri, body)).body)
    const found = objectsOf(answer.found)
    return [found.length, answer.total, found[0]?.n]
  }
  const rows: readonly (readonly [JsonObject, JsonValue])[] = [
    [{}, [20, 24, 24]],
    [{ offset: 20 }, [4, 24, 4]],
    [{ limit: 30 }, [24, 24, 24]],
    [{ limit: 30, removed: true }, [25, 25, 24]],
    [{ limit: 2, removed: true }, [2, 25, 24]],
    [{ limit: 3, query: 20 }, [3, 5, 24]],
    [{ limit: 0 }, [0, 24, null]],
    [{ offset: 100 }, [0, 24, null]],
  ]
  for (const [body, expected] of rows)
    expect([body, (await ask(body)).map((one) => one ?? null)]).toEqual([body, expected])
  // A kept result without a total is none for a search that asks for it.
  expect(objectsOf((await call(fixture, 'PUT', uri)).body)).toHaveLength(20)
  expect(await ask({ key: `${uri} plain` })).toEqual([20, 24, 24])
  expect(await ask({ key: `${uri} plain` })).toEqual([20, 24, 24])
}

const firstHit: Scenario = async (fixture) => {
  const uri = fixture.name()
  const guid = await fixture.fill(uri, animals)
  await fixture.run({
    store: storage(uri),
    on: on('get', uri),
    legs: param('legs'),
    removed: param('removed'),
    query: {
      type: 'query_bool_term_fields',
      in: { field: 'legs', value: '@legs.value', ignore_empty: true },
    },
    by_legs: { type: 'query_sort_field', in: { field: 'legs' } },
    last: { type: 'query_sort_field', in: { field: 'name', order: 'desc' } },
    find: onStore('function_search_single_result', '@on.flow', {
      query: '@query.query',
      sort: ['@by_legs.sort', '@last.sort'],
      include_removed: '@removed.value',
    }),
    reply: reply('@find.flow', '@find.document'),
    none: reply('@find.not_found', 'none', 404),
  })
  expect(await call(fixture, 'GET', `${uri}?legs=6`)).toMatchObject({ status: 200, body: { name: 'bee' } })
  expect(await call(fixture, 'GET', `${uri}?legs=8`)).toMatchObject({ status: 404, body: 'none' })
  expect((await call(fixture, 'GET', uri)).body, 'any, so the first').toMatchObject({ name: 'dog' })
  const dog = (await fixture.documents(uri)).find(({ name }) => name === 'dog')
  await fixture.manage('DELETE', `/_system/storages/${guid}/documents/${guidOf(dog)}`)
  expect((await call(fixture, 'GET', uri)).body).toMatchObject({ name: 'cat' })
  expect((await call(fixture, 'GET', `${uri}?removed=true`)).body).toMatchObject({ name: 'dog' })
  await keepsFor(fixture, 'function_search_single_result', 'document')
  const find = onStore('function_search_single_result', '@on.flow', {})
  const blocks = {
    store: storage('kept'),
    on: on('get', 'never'),
    find,
    reply: reply('@find.flow', '@find.document'),
  }
  await needs(fixture, blocks, 'find', 'storage')
  await refusesConstants(fixture, blocks, 'find', { cache_seconds: [-1, 2_592_001] })
  await takesAll(fixture)
}

/** Without a query it is any document: the first in the order. */
async function takesAll(fixture: ContractFixture): Promise<void> {
  const uri = fixture.name()
  await fixture.fill(uri, animals)
  await fixture.run({
    store: storage(uri),
    on: on('get', uri),
    by: { type: 'query_sort_field', in: { field: 'name' } },
    find: onStore('function_search_single_result', '@on.flow', { sort: '@by.sort' }),
    reply: reply('@find.flow', '@find.document'),
  })
  expect((await call(fixture, 'GET', uri)).body).toMatchObject({ name: 'ant' })
}

export const scenarios: Scenarios = {
  function_search: searches,
  'function_search: query': query,
  'function_search: limit': limits,
  'function_search: offset': offsets,
  'function_search: cache key': cacheKey,
  function_search_single_result: firstHit,
}
