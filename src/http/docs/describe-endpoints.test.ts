/** What the OpenAPI document says that custom endpoints reply, on a whole Quoin with real blueprint fields. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import type { Identity } from '../../access/identity-cache.ts'
import { openFieldRules } from '../../records/fields/field-rules.ts'
import type { JsonObject } from '../../shared/json.ts'
import { describeEndpoints } from './describe-endpoints.ts'
import { endpointDescriptions } from './endpoint-descriptions.ts'
import type { ApiResponse, ApiSchema } from './open-api-document.ts'

let fixture: TestQuoin
beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_EXAMPLES: '1' })
  for (const field of [
    { name: 'title', type: 'string', required: true },
    { name: 'due', type: 'date' },
    { name: 'owner', type: 'object' },
    { name: 'owner.age', type: 'number', required: true },
    { name: 'place.city', type: 'string' },
  ])
    await fixture.manage('POST', '/blueprintfields', { ...field, storage: 'tasks' })
  await fixture.manage('POST', '/blueprintfields', { name: 'anywhere', type: 'string' })
})
afterAll(() => fixture.close())

/** Those that the last responses point to. */
let named: Readonly<Record<string, ApiSchema>> = {}

async function responses(
  method: 'get' | 'post' | 'put' | 'delete',
  path: string,
  identity: Identity | undefined = undefined,
) {
  const rules = await openFieldRules(fixture.quoin.database)
  const { paths, schemas = {} } = await describeEndpoints({
    table: fixture.quoin.flows.live.table(),
    identity,
    rulesOf: rules.of,
  })
  const found = paths[`/api/v1/${path}`]?.[method]?.responses
  if (!found) throw new Error(`${method} ${path} is not described.`)
  named = schemas
  return found
}

const schemaIn = (response: ApiResponse | undefined) => whole(response?.content?.['application/json']?.schema)

/** With what it points to in its place. */
function whole(schema: ApiSchema | undefined): unknown {
  const text = JSON.stringify(schema ?? null)
  return JSON.parse(
    text.replace(/\{"\$ref":"#\/components\/schemas\/(\w+)"\}/g, (_all, name: string) =>
      JSON.stringify(named[name]),
    ),
  )
}

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
const failure = { type: 'object', properties: { error: { type: 'string' } }, required: ['error'] }
const removed = { type: 'object', properties: { guid: { type: 'string' }, removed: { type: 'boolean' } } }

describe('the tasks example', () => {
  test('a list is a list of documents with their fields', async () => {
    expect(schemaIn((await responses('get', 'tasks'))['200'])).toEqual({ type: 'array', items: task })
  })

  test('one document, and what is replied when there is none', async () => {
    const found = await responses('get', 'tasks/{guid}')
    expect(schemaIn(found['200'])).toEqual(task)
    expect(schemaIn(found['404'])).toEqual(failure)
    expect(found['404']?.description).toBe('Not found, or the caller has no access.')
  })

  test('a reply that endpoints share is described for each by the blocks that run behind it', async () => {
    const user = { guid: 'g', username: 'u', scopes: new Set(['*']), user: {}, tokenGuid: 't' }
    const created = await responses('post', 'tasks', user)
    expect([schemaIn(created['201']), created['200']]).toEqual([task, undefined])
    const changed = await responses('put', 'tasks/{guid}', user)
    expect([schemaIn(changed['200']), changed['201']]).toEqual([task, undefined])
    expect(schemaIn((await responses('delete', 'tasks/{guid}', user))['200'])).toEqual(removed)
  })
})

test('a reply that can be followed says so, and no other', async () => {
  const identity = { guid: 'g', username: 'u', scopes: new Set(['*']), user: {}, tokenGuid: 't' }
  const { paths } = await describeEndpoints({ table: fixture.quoin.flows.live.table(), identity })
  const said = ['get', 'post'].map((method) =>
    String(paths['/api/v1/tasks']?.[method]?.description).includes('`accept: text/event-stream`'),
  )
  expect(said).toEqual([true, false])
})

test('documents stay documents in objects and lists, whatever is put on top; what is not known is not said', async () => {
  await fixture.install('shapes', {
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
          by: { type: 'object', additionalProperties: true },
        },
      },
      { type: 'string' },
    ],
  })
  expect(schemaIn(found.default)).toEqual({ type: 'object', additionalProperties: true })
})

