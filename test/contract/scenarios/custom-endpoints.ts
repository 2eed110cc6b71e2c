/** What blueprints register: where it is, who reaches it, what it replies, and how it refuses. */
import { expect } from 'vitest'
import type { JsonObject } from '../../../src/shared/json.ts'
import { objectOf } from '../../end-to-end/harness.ts'
import { call, listed, nobody } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { create, object, on, onStore, param, reply, setAll, storage } from '../flow-blocks.ts'

const verbs = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const
type Method = keyof typeof verbs

/** Registered while the blueprint is active, with the method that its trigger names. */
const registers =
  (method: Method): Scenario =>
  async (fixture) => {
    const uri = fixture.name()
    const guid = await fixture.make({ on: on(verbs[method], uri), reply: reply('@on.flow', method) })
    expect((await call(fixture, method, uri)).status).toBe(404)
    await fixture.manage('PUT', `/blueprints/update/set/active/${guid}`)
    expect(await call(fixture, method, uri)).toMatchObject({ status: 200, body: method })
    const described = objectOf((await fixture.send('GET', '/openapi.json')).body)
    const path = objectOf(objectOf(described.paths)[`/api/v1/${uri}`])
    expect(Object.keys(path)).toEqual([verbs[method]])
  }

const queryParameters: Scenario = async (fixture) => {
  const uri = fixture.name()
  const asked = param('word')
  for (const method of ['GET', 'POST', 'PUT', 'DELETE'] as const) {
    await fixture.run({ on: on(verbs[method], uri), asked, reply: reply('@on.flow', '@asked.value') })
    expect((await call(fixture, method, `${uri}?word=a%2Fb`)).body).toBe('a/b')
  }
}

/** The flow of most scenarios here: stores what is posted, lists it, finds one of it. */
const shop = (uri: string): JsonObject => ({
  store: storage(uri),
  add: on('post', uri),
  set: setAll('@add.body'),
  write: create('@add.flow', '@set.mutations'),
  added: reply('@write.flow', '@write.document', 201),
  list: on('get', uri),
  limit: param('limit'),
  offset: param('offset'),
  by_n: { type: 'query_sort_field', in: { field: 'n' } },
  find: onStore('function_search', '@list.flow', {
    limit: '@limit.value',
    offset: '@offset.value',
    sort: '@by_n.sort',
  }),
  found: reply('@find.flow', '@find.documents'),
})

const flowOfBlocks: Scenario = async (fixture) => {
  const uri = fixture.name()
  const guid = await fixture.run(shop(uri))
  expect((await call(fixture, 'POST', uri, { n: 1 })).status).toBe(201)
  expect(await listed(fixture, uri, 'n')).toEqual([1])
  const blocks = await fixture.manage('POST', '/blueprintactions/search', {
    filters: { blueprint_guid: guid },
    count: true,
  })
  expect(blocks).toEqual({ count: Object.keys(shop(uri)).length })
}

const belowBasePath: Scenario = async (fixture) => {
  const uri = fixture.name()
  await fixture.run({ on: on('get', `${uri}/deep`), reply: reply('@on.flow', 'here') })
  const status = async (path: string) => (await fetch(`${fixture.address}${path}`)).status
  expect([await status(`/api/v1/${uri}/deep`), await status(`/${uri}/deep`)]).toEqual([200, 404])
}

const oneMethod: Scenario = async (fixture) => {
  const uri = fixture.name()
  await fixture.run({ on: on('put', uri), reply: reply('@on.flow', 'put') })
  for (const method of ['GET', 'POST', 'PUT', 'DELETE'] as const)
    expect((await call(fixture, method, uri)).status).toBe(method === 'PUT' ? 200 : 404)
  // One address and method has one owner.
  const second = await fixture.make({ on: on('put', uri), reply: reply('@on.flow', 'second') })
  const taken = await fixture.send('PUT', `/blueprints/update/set/active/${second}`, { as: 'admin' })
  expect(taken).toMatchObject({ status: 409, body: { error: 'CONFLICT' } })
}

