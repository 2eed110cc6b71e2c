/** A parameter of a request that does not fit, by where it stands and how the flow reads it: the reply names it in `fields`. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { jsonAt } from '../json-at.ts'
import { openVisitor } from '../page-visitor.ts'
import { objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

const open = { scopes: ['*public'] }
const storage = 'goods'
const endpoint = (method: 'get' | 'post' | 'put' | 'delete', uri: string, fields: JsonObject = {}) => ({
  ...{ type: `on_startup_register_uri_${method}`, in: { uri }, fields },
  ...open,
})
const reply = (flow: string, value: string) => ({ type: 'httpconnection_set_json', in: { flow, value } })
const searching = (name: string, limit: string): JsonObject => ({
  [name]: endpoint('get', name),
  [`${name}_find`]: { type: 'function_search', in: { flow: `@${name}.flow`, storage, limit } },
  [`${name}_found`]: reply(`@${name}_find.flow`, `@${name}_find.documents`),
})
const schema = [
  { name: 'shelf', type: 'whole number', in: 'path', min: 1 },
  { name: 'limit', type: 'whole number', in: 'query' },
  { name: 'day', type: 'day', in: 'query' },
  { name: 'price', type: 'number', in: 'body' },
]
const placed = (method: 'post' | 'put'): JsonObject => ({
  [method]: endpoint(method, 'shelves/{shelf}', { schema }),
  [`${method}_done`]: reply(`@${method}.flow`, 'done'),
})

const blocks: JsonObject = {
  ...searching('plain', '=query.limit'),
  ...searching('calculated', '=query.limit * 2'),
  given: { type: 'httpconnection_get_params', in: { connection: '@read.connection', field: 'limit' } },
  read: endpoint('get', 'read'),
  read_find: { type: 'function_search', in: { flow: '@read.flow', storage, limit: '@given.value' } },
  read_found: reply('@read_find.flow', '@read_find.documents'),
  paged: endpoint('get', 'paged/{limit}'),
  paged_find: { type: 'function_search', in: { flow: '@paged.flow', storage, limit: '=params.limit' } },
  paged_found: reply('@paged_find.flow', '@paged_find.documents'),
  sent: endpoint('post', 'sent'),
  sent_find: { type: 'function_search', in: { flow: '@sent.flow', storage, limit: '=body.limit' } },
  sent_found: reply('@sent_find.flow', '@sent_find.documents'),
  placed_after: endpoint('get', 'after'),
  after_find: { type: 'function_search', in: { flow: '@placed_after.flow', storage, after: '=query.after' } },
  after_found: reply('@after_find.flow', '@after_find.documents'),
  removing: endpoint('delete', 'shelves'),
  remove_find: { type: 'function_search', in: { flow: '@removing.flow', storage, limit: '=query.limit' } },
  removed: reply('@remove_find.flow', '@remove_find.documents'),
  once: endpoint('post', 'once', { idempotent: true }),
  once_done: reply('@once.flow', 'done'),
  read_one: endpoint('get', 'one/{guid}'),
  one: { type: 'function_get_document', in: { flow: '@read_one.flow', storage, guid: '=params.guid' } },
  one_found: reply('@one.flow', '@one.document'),
  ...placed('post'),
  ...placed('put'),
  resource: {
    type: 'on_startup_register_resource',
    in: { uri: 'goods', storage },
    fields: { filters: [{ name: 'price', type: 'number' }], orders: ['price'] },
    ...open,
  },
  page: { type: 'state_page', in: { url: 'shelf' }, ...open },
  page_find: { type: 'function_search', in: { flow: '@page.flow', storage, limit: '=query.limit' } },
  table: {
    type: 'state_advanced_datatable',
    in: { storage, table_id: 'goods', columns: [{ field: 'title', filter: 'text' }] },
  },
  show: { type: 'state_render_page', in: { flow: '@page_find.flow', state: '@table.state' } },
}

let quoin: TestQuoin
let origin: string
beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  await quoin.manage('POST', '/_system/storages', { name: storage })
  await quoin.manage('POST', '/blueprintfields', { storage, name: 'title', type: 'string' })
  await quoin.manage('POST', '/blueprintfields', { storage, name: 'price', type: 'number' })
  await quoin.install('Goods', blocks)
  origin = await quoin.quoin.server.listen()
})
afterAll(() => quoin.close())

const size = 'must be a whole number from 0 to 10,000'
const named = (name: string, reason: string) => ({ error: `${name} ${reason}`, fields: { [name]: reason } })
const listed = (reasons: Readonly<Record<string, string>>) => ({
  error: `The request is invalid: ${Object.entries(reasons)
    .map((one) => one.join(' '))
    .join('; ')}.`,
  fields: reasons,
})

describe('custom endpoints', () => {
  test.each<[string, 'GET' | 'POST' | 'PUT' | 'DELETE', string, JsonObject | undefined, JsonObject]>([
    ['query', 'GET', '/plain?limit=abc', undefined, named('limit', size)],
    ['query of a DELETE', 'DELETE', '/shelves?limit=-1', undefined, named('limit', size)],
    ['query, by a block', 'GET', '/read?limit=1.5', undefined, named('limit', size)],
    ['path', 'GET', '/paged/abc', undefined, named('limit', size)],
    ['body', 'POST', '/sent', { limit: 'abc' }, named('limit', size)],
    [
      'cursor',
      'GET',
      '/after?after=made-up',
      undefined,
      named('after', 'must be the cursor of the previous page of the same search'),
    ],
    [
      'several of a schema',
      'POST',
      '/shelves/0?limit=abc&day=tomorrow',
      { price: 'five' },
      listed({
        shelf: 'must be at least 1',
        limit: 'must be a whole number',
        day: 'must be a day such as 2026-01-31',
        price: 'must be a number',
      }),
    ],
    [
      'a schema, on PUT',
      'PUT',
      '/shelves/first?limit=2.5',
      { price: 5 },
      listed({
        shelf: 'must be a whole number',
        limit: 'must be a whole number',
      }),
    ],
    ['list of a resource', 'GET', '/goods?limit=abc', undefined, listed({ limit: 'must be a whole number' })],
    [
      'filter of a resource',
      'GET',
      '/goods?price=cheap&order=size',
      undefined,
      listed({
        price: 'must be a number',
        order: 'must be one of price, -price',
      }),
    ],
    [
      'cursor of a resource',
      'GET',
      '/goods?after=made-up',
      undefined,
      named('after', 'must be the cursor of the previous page of the same search'),
    ],
  ])('%s', async (_name, method, path, body, reported) => {
    const answer = await quoin.send(method, path, body && { body })
    expect([answer.status, answer.body]).toEqual([400, reported])
  })

  test('an expression that cannot be calculated with what was sent', async () => {
    const problemOf = async (path: string) => {
      const { status, body } = await quoin.send('GET', path)
      return [status, jsonAt(body, 'error'), jsonAt(body, 'fields', 'limit')]
    }
    // Neither tells how the flow is built.
    expect(await problemOf('/calculated?limit=abc')).toEqual([
      400,
      'limit must be a number',
      'must be a number',
    ])
    expect(await problemOf('/calculated')).toEqual([400, 'limit is missing', 'is missing'])
  })

  test('a header', async () => {
    const headers = { 'idempotency-key': 'x'.repeat(300) }
    const answer = await quoin.send('POST', '/once', { body: {}, headers })
    expect([answer.status, answer.body]).toEqual([
      400,
      named('idempotency-key', 'must be 1 to 255 characters, sent once'),
    ])
  })

  test('what is not there is 404 with `error` alone, as the contract says it', async () => {
    for (const guid of ['019b76da-a800-7000-8000-000000000000', 'abc'])
      for (const path of [`/one/${guid}`, `/goods/${guid}`]) {
        const answer = await quoin.send('GET', path)
        expect([answer.status, answer.body]).toEqual([404, { error: 'not found' }])
      }
  })

  test('the API document says so for each of them', async () => {
    const { paths } = objectOf(await quoin.manage('GET', '/openapi.json'))
    const schemas = Object.values(objectOf(paths)).flatMap((operations) =>
      Object.values(objectOf(operations)).flatMap((one) => {
        const { tags, responses } = objectOf(one)
        return JSON.stringify(tags) === '["Goods"]' ? [objectOf(responses)['400']] : []
      }),
    )
    expect(schemas).toHaveLength(16)
    for (const schema of schemas)
      expect(schema).toMatchObject({
        content: {
          'application/json': { schema: { properties: { error: {}, fields: { type: 'object' } } } },
        },
      })
  })
})

describe('pages', () => {
  test.each([
    ['a parameter that its flow reads', '/shelf?limit=abc', ['limit']],
    ['a search in a table', `/shelf?goods.q=${'word~ '.repeat(9)}`, ['goods.q']],
    ['a filter of a table', `/shelf?goods.is.title=${'word~ '.repeat(9)}`, ['goods.is.title']],
    ['the rows of a table as CSV', `/shelf?_export=goods&goods.q=${'word~ '.repeat(9)}`, ['goods.q']],
  ])('%s', async (_name, path, fields) => {
    const page = await openVisitor(origin).get(path)
    expect([page.status, page.text]).toEqual([
      400,
      expect.stringMatching(/ (must be a whole number|has 9 words)/),
    ])
    const json = await quoin.quoin.server.app.inject({ url: path, headers: { accept: 'application/json' } })
    expect([json.statusCode, json.json().fields]).toEqual([400, fields])
  })
})

/** The management API lists them. */
describe('management', () => {
  test.each<[string, string, readonly string[]]>([
    ['a number', 'limit=abc', ['limit']],
    ['several', 'limit=abc&offset=-1', ['limit', 'offset']],
    ['an unknown one', 'colour=red', ['colour']],
    ['no JSON', 'filters=nonsense', ['filters']],
    ['a field that is none', 'filters={"nope":1}', ['filters']],
    ['another type', 'filters={"name":5}', ['filters']],
    ['an order', 'sort=[{"nope":"asc"}]', ['sort']],
    ['a cursor', 'after=made-up', ['after']],
    ['free text', `query=${'word~ '.repeat(9)}`, ['query']],
  ])('%s', async (_name, query, fields) => {
    const answer = await quoin.send('GET', `/_system/userlogs/search?${encodeURI(query)}`, { as: 'admin' })
    expect(answer).toMatchObject({ status: 400, body: { error: 'INVALID_QUERY', fields } })
  })
})
