/** Requests as clients of the product behind the contract send them, where they differ from ours. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let blueprint: string
let api: string
beforeAll(async () => {
  quoin = await openTestQuoin()
  api = `${await quoin.quoin.server.listen()}/api/v1`
  blueprint = guidOf(await quoin.manage('POST', '/blueprints', { name: 'From elsewhere' }))
})
afterAll(() => quoin.close())

const create = (body: JsonObject) =>
  quoin.send('POST', '/blueprintactions', { as: 'admin', body: { blueprint_guid: blueprint, ...body } })

test('a blueprint is found by its short id, and by nothing that only looks like one', async () => {
  const { short_id: shortId } = objectOf(await quoin.manage('GET', `/blueprints/${blueprint}`))
  expect(shortId).toMatch(/^[A-Za-z0-9]{12}$/)
  expect(await quoin.send('GET', `/blueprints/${shortId}`)).toMatchObject({ status: 401 })
  expect(guidOf(await quoin.manage('GET', `/blueprints/${shortId}`))).toBe(blueprint)
  const absent = await quoin.send('GET', '/blueprints/AAAAAAAAAAAA', { as: 'admin' })
  expect(absent).toMatchObject({ status: 404, body: { error: 'NOT_FOUND' } })
})

test.each([
  [{ type: 'function_search', configuration: { colour: 'red' } }, 'configuration.colour is neither'],
  [{ type: 'no_such_block', configuration: { limit: 1 } }, 'configuration.limit is neither'],
  [{ type: 'function_search', configuration: 'limit' }, 'configuration'],
])(
  'a configuration that the block does not have (%j) is refused and nothing is created',
  async (body, words) => {
    const refused = await create(body)
    expect(refused).toMatchObject({ status: 400, body: { error: 'INVALID_BODY', fields: ['configuration'] } })
    expect(objectOf(refused.body).message).toContain(words)
    const search = { filters: { blueprint_guid: blueprint }, count: true }
    expect(await quoin.manage('POST', '/blueprintactions/search', search)).toEqual({ count: 0 })
  },
)

test('a configuration says settings and values of pins', async () => {
  const storage = await create({ type: 'storage', configuration: { storage: 'notes' } })
  expect(storage.body).toMatchObject({ fields: { storage: 'notes' }, in_pins: [] })
  expect(storage.body).not.toHaveProperty('configuration')
  const search = await create({ type: 'function_search', configuration: { limit: 7, offset: 2 } })
  expect(search.body).toMatchObject({
    in_pins: [
      { id: 'limit', value: 7 },
      { id: 'offset', value: 2 },
    ],
  })
})

test('searches take the second form of the body, and say what of it is not supported', async () => {
  for (const name of ['one', 'two', 'three']) await quoin.manage('POST', '/_system/storages', { name })
  const search = async (body: JsonObject) =>
    objectsOf(await quoin.manage('POST', '/_system/storages/search', body)).map(({ name }) => name)
  const sort = [{ 'name.keyword': { order: 'asc' } }]
  const terms = { 'name.keyword': ['one', 'two', 'three'] }
  expect(await search({ terms, sort, from: 1, size: 1 })).toEqual(['three'])
  const others = { bool: { filter: [{ terms }], must_not: { exists: { field: '_meta.guid' } } }, sort }
  expect(await search(others)).toEqual([])
  expect(await search({ terms, range: { created: { gte: '2999-01-01' } } })).toEqual([])
  expect(await search({ terms, range: { created: { gte: '2020-01-01' } }, sort })).toEqual([
    'one',
    'three',
    'two',
  ])
  const refused = await quoin.send('POST', '/_system/storages/search', { as: 'admin', body: { aggs: {} } })
  expect(refused).toMatchObject({ status: 400, body: { error: 'INVALID_QUERY' } })
  expect(objectOf(refused.body).message).toMatch(/^aggs is not supported in a search\./)
})

test('a default of a field without a storage is kept, and used once the field has one', async () => {
  const field = await quoin.manage('POST', '/blueprintfields', {
    name: 'colour',
    type: 'string',
    default_value: 'red',
  })
  const path = async (name: string) => {
    const found = objectsOf(await quoin.manage('POST', '/_system/storages/search', { filters: { name } }))
    return `/_system/storages/${guidOf(found[0])}/documents`
  }
  expect(await quoin.manage('POST', await path('one'), { a: 1 })).not.toHaveProperty('colour')
  await quoin.manage('PUT', `/blueprintfields/${guidOf(field)}`, { storage: 'two' })
  expect(await quoin.manage('POST', await path('two'), { a: 1 })).toMatchObject({ colour: 'red' })
  expect(await quoin.manage('POST', await path('one'), { a: 1 })).not.toHaveProperty('colour')
})

test.each([
  'application/json; charset="utf-8"',
  'Application/JSON;',
  'application/json; odata=verbose',
  'application/vnd.api+json; ext="https://jsonapi.org/ext/atomic;1"',
  'application/merge-patch+json',
])('management reads a body of the type %s, also with a byte order mark', async (type) => {
  const authorization = `Bearer ${await quoin.tokenOf('admin')}`
  const body = '\ufeff{"filters":{"name":"no such name"}}'
  const search = await fetch(`${api}/_system/storages/search`, {
    method: 'POST',
    headers: { authorization, 'content-type': type },
    body,
  })
  expect([search.status, await search.json()]).toEqual([200, []])
})

test('headers and parameters that name another method change nothing', async () => {
  const guid = guidOf(await quoin.manage('POST', '/blueprints', { name: 'Stays' }))
  const base = `${api}/blueprints`
  const authorization = `Bearer ${await quoin.tokenOf('admin')}`
  for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
    const headers = { authorization, [name]: 'DELETE', 'content-type': 'application/json' }
    for (const method of ['GET', 'POST'])
      await fetch(`${base}/${guid}?_method=DELETE`, {
        method,
        headers,
        ...(method === 'POST' && { body: '{"_method":"DELETE"}' }),
      })
  }
  expect(await quoin.send('GET', `/blueprints/${guid}`, { as: 'admin' })).toMatchObject({ status: 200 })
})
