/** What the OpenAPI document says that custom endpoints reply, on a whole Quoin with real blueprint fields. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestQuoin, type TestQuoin } from '../../test/end-to-end/harness.ts'
import { openFieldRules } from '../engine/fields/field-rules.ts'
import { describeEndpoints } from './describe-endpoints.ts'
import type { ApiResponse } from './open-api-document.ts'

let room: TestQuoin
beforeAll(async () => {
  room = await openTestQuoin({ QUOIN_EXAMPLES: '1' })
  for (const field of [
    { name: 'title', type: 'string', required: true },
    { name: 'due', type: 'date' },
    { name: 'owner', type: 'object' },
    { name: 'owner.age', type: 'number', required: true },
    { name: 'place.city', type: 'string' },
  ])
    await room.manage('POST', '/blueprintfields', { ...field, storage: 'tasks' })
  await room.manage('POST', '/blueprintfields', { name: 'anywhere', type: 'string' })
})
afterAll(() => room.close())

async function responses(method: 'get' | 'post' | 'put' | 'delete', path: string) {
  const rules = await openFieldRules(room.quoin.storage)
  const { paths } = await describeEndpoints(room.quoin.engine.live.table(), undefined, rules.of)
  const found = paths[`/api/v1/${path}`]?.[method]?.responses
  if (!found) throw new Error(`${method} ${path} is not described.`)
  return found
}

const schemaIn = (response: ApiResponse | undefined) => response?.content?.['application/json']?.schema

const task = {
  type: 'object',
  description: 'A document of the storage tasks.',
  properties: {
    _meta: expect.objectContaining({ type: 'object' }),
    title: { type: 'string' },
    due: { type: ['string', 'number', 'null'] },
    owner: { type: ['object', 'null'], properties: { age: { type: 'number' } } },
    place: { type: 'object', properties: { city: { type: ['string', 'null'] } } },
  },
  required: ['_meta'],
}
const failure = { type: 'object', properties: { error: { type: 'string' } } }

describe('the tasks example', () => {
  test('a list is a list of documents with their fields', async () => {
    expect(schemaIn((await responses('get', 'tasks'))['200'])).toEqual({ type: 'array', items: task })
  })

  test('one document, and what is replied when there is none', async () => {
    const found = await responses('get', 'tasks/{guid}')
    expect(schemaIn(found['200'])).toEqual(task)
    expect(schemaIn(found['404'])).toEqual(failure)
    expect(found['404']?.description).toBe('Not found, or not open to the caller.')
  })
})

test('documents stay documents in objects and lists, whatever is put on top; what is not known is not said', async () => {
  await room.install('shapes', {
    tasks: { type: 'storage', fields: { storage: 'tasks' } },
    on: { type: 'on_startup_register_uri_get', in: { uri: 'shapes' }, scopes: ['*public'] },
    code: { type: 'httpconnection_get_params', in: { connection: '@on.connection', field: 'code' } },
    search: { type: 'function_search', in: { flow: '@on.flow', storage: '@tasks.storage' } },
    first: {
      type: 'function_search_single_result',
      in: { flow: '@search.flow', storage: '@tasks.storage' },
    },
    more: {
      type: 'object_update_fields',
      in: { object: '@first.document', seen: true },
      fields: { fields: ['seen'] },
    },
    page: {
      type: 'object_new_fields',
      in: { total: '@search.total', tasks: '@search.documents', first: '@more.object', by: '@code.params' },
      fields: { fields: ['total', 'tasks', 'first', 'by', 'nothing'] },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@first.flow', value: '@page.object' } },
    none: { type: 'httpconnection_set_json', in: { flow: '@first.not_found', value: 'none' } },
    failed: {
      type: 'httpconnection_set_json',
      in: { flow: '@search.error', code: '@code.value', value: '@search.error' },
    },
  })
  const found = await responses('get', 'shapes')
  expect(schemaIn(found['200'])).toEqual({
    anyOf: [
      {
        type: 'object',
        properties: {
          total: { type: 'number' },
          tasks: { type: 'array', items: task },
          first: { ...task, properties: { ...task.properties, seen: { type: 'boolean' } } },
          by: {},
        },
      },
      { type: 'string' },
    ],
  })
  expect(schemaIn(found.default)).toEqual({})
})

test('a flow without a reply is described all the same', async () => {
  await room.install('silent', {
    on: { type: 'on_startup_register_uri_get', in: { uri: 'silent' }, scopes: ['*public'] },
    say: { type: 'function_console_log', in: { flow: '@on.flow', value: 'x' } },
  })
  expect(schemaIn((await responses('get', 'silent'))['200'])).toEqual({})
})