const handlersWork: Scenario = async (fixture) => {
  const uri = fixture.name()
  await fixture.run(shop(uri))
  for (const n of [2, 1]) await call(fixture, 'POST', uri, { n })
  expect(await listed(fixture, uri, 'n')).toEqual([1, 2])
  expect((await fixture.documents(uri)).map(({ n }) => n)).toEqual([2, 1])
}

const repliesJson: Scenario = async (fixture) => {
  const uri = fixture.name()
  const said = object({ said: '@on.body' })
  await fixture.run({ on: on('post', uri), said, reply: reply('@on.flow', '@said.object', 418) })
  const answer = await call(fixture, 'POST', uri, ['tea'])
  expect([answer.status, answer.body]).toEqual([418, { said: ['tea'] }])
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
}

/** Which of these users reach an endpoint with these scopes. */
async function reach(fixture: ContractFixture, scopes: readonly string[], users: readonly string[]) {
  const uri = fixture.name()
  await fixture.run({ on: on('get', uri, scopes), reply: reply('@on.flow', 'in') })
  const reached: string[] = []
  for (const as of users) {
    const answer = await fixture.send('GET', `/${uri}`, as === 'nobody' ? {} : { as })
    if (answer.status === 200) reached.push(as)
    else expect(answer).toMatchObject({ status: 404, body: { error: 'not found' } })
  }
  return reached
}

const publicScope: Scenario = async (fixture) =>
  expect(await reach(fixture, ['*public'], ['nobody', 'stranger'])).toEqual(['nobody', 'stranger'])

const loggedInScope: Scenario = async (fixture) =>
  expect(await reach(fixture, ['*loggedin'], ['nobody', 'stranger'])).toEqual(['stranger'])

const customScope: Scenario = async (fixture) => {
  const [scope, holder, member] = [fixture.name(), fixture.name(), fixture.name()]
  await fixture.addUser(holder, [scope])
  const group = { name: fixture.name(), scopes: [scope] }
  const { _meta } = objectOf(await fixture.manage('POST', '/_system/authentication-groups', group))
  const guid = await fixture.addUser(member, [])
  await fixture.manage('PUT', `/users/${guid}`, { groups: [objectOf(_meta).guid ?? ''] })
  const users = ['nobody', 'stranger', holder, member]
  expect(await reach(fixture, [scope], users)).toEqual([holder, member])
}

const perEndpoint: Scenario = async (fixture) => {
  const uri = fixture.name()
  await fixture.run({ ...shop(uri), add: on('post', uri, ['*loggedin']) })
  expect((await call(fixture, 'GET', uri)).status).toBe(200)
  expect((await call(fixture, 'POST', uri, { n: 1 })).status).toBe(404)
  expect(await fixture.documents(uri)).toEqual([])
  expect((await fixture.send('POST', `/${uri}`, { as: 'stranger', body: { n: 1 } })).status).toBe(201)
}

/** Only an administrator can tell the two causes apart, with explain. */
const causesOf404: Scenario = async (fixture) => {
  const uri = fixture.name()
  const blueprint = await fixture.run({ on: on('get', uri, ['*loggedin']), reply: reply('@on.flow', 'in') })
  const explain = () => fixture.manage('POST', '/blueprints/explain', { method: 'GET', path: `/${uri}` })
  const scope = await call(fixture, 'GET', uri)
  expect(scope.status).toBe(404)
  expect(await explain()).toMatchObject({
    reachable: false,
    scopes: ['*loggedin'],
    blueprint: { active: true },
  })
  await fixture.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
  const inactive = await call(fixture, 'GET', uri)
  expect([inactive.status, inactive.text]).toEqual([404, scope.text])
  expect(await explain()).toMatchObject({ reachable: false, blueprint: { active: false } })
}

const shape: Scenario = async (fixture) => {
  await fixture.run({ on: on('get', 'shape', ['no user holds this']), reply: reply('@on.flow', 1) })
  const answers = [
    await call(fixture, 'GET', 'shape'),
    await call(fixture, 'GET', `tasks/${nobody}`),
    await call(fixture, 'GET', 'tasks?limit=many'),
    await fixture.send('POST', '/tasks', { as: 'stranger', body: {} }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 400, 400])
  for (const { body } of answers) {
    const { error: _, ...more } = objectOf(body)
    // A wrong parameter is named for programs too.
    expect(['limit']).toEqual(expect.arrayContaining(Object.keys(objectOf(more.fields ?? {}))))
    expect(['fields']).toEqual(expect.arrayContaining(Object.keys(more)))
    expect(String(objectOf(body).error)).toMatch(/^.{1,80}$/)
  }
}