test('the reply of an operation of another API has the types of its document, and wrong uses of it are named', async () => {
  const shape = { id: 'whole', owner: { login: 'text' }, tags: ['text'], message: 'text' } as const
  const operation = {
    ...{ id: 'getRepo', hash: 'x', title: 'A repository', method: 'GET', path: '/repo', pins: [] },
    gives: { type: 'object', accept: 'application/json', shape },
  }
  const blocks = (value: string): JsonObject => ({
    on: { type: 'on_startup_register_uri_get', in: { uri: 'repository' }, scopes: ['*public'] },
    call: {
      type: 'call_operation',
      in: { flow: '@on.flow', server: 'https://api.example.com' },
      fields: { operation },
    },
    reply: { type: 'reply', in: { flow: '@call.flow', value } },
  })
  const guid = await fixture.install(
    'repository',
    blocks('={ id: call.body.id, whole: call.body, first: first(call.body.tags) }'),
  )
  expect(schemaIn((await responses('get', 'repository'))['200'])).toEqual({
    type: 'object',
    properties: {
      id: { type: 'integer' },
      whole: {
        type: 'object',
        properties: {
          id: { type: 'integer' },
          owner: { type: 'object', properties: { login: { type: 'string' } } },
          tags: { type: 'array', items: { type: 'string' } },
          message: { type: 'string' },
        },
      },
      first: { type: 'string' },
    },
  })
  expect(JSON.stringify(await fixture.manage('GET', `/blueprints/deploy/${guid}/actions`))).not.toContain(
    'getRepo',
  )
  await expect(fixture.install('wrong', blocks('=call.body.tags * 2'))).rejects.toThrow(/list/)
})

test('a flow without a reply is described with the 204 that its callers get', async () => {
  await fixture.install('silent', {
    on: { type: 'on_startup_register_uri_get', in: { uri: 'silent' }, scopes: ['*public'] },
    say: { type: 'function_console_log', in: { flow: '@on.flow', value: 'x' } },
  })
  const found = await responses('get', 'silent')
  expect(schemaIn(found['200'])).toEqual({})
  expect((await fixture.send('GET', '/silent')).status).toBe(204)
  expect(found['204']).toEqual({ description: 'The flow ended, or waits, without a reply.' })
})

describe('the cache of descriptions', () => {
  const noIds: ReadonlySet<string> = new Set()
  const caller = (...scopes: string[]): Identity => ({
    guid: 'g',
    username: 'u',
    scopes: new Set(scopes),
    user: {},
    tokenGuid: 't',
  })

  test('is the same object for callers who may enter the same, and another one after a change', async () => {
    const rules = await openFieldRules(fixture.quoin.database)
    const describedTo = endpointDescriptions(fixture.quoin.flows.live.table, rules.of)
    const anonymous = await describedTo(undefined, noIds)
    expect(await describedTo(undefined, noIds)).toBe(anonymous)
    const signedIn = await describedTo(caller(), noIds)
    expect(signedIn).not.toBe(anonymous)
    expect(await describedTo(caller('a scope that no endpoint asks for'), noIds)).toBe(signedIn)
    expect(anonymous.paths['/api/v1/tasks']).not.toHaveProperty('post')
    expect(signedIn.paths['/api/v1/tasks']).toHaveProperty('post')

    await fixture.manage('POST', '/blueprintfields', { name: 'added', type: 'string', storage: 'tasks' })
    const withField = await describedTo(undefined, noIds)
    expect(JSON.stringify(withField)).toContain('"added"')
    await fixture.install('another', {
      on: { type: 'on_startup_register_uri_get', in: { uri: 'another' }, scopes: ['*public'] },
    })
    expect(Object.keys((await describedTo(undefined, noIds)).paths)).toContain('/api/v1/another')
  })

  test('of many kinds of callers does not grow, and never mixes them', async () => {
    for (const name of ['one', 'two', 'three', 'four', 'five'])
      await fixture.install(`for ${name}`, {
        on: { type: 'on_startup_register_uri_get', in: { uri: `for-${name}` }, scopes: [`is_${name}`] },
      })
    const describedTo = endpointDescriptions(fixture.quoin.flows.live.table, () => [])
    const kinds = Array.from({ length: 32 }, (_, bits) =>
      ['one', 'two', 'three', 'four', 'five'].filter((_name, place) => (bits >> place) & 1),
    )
    for (const names of [...kinds, ...kinds]) {
      const { paths } = await describedTo(caller(...names.map((name) => `is_${name}`)), noIds)
      const seen = Object.keys(paths).filter((path) => path.startsWith('/api/v1/for-'))
      expect(seen.sort()).toEqual(names.map((name) => `/api/v1/for-${name}`).sort())
    }
  })
})

test('no two operations have names that a generator makes one of, for any caller', async () => {
  await fixture.install('alike', {
    dash: { type: 'on_startup_register_uri_get', in: { uri: 'a-b' }, scopes: ['is_one'] },
    slash: { type: 'on_startup_register_uri_get', in: { uri: 'a/b' }, scopes: ['*public'] },
    ours: { type: 'on_startup_register_uri_get', in: { uri: 'static/file' }, scopes: ['*public'] },
  })
  const table = fixture.quoin.flows.live.table()
  const seenBy = async (...scopes: string[]) => {
    const identity = { guid: 'g', username: 'u', scopes: new Set(scopes), user: {}, tokenGuid: 't' }
    const { paths } = await describeEndpoints({ table, identity, managementIds: new Set(['getStaticFile']) })
    return Object.entries(paths).map(([path, item]) => [path, item.get?.operationId ?? ''] as const)
  }
  const all = await seenBy('*')
  const names = all
    .map(([, id]) => id.replace(/[^A-Za-z0-9]/g, '').toLowerCase())
    .filter((name) => name !== '')
  expect(new Set(names).size).toBe(names.length)
  expect(names).not.toContain('getstaticfile')
  // Also where the other one cannot be seen.
  expect(Object.fromEntries(await seenBy())['/api/v1/a/b']).toBe(Object.fromEntries(all)['/api/v1/a/b'])
  expect(Object.fromEntries(all)['/api/v1/tasks']).toBe('get_tasks')
})

