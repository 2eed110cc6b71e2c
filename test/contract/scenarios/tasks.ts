/** The tasks resource, on the blueprint that the first start installs. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import { type Answer, guidOf, objectOf, objectsOf } from '../../end-to-end/harness.ts'
import { found, nobody } from '../ask-quoin.ts'
import type { ContractRoom } from '../contract-room.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { on, onStore, param, reply, storage } from '../flow-blocks.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

const send = (room: ContractRoom, method: Method, path: string, body?: JsonValue): Promise<Answer> =>
  room.send(method, `/tasks${path}`, { as: 'stranger', ...(body !== undefined && { body }) })

async function make(room: ContractRoom, fields: JsonObject = {}): Promise<JsonObject> {
  const made = await send(room, 'POST', '', { title: room.name(), ...fields })
  expect(made.status, made.text).toBe(201)
  return objectOf(made.body)
}

/** Titles of three new tasks that have a status of their own, the oldest first. */
async function three(room: ContractRoom) {
  const status = room.name()
  const titles: unknown[] = []
  for (let n = 0; n < 3; n++) titles.push((await make(room, { status })).title)
  return { status, titles }
}

async function titles(room: ContractRoom, query: string): Promise<unknown[]> {
  const answer = await send(room, 'GET', query)
  expect([answer.status, Array.isArray(answer.body)]).toEqual([200, true])
  return objectsOf(answer.body).map(({ title }) => title)
}

const lists: Scenario = async (room) => {
  const made = await make(room)
  const answer = await room.send('GET', '/tasks')
  expect(answer.status).toBe(200)
  expect(objectsOf(answer.body)[0]).toEqual(made)
}

const filters: Scenario = async (room) => {
  const { status, titles: made } = await three(room)
  await make(room, { status: `${status}-more` })
  expect((await titles(room, `?status=${status}`)).sort()).toEqual([...made].sort())
  expect(await titles(room, `?status=${status}-none`)).toEqual([])
}

const pages: Scenario = async (room) => {
  const { status, titles: made } = await three(room)
  const [first, second, third] = made
  const page = (query: string) => titles(room, `?status=${status}&${query}`)
  expect(await page('limit=2')).toEqual([third, second])
  expect(await page('limit=2&offset=2')).toEqual([first])
  const refused = await send(room, 'GET', '?limit=many')
  expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('limit') } })
}

const newestFirst: Scenario = async (room) => {
  const { status, titles: made } = await three(room)
  expect(await titles(room, `?status=${status}`)).toEqual(made.reverse())
}

const creates: Scenario = async (room) => {
  const made = await make(room, { status: 'open', more: [1] })
  expect(made).toMatchObject({ status: 'open', more: [1], _meta: { guid: expect.any(String) } })
  expect((await send(room, 'GET', `/${guidOf(made)}`)).body).toEqual(made)
}

/** Refused, and as many tasks as before. */
async function refused(room: ContractRoom, body: JsonValue): Promise<Answer> {
  const before = (await room.documents('tasks')).length
  const answer = await send(room, 'POST', '', body)
  expect(answer.status).toBe(400)
  expect(await room.documents('tasks')).toHaveLength(before)
  return answer
}

const needsTitle: Scenario = async (room) => {
  for (const body of [{}, { title: '' }, { title: '  ' }, { title: null }]) await refused(room, body)
  await make(room)
}

const namesField: Scenario = async (room) => {
  const { body } = await refused(room, { status: 'open' })
  expect(body).toEqual({ error: 'title is required' })
}

const checksFirst: Scenario = async (room) => {
  const status = room.name()
  await refused(room, { title: '', status })
  expect(await titles(room, `?status=${status}`)).toEqual([])
}

const unknownIs404 =
  (method: 'GET' | 'PUT' | 'DELETE'): Scenario =>
  async (room) => {
    const before = await room.documents('tasks')
    // A guid of another resource is as unknown as one that was never given.
    const user = guidOf((await found(room, '/users/search', {}))[0])
    for (const guid of [nobody, user, 'no-guid']) {
      const answer = await send(room, method, `/${guid}`, method === 'PUT' ? { title: 'x' } : undefined)
      expect([answer.status, answer.body]).toEqual([404, { error: 'task not found' }])
    }
    expect(await room.documents('tasks')).toEqual(before)
  }

