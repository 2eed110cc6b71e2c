/** The tasks resource, on the blueprint that the first start installs. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import { type Answer, guidOf, objectOf, objectsOf } from '../../end-to-end/harness.ts'
import { found, nobody } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { on, onStore, param, reply, storage } from '../flow-blocks.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

const send = (fixture: ContractFixture, method: Method, path: string, body?: JsonValue): Promise<Answer> =>
  fixture.send(method, `/tasks${path}`, { as: 'stranger', ...(body !== undefined && { body }) })

async function make(fixture: ContractFixture, fields: JsonObject = {}): Promise<JsonObject> {
  const made = await send(fixture, 'POST', '', { title: fixture.name(), ...fields })
  expect(made.status, made.text).toBe(201)
  return objectOf(made.body)
}

/** Titles of three new tasks that have a status of their own, the oldest first. */
async function three(fixture: ContractFixture) {
  const status = fixture.name()
  const titles: unknown[] = []
  for (let n = 0; n < 3; n++) titles.push((await make(fixture, { status })).title)
  return { status, titles }
}

async function titles(fixture: ContractFixture, query: string): Promise<unknown[]> {
  const answer = await send(fixture, 'GET', query)
  expect([answer.status, Array.isArray(answer.body)]).toEqual([200, true])
  return objectsOf(answer.body).map(({ title }) => title)
}

const lists: Scenario = async (fixture) => {
  const made = await make(fixture)
  const answer = await fixture.send('GET', '/tasks')
  expect(answer.status).toBe(200)
  expect(objectsOf(answer.body)[0]).toEqual(made)
}

const filters: Scenario = async (fixture) => {
  const { status, titles: made } = await three(fixture)
  await make(fixture, { status: `${status}-more` })
  expect((await titles(fixture, `?status=${status}`)).sort()).toEqual([...made].sort())
  expect(await titles(fixture, `?status=${status}-none`)).toEqual([])
}

const pages: Scenario = async (fixture) => {
  const { status, titles: made } = await three(fixture)
  const [first, second, third] = made
  const page = (query: string) => titles(fixture, `?status=${status}&${query}`)
  expect(await page('limit=2')).toEqual([third, second])
  expect(await page('limit=2&offset=2')).toEqual([first])
  const refused = await send(fixture, 'GET', '?limit=many')
  expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('limit') } })
}

const newestFirst: Scenario = async (fixture) => {
  const { status, titles: made } = await three(fixture)
  expect(await titles(fixture, `?status=${status}`)).toEqual(made.reverse())
}

const creates: Scenario = async (fixture) => {
  const made = await make(fixture, { status: 'open', more: [1] })
  expect(made).toMatchObject({ status: 'open', more: [1], _meta: { guid: expect.any(String) } })
  expect((await send(fixture, 'GET', `/${guidOf(made)}`)).body).toEqual(made)
}

/** Refused, and as many tasks as before. */
async function refused(fixture: ContractFixture, body: JsonValue): Promise<Answer> {
  const before = (await fixture.documents('tasks')).length
  const answer = await send(fixture, 'POST', '', body)
  expect(answer.status).toBe(400)
  expect(await fixture.documents('tasks')).toHaveLength(before)
  return answer
}

const needsTitle: Scenario = async (fixture) => {
  for (const body of [{}, { title: '' }, { title: '  ' }, { title: null }]) await refused(fixture, body)
  await make(fixture)
}

const namesField: Scenario = async (fixture) => {
  const { body } = await refused(fixture, { status: 'open' })
  expect(body).toEqual({ error: 'title is required' })
}

const checksFirst: Scenario = async (fixture) => {
  const status = fixture.name()
  await refused(fixture, { title: '', status })
  expect(await titles(fixture, `?status=${status}`)).toEqual([])
}

const unknownIs404 =
  (method: 'GET' | 'PUT' | 'DELETE'): Scenario =>
  async (fixture) => {
    const before = await fixture.documents('tasks')
    // A guid of another resource is as unknown as one that was never given.
    const user = guidOf((await found(fixture, '/users/search', {}))[0])
    for (const guid of [nobody, user, 'no-guid']) {
      const answer = await send(fixture, method, `/${guid}`, method === 'PUT' ? { title: 'x' } : undefined)
      expect([answer.status, answer.body]).toEqual([404, { error: 'task not found' }])
    }
    expect(await fixture.documents('tasks')).toEqual(before)
  }

const reads: Scenario = async (fixture) => {
  const made = await make(fixture)
  const answer = await fixture.send('GET', `/tasks/${guidOf(made)}`)
  expect([answer.status, answer.body]).toEqual([200, made])
}