test('ways that are not wired are 404 and 409; those that a flow takes care of are what it replies', async () => {
  const put = (uri: string) => ({ type: 'on_startup_register_uri_put', in: { uri }, scopes: ['*public'] })
  const change = (more = {}) => ({
    type: 'function_update_document_mutations',
    in: { flow: '@on.flow', storage: 'ways', guid: '=params.guid', set: '={ a: 1 }', ...more },
  })
  const reply = (flow: string, code: number) => ({
    type: 'httpconnection_set_json',
    in: { flow, code, value: '@change.document' },
  })
  await fixture.install('open ways', {
    on: put('ways/open/{guid}'),
    change: change({ if: '=doc.a == 2' }),
    reply: reply('@change.flow', 200),
  })
  await fixture.install('wired ways', {
    on: put('ways/wired/{guid}'),
    change: change(),
    reply: reply('@change.flow', 200),
    none: { type: 'httpconnection_set_json', in: { flow: '@change.not_found', code: 410, value: 'gone' } },
    other: { type: 'httpconnection_set_json', in: { flow: '@change.conflict', code: 409, value: 5 } },
    refused: { type: 'httpconnection_set_json', in: { flow: '@change.refused', code: 412, value: 6 } },
  })
  await fixture.install('no ways', {
    on: put('ways/none'),
    reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 1 } },
  })
  const open = await responses('put', 'ways/open/{guid}')
  expect(open['404']?.description).toBe('The document was not found, or the caller has no access.')
  expect(open['409']?.description).toMatch(/changed meanwhile.*condition/)
  const fields = expect.objectContaining({ type: 'object', additionalProperties: { type: 'string' } })
  expect(schemaIn(open['409'])).toEqual({ ...failure, properties: { ...failure.properties, fields } })
  const wired = await responses('put', 'ways/wired/{guid}')
  expect(Object.keys(wired).filter((status) => status.startsWith('4'))).toEqual(
    expect.arrayContaining(['404', '409', '410', '412']),
  )
  expect(wired['404']?.description).toBe('Not found, or the caller has no access.')
  expect(schemaIn(wired['409'])).toEqual({ type: 'number' })
  expect(Object.keys(await responses('put', 'ways/none'))).not.toContain('409')
})

test('a flow that acts for the user of the request is 403 where a permission refuses it, and no other flow', async () => {
  const on = (uri: string) => ({ type: 'on_startup_register_uri_post', in: { uri }, scopes: ['*public'] })
  const create = (as: string) => ({
    type: 'function_create_document_from_mutations',
    in: { flow: '@on.flow', storage: 'permitted', set: '={ a: 1 }' },
    fields: { as },
  })
  const reply = { type: 'httpconnection_set_json', in: { flow: '@create.flow', value: 'made' } }
  for (const as of ['user', 'application'])
    await fixture.install(`as ${as}`, { on: on(`permitted/${as}`), create: create(as), reply })
  await fixture.manage('PUT', `/_system/storages/${await storageGuid('permitted')}`, {
    rules: { create: 'false' },
  })
  for (const [as, status] of [
    ['user', 403],
    ['application', 200],
  ] as const) {
    const described = await responses('post', `permitted/${as}`)
    expect([as, '403' in described]).toEqual([as, status === 403])
    expect((await fixture.send('POST', `/permitted/${as}`)).status).toBe(status)
  }
})

test('an endpoint whose flow stores something names 507, and no other', async () => {
  const on = (method: string) => ({
    type: `on_startup_register_uri_${method}`,
    in: { uri: `full/${method}` },
    scopes: ['*public'],
  })
  const create = {
    type: 'function_create_document_from_mutations',
    in: { flow: '@on.flow', storage: 'full', set: '={ a: 1 }' },
  }
  const reply = (flow: string) => ({ type: 'httpconnection_set_json', in: { flow, value: 'made' } })
  await fixture.install('full post', { on: on('post'), create, reply: reply('@create.flow') })
  await fixture.install('full get', { on: on('get'), reply: reply('@on.flow') })
  expect(Object.keys(await responses('post', 'full/post'))).toContain('507')
  expect(Object.keys(await responses('get', 'full/get'))).not.toContain('507')
})

async function storageGuid(name: string): Promise<string> {
  const found = await fixture.manage('POST', '/_system/storages/search', { filters: { name } })
  return guidOf(objectsOf(found)[0])
}