const reads: Scenario = async (room) => {
  const made = await make(room)
  const answer = await room.send('GET', `/tasks/${guidOf(made)}`)
  expect([answer.status, answer.body]).toEqual([200, made])
}

const updates: Scenario = async (room) => {
  const made = await make(room, { status: 'open' })
  const path = `/${guidOf(made)}`
  const changed = await send(room, 'PUT', path, { status: 'done' })
  expect(changed).toMatchObject({ status: 200, body: { title: made.title, status: 'done' } })
  expect((await send(room, 'GET', path)).body).toEqual(changed.body)
}

const deletes: Scenario = async (room) => {
  const guid = guidOf(await make(room))
  const gone = await send(room, 'DELETE', `/${guid}`)
  expect([gone.status, gone.body]).toEqual([200, { guid, removed: true }])
  expect((await send(room, 'GET', `/${guid}`)).status).toBe(404)
  expect((await send(room, 'DELETE', `/${guid}`)).status).toBe(404)
}

/** The blueprint of a builder who lets documents go by one of the two blocks. What it then takes to have them back. */
async function deletedBy(room: ContractRoom, type: string) {
  const uri = room.name()
  const store = await room.fill(uri, [{ title: 'one' }])
  await room.run({
    store: storage(uri),
    on: on('delete', `${uri}/{guid}`),
    guid: param('guid'),
    do: onStore(type, '@on.flow', { guid: '@guid.value' }),
    reply: { type: 'httpconnection_set_json', in: { flow: '@do.flow', code: 204 } },
    unknown: reply('@do.not_found', { error: 'not found' }, 404),
  })
  const documents = `/_system/storages/${store}/documents`
  const guid = guidOf((await found(room, `${documents}/search`, {}))[0])
  const remove = async () => (await room.send('DELETE', `/${uri}/${guid}`)).status
  expect([await remove(), await remove()]).toEqual([204, 404])
  expect(await found(room, `${documents}/search`, {})).toEqual([])
  return async () => {
    const { status } = await room.send('POST', `${documents}/${guid}/restore`, { as: 'admin' })
    return [status, (await found(room, `${documents}/search`, {})).length]
  }
}

const softly: Scenario = async (room) => {
  const restored = await deletedBy(room, 'function_remove_document')
  expect(await restored()).toEqual([200, 1])
}

const forGood: Scenario = async (room) => {
  const restored = await deletedBy(room, 'function_delete_document')
  expect(await restored()).toEqual([404, 0])
}

const buildersChoice: Scenario = async (room) => {
  await softly(room)
  await forGood(room)
}

const guidField: Scenario = async (room) => {
  const guid = guidOf(await make(room, { _meta: { guid: nobody } }))
  expect(guid).not.toBe(nobody)
  expect((await send(room, 'GET', `/${guid}`)).body).toMatchObject({ _meta: { guid } })
  expect((await send(room, 'PUT', `/${guid}`, { _meta: { guid: nobody } })).body).toMatchObject({
    _meta: { guid },
  })
}

const createdField: Scenario = async (room) => {
  const before = Math.floor(Date.now() / 1000)
  const { created } = objectOf((await make(room))._meta)
  expect(created).toBeGreaterThanOrEqual(before)
  const all = objectsOf((await send(room, 'GET', '?limit=100')).body)
  const times = all.map(({ _meta }) => Number(objectOf(_meta).created))
  expect(times.length).toBeGreaterThan(1)
  expect(times).toEqual([...times].sort((a, b) => b - a))
}

const titleField: Scenario = async (room) => {
  await refused(room, { title: { not: 'text' } })
  const guid = guidOf(await make(room, { title: 'Buy milk' }))
  expect((await send(room, 'PUT', `/${guid}`, { title: '' })).status).toBe(400)
  expect((await send(room, 'GET', `/${guid}`)).body).toMatchObject({ title: 'Buy milk' })
}

const statusField: Scenario = async (room) => {
  await refused(room, { title: 'x', status: { not: 'text' } })
  expect(await make(room)).not.toHaveProperty('status')
  const status = room.name()
  const { title } = await make(room, { status })
  expect(await titles(room, `?status=${status}`)).toEqual([title])
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