const updates: Scenario = async (fixture) => {
  const made = await make(fixture, { status: 'open' })
  const path = `/${guidOf(made)}`
  const changed = await send(fixture, 'PUT', path, { status: 'done' })
  expect(changed).toMatchObject({ status: 200, body: { title: made.title, status: 'done' } })
  expect((await send(fixture, 'GET', path)).body).toEqual(changed.body)
}

const deletes: Scenario = async (fixture) => {
  const guid = guidOf(await make(fixture))
  const gone = await send(fixture, 'DELETE', `/${guid}`)
  expect([gone.status, gone.body]).toEqual([200, { guid, removed: true }])
  expect((await send(fixture, 'GET', `/${guid}`)).status).toBe(404)
  expect((await send(fixture, 'DELETE', `/${guid}`)).status).toBe(404)
}

/** The blueprint of a builder who lets documents go by one of the two blocks. What it then takes to have them back. */
async function deletedBy(fixture: ContractFixture, type: string) {
  const uri = fixture.name()
  const store = await fixture.fill(uri, [{ title: 'one' }])
  await fixture.run({
    store: storage(uri),
    on: on('delete', `${uri}/{guid}`),
    guid: param('guid'),
    do: onStore(type, '@on.flow', { guid: '@guid.value' }),
    reply: { type: 'httpconnection_set_json', in: { flow: '@do.flow', code: 204 } },
    unknown: reply('@do.not_found', { error: 'not found' }, 404),
  })
  const documents = `/_system/storages/${store}/documents`
  const guid = guidOf((await found(fixture, `${documents}/search`, {}))[0])
  const remove = async () => (await fixture.send('DELETE', `/${uri}/${guid}`)).status
  expect([await remove(), await remove()]).toEqual([204, 404])
  expect(await found(fixture, `${documents}/search`, {})).toEqual([])
  return async () => {
    const { status } = await fixture.send('POST', `${documents}/${guid}/restore`, { as: 'admin' })
    return [status, (await found(fixture, `${documents}/search`, {})).length]
  }
}

const softly: Scenario = async (fixture) => {
  const restored = await deletedBy(fixture, 'function_remove_document')
  expect(await restored()).toEqual([200, 1])
}

const forGood: Scenario = async (fixture) => {
  const restored = await deletedBy(fixture, 'function_delete_document')
  expect(await restored()).toEqual([404, 0])
}

const buildersChoice: Scenario = async (fixture) => {
  await softly(fixture)
  await forGood(fixture)
}

const guidField: Scenario = async (fixture) => {
  const guid = guidOf(await make(fixture, { _meta: { guid: nobody } }))
  expect(guid).not.toBe(nobody)
  expect((await send(fixture, 'GET', `/${guid}`)).body).toMatchObject({ _meta: { guid } })
  expect((await send(fixture, 'PUT', `/${guid}`, { _meta: { guid: nobody } })).body).toMatchObject({
    _meta: { guid },
  })
}

const createdField: Scenario = async (fixture) => {
  const before = Math.floor(Date.now() / 1000)
  const { created } = objectOf((await make(fixture))._meta)
  expect(created).toBeGreaterThanOrEqual(before)
  const all = objectsOf((await send(fixture, 'GET', '?limit=100')).body)
  const times = all.map(({ _meta }) => Number(objectOf(_meta).created))
  expect(times.length).toBeGreaterThan(1)
  expect(times).toEqual([...times].sort((a, b) => b - a))
}

const titleField: Scenario = async (fixture) => {
  await refused(fixture, { title: { not: 'text' } })
  const guid = guidOf(await make(fixture, { title: 'Buy milk' }))
  expect((await send(fixture, 'PUT', `/${guid}`, { title: '' })).status).toBe(400)
  expect((await send(fixture, 'GET', `/${guid}`)).body).toMatchObject({ title: 'Buy milk' })
}

const statusField: Scenario = async (fixture) => {
  await refused(fixture, { title: 'x', status: { not: 'text' } })
  expect(await make(fixture)).not.toHaveProperty('status')
  const status = fixture.name()
  const { title } = await make(fixture, { status })
  expect(await titles(fixture, `?status=${status}`)).toEqual([title])
}

export const scenarios: Scenarios = {
  list: lists,
  'list: status': filters,
  'list: limit and offset': pages,
  'list: order': newestFirst,
  create: creates,
  'create: title is required': needsTitle,
  'read one': reads,
  'read one: unknown': unknownIs404('GET'),
  update: updates,
  'update: unknown': unknownIs404('PUT'),
  delete: deletes,
  'delete: unknown': unknownIs404('DELETE'),
  'delete: soft or hard': buildersChoice,
  'document: existing to soft-deleted': softly,
  'document: existing to deleted': forGood,
  '_meta.guid': guidField,
  '_meta.created': createdField,
  title: titleField,
  status: statusField,
  'empty required field': namesField,
  'checked before anything is stored': checksFirst,
}