/** The builder's own reply where the guid is unknown. */
const unknownGuid =
  (verb: 'get' | 'put' | 'delete', type: string): Scenario =>
  async (fixture) => {
    const uri = fixture.name()
    const method = { get: 'GET', put: 'PUT', delete: 'DELETE' } as const
    await fixture.fill(uri, [{ n: 1 }])
    await fixture.run({
      store: storage(uri),
      on: on(verb, `${uri}/{guid}`),
      guid: param('guid'),
      set: { type: 'mutations_set_custom_field', in: { field: 'n', value: 2 } },
      do: onStore(type, '@on.flow', {
        guid: '@guid.value',
        ...(verb === 'put' && { mutations: '@set.mutations' }),
      }),
      reply: reply('@do.flow', '@do.document'),
      error: object({ error: 'not found' }),
      unknown: reply('@do.not_found', '@error.object', 404),
    })
    const answer = await call(fixture, method[verb], `${uri}/${nobody}`)
    expect([answer.status, answer.body]).toEqual([404, { error: 'not found' }])
    expect(await fixture.documents(uri)).toMatchObject([{ n: 1 }])
  }

const notInScope: Scenario = async (fixture) =>
  expect(await reach(fixture, ['no user holds this'], ['nobody', 'stranger'])).toEqual([])

const notActive: Scenario = async (fixture) => {
  const uri = fixture.name()
  await fixture.make({ on: on('get', uri), reply: reply('@on.flow', 1) })
  for (const as of ['stranger', 'admin'])
    expect(await fixture.send('GET', `/${uri}`, { as })).toMatchObject({ status: 404 })
}

async function paged(fixture: ContractFixture): Promise<(query: string) => Promise<unknown[]>> {
  const uri = fixture.name()
  await fixture.run(shop(uri))
  for (const n of [1, 2, 3]) await call(fixture, 'POST', uri, { n })
  return (query) => listed(fixture, `${uri}?${query}`, 'n')
}

const limit: Scenario = async (fixture) => {
  const list = await paged(fixture)
  expect([await list('limit=2'), await list('limit=0'), await list('')]).toEqual([[1, 2], [], [1, 2, 3]])
  await expect(list('limit=-1')).rejects.toThrow('limit')
}

const offset: Scenario = async (fixture) => {
  const list = await paged(fixture)
  expect([await list('offset=1'), await list('offset=3')]).toEqual([[2, 3], []])
  await expect(list('offset=x')).rejects.toThrow('offset')
}

const listEndpoints: Scenario = async (fixture) => {
  const list = await paged(fixture)
  const pages = [await list('limit=2'), await list('limit=2&offset=2'), await list('limit=2&offset=4')]
  expect(pages).toEqual([[1, 2], [3], []])
}

export const scenarios: Scenarios = {
  GET: registers('GET'),
  POST: registers('POST'),
  PUT: registers('PUT'),
  DELETE: registers('DELETE'),
  'query parameters': queryParameters,
  'a blueprint is a flow of blocks': flowOfBlocks,
  'custom endpoints are served under /api/v1': belowBasePath,
  'a trigger registers a URI for one method': oneMethod,
  'handler blocks do the work': handlersWork,
  'a reply block sends JSON with a status code': repliesJson,
  'scope *public': publicScope,
  'scope *loggedin': loggedInScope,
  'custom scope': customScope,
  'scope per endpoint': perEndpoint,
  '404 right after activation': causesOf404,
  shape,
  'unknown guid: read': unknownGuid('get', 'function_get_document'),
  'unknown guid: update': unknownGuid('put', 'function_update_document_mutations'),
  'unknown guid: delete': unknownGuid('delete', 'function_remove_document'),
  'not reachable: scope': notInScope,
  'not reachable: inactive': notActive,
  'paging: limit': limit,
  'paging: offset': offset,
  'paging: list endpoints': listEndpoints,
}
