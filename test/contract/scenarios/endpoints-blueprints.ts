/** Endpoints of blueprints, their blocks and what is deployed. */
import { expect } from 'vitest'
import type { JsonValue } from '../../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf } from '../../end-to-end/harness.ts'
import { call, found, guarded, nobody } from '../ask-quoin.ts'
import type { ContractRoom } from '../contract-room.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { on, reply } from '../flow-blocks.ts'

/** A blueprint that answers "one", active or not, with what changes its reply. */
async function oneWord(room: ContractRoom, { active = true } = {}) {
  const uri = room.name()
  const blocks = { on: on('get', uri), reply: reply('@on.flow', 'one') }
  const blueprint = await (active ? room.run(blocks) : room.make(blocks))
  const filters = { blueprint_guid: blueprint }
  const [one] = await found(room, '/blueprintactions/search', {
    filters: { ...filters, type: 'httpconnection_set_json' },
  })
  const block = guidOf(one)
  const pins = objectsOf(objectOf(one).in_pins)
  return {
    uri,
    blueprint,
    block,
    answer: async () => {
      const { status, body } = await call(room, 'GET', uri)
      return status === 200 ? body : status
    },
    stage: (value: JsonValue) => {
      const in_pins = [...pins.filter(({ id }) => id !== 'value'), { id: 'value', value }]
      return room.manage('PUT', `/blueprintactions/${block}`, { in_pins })
    },
    /** What is saved as the reply's value. */
    saved: async () => {
      const record = objectOf(await room.manage('GET', `/blueprintactions/${block}`))
      return objectsOf(record.in_pins).find(({ id }) => id === 'value')?.value
    },
    unsaved: async () => objectOf(await room.manage('GET', `/blueprintactions/${block}`)).unsaved,
  }
}

const unknown = (room: ContractRoom, method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string) =>
  room.send(method, path, { as: 'admin' })
const notFound = { status: 404, body: { error: 'NOT_FOUND', code: 404 } }

const searches: Scenario = async (room) => {
  await guarded(room, 'POST', '/blueprints/search', 'blueprints_view')
  const { blueprint } = await oneWord(room)
  const { name } = objectOf(await room.manage('GET', `/blueprints/${blueprint}`))
  const all = await found(room, '/blueprints/search', { filters: { name: name ?? '' } })
  expect(all).toMatchObject([{ name, active: true, _meta: { guid: blueprint } }])
  const page = { sort: [{ '_meta.cms': 'asc' }], limit: 1 }
  expect(await found(room, '/blueprints/search', page)).toMatchObject([{ name: 'Tasks' }])
}

const readsOne: Scenario = async (room) => {
  const { blueprint } = await oneWord(room)
  await guarded(room, 'GET', `/blueprints/${blueprint}`, 'blueprints_view')
  const read = await room.manage('GET', `/blueprints/${blueprint}`)
  expect(read).toMatchObject({ active: true, version: 1, _meta: { guid: blueprint } })
  expect(await unknown(room, 'GET', `/blueprints/${nobody}`)).toMatchObject(notFound)
}

const activates: Scenario = async (room) => {
  const { blueprint, answer } = await oneWord(room, { active: false })
  const path = `/blueprints/update/set/active/${blueprint}`
  await guarded(room, 'PUT', path, 'blueprints_update')
  expect(await answer()).toBe(404)
  expect(await room.manage('PUT', path)).toMatchObject({ active: true })
  expect(await answer()).toBe('one')
  const unfinished = await room.make({ get: { type: 'on_startup_register_uri_get' } })
  const refused = await unknown(room, 'PUT', `/blueprints/update/set/active/${unfinished}`)
  expect(refused).toMatchObject({ status: 422, body: { error: 'VALIDATION_FAILED' } })
  expect(await room.manage('GET', `/blueprints/${unfinished}`)).toMatchObject({ active: false })
}

const deactivates: Scenario = async (room) => {
  const { blueprint, answer } = await oneWord(room)
  const path = `/blueprints/update/set/inactive/${blueprint}`
  await guarded(room, 'PUT', path, 'blueprints_update')
  expect(await answer()).toBe('one')
  expect(await room.manage('PUT', path)).toMatchObject({ active: false })
  expect(await answer()).toBe(404)
}

const becomesActive: Scenario = async (room) => {
  const { blueprint, answer } = await oneWord(room, { active: false })
  expect(await room.manage('GET', `/blueprints/${blueprint}`)).toMatchObject({ active: false, version: 0 })
  await room.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
  expect(await room.manage('GET', `/blueprints/${blueprint}`)).toMatchObject({ active: true, version: 1 })
  expect(await answer()).toBe('one')
}

const inactiveIs404: Scenario = async (room) => {
  const { uri, blueprint } = await oneWord(room)
  await room.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
  for (const as of ['admin', 'stranger']) {
    const answer = await room.send('GET', `/${uri}`, { as })
    expect(answer).toMatchObject({ status: 404, body: { error: 'not found' } })
  }
}

const becomesInactive: Scenario = async (room) => {
  const { blueprint, answer } = await oneWord(room)
  await room.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
  expect(await room.manage('GET', `/blueprints/${blueprint}`)).toMatchObject({ active: false })
  expect(await answer()).toBe(404)
  await room.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
  expect(await answer()).toBe('one')
}

const pendingActions: Scenario = async (room) => {
  const { blueprint, block, stage, answer } = await oneWord(room)
  const path = `/blueprints/deploy/${blueprint}/actions`
  await guarded(room, 'GET', path, 'blueprints_view')
  await stage('two')
  expect(await room.manage('GET', path), 'staged is not saved').toEqual([])
  await room.manage('POST', `/blueprintactions/unsaved/${block}`)
  const pending = await room.manage('GET', path)
  expect(pending).toMatchObject([{ guid: block, type: 'httpconnection_set_json', change: 'updated' }])
  expect(await answer()).toBe('one')
  await room.manage('POST', `/blueprints/deploy/${blueprint}`)
  expect([await room.manage('GET', path), await answer()]).toEqual([[], 'two'])
}

const blocksSearch: Scenario = async (room) => {
  const path = '/blueprintactions/search'
  await guarded(room, 'POST', path, 'blueprintactions_view')
  const { blueprint } = await oneWord(room)
  const types = (await found(room, path, { filters: { blueprint_guid: blueprint } })).map(({ type }) => type)
  expect(types.sort()).toEqual(['httpconnection_set_json', 'on_startup_register_uri_get'])
  expect(await found(room, path, { filters: { blueprint_guid: nobody } })).toEqual([])
}

const readsBlock: Scenario = async (room) => {
  const { blueprint, block } = await oneWord(room)
  await guarded(room, 'GET', `/blueprintactions/${block}`, 'blueprintactions_view')
  expect(await room.manage('GET', `/blueprintactions/${block}`)).toMatchObject({
    type: 'httpconnection_set_json',
    blueprint_guid: blueprint,
    in_pins: expect.arrayContaining([{ id: 'value', value: 'one' }]),
    out_pins: expect.arrayContaining([{ id: 'flow', type: 'flow' }]),
    unsaved: null,
    _meta: { guid: block },
  })
  // The guid of another resource is no guid of a block.
  expect(await unknown(room, 'GET', `/blueprintactions/${blueprint}`)).toMatchObject(notFound)
}

const createsBlock: Scenario = async (room) => {
  const blueprint = guidOf(await room.manage('POST', '/blueprints', { name: room.name() }))
  const body = { blueprint_guid: blueprint, type: 'value_default', in_pins: [{ id: 'value', value: 1 }] }
  await guarded(room, 'POST', '/blueprintactions', 'blueprintactions_create', body)
  const bad = { ...body, type: 'no_such_block' }
  expect(await room.send('POST', '/blueprintactions', { as: 'admin', body: bad })).toMatchObject({
    status: 400,
    body: { error: 'INVALID_BODY', fields: ['type'] },
  })
  const filters = { blueprint_guid: blueprint }
  expect(await found(room, '/blueprintactions/search', { filters })).toEqual([])
  const made = await room.manage('POST', '/blueprintactions', body)
  expect(await found(room, '/blueprintactions/search', { filters })).toEqual([made])
}

const savesStaged: Scenario = async (room) => {
  const { block, stage, saved, unsaved } = await oneWord(room)
  const path = `/blueprintactions/unsaved/${block}`
  await stage('two')
  await guarded(room, 'POST', path, 'blueprintactions_update')
  expect([await saved(), await unsaved()]).toMatchObject(['one', { change: 'updated' }])
  await room.manage('POST', path)
  expect([await saved(), await unsaved()]).toEqual(['two', null])
  expect(await unknown(room, 'POST', `/blueprintactions/unsaved/${nobody}`)).toMatchObject(notFound)
}

const discardsStaged: Scenario = async (room) => {
  const { block, stage, saved, unsaved } = await oneWord(room)
  const path = `/blueprintactions/unsaved/${block}`
  await stage('two')
  await guarded(room, 'DELETE', path, 'blueprintactions_update')
  expect(await unsaved()).toMatchObject({ change: 'updated' })
  await room.manage('DELETE', path)
  expect([await saved(), await unsaved()]).toEqual(['one', null])
}

/** The whole way, up to what requests run. */
const stagedToSaved: Scenario = async (room) => {
  const { blueprint, stage, saved, answer } = await oneWord(room)
  await stage('two')
  await room.manage('POST', `/blueprintactions/unsaved/${blueprint}`)
  expect([await saved(), await answer()]).toEqual(['two', 'one'])
  await room.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
  expect(await answer()).toBe('two')
}

const stagedToDiscarded: Scenario = async (room) => {
  const { blueprint, stage, saved, answer } = await oneWord(room)
  await stage('two')
  await room.manage('DELETE', `/blueprintactions/unsaved/${blueprint}`)
  await room.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
  expect([await saved(), await answer()]).toEqual(['one', 'one'])
}

export const scenarios: Scenarios = {
  'POST /blueprints/search': searches,
  'GET /blueprints/{guid}': readsOne,
  'PUT /blueprints/update/set/active/{guid}': activates,
  'PUT /blueprints/update/set/inactive/{guid}': deactivates,
  'blueprint: inactive to active': becomesActive,
  'blueprint: inactive answers 404': inactiveIs404,
  'blueprint: active to inactive': becomesInactive,
  'GET /blueprints/deploy/{guid}/actions': pendingActions,
  'POST /blueprintactions/search': blocksSearch,
  'GET /blueprintactions/{guid}': readsBlock,
  'POST /blueprintactions': createsBlock,
  'POST /blueprintactions/unsaved/{guid}': savesStaged,
  'DELETE /blueprintactions/unsaved/{guid}': discardsStaged,
  'block: staged to saved': stagedToSaved,
  'block: staged to discarded': stagedToDiscarded,
}
