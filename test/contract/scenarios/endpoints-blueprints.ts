/** Endpoints of blueprints, their blocks and what is deployed. */
import { expect } from 'vitest'
import type { JsonValue } from '../../../src/shared/json.ts'
import { guidOf, objectOf, objectsOf } from '../../end-to-end/harness.ts'
import { call, found, guarded, nobody } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'
import { on, reply } from '../flow-blocks.ts'

/** A blueprint that answers "one", active or not, with what changes its reply. */
async function oneWord(fixture: ContractFixture, { active = true } = {}) {
  const uri = fixture.name()
  const blocks = { on: on('get', uri), reply: reply('@on.flow', 'one') }
  const blueprint = await (active ? fixture.run(blocks) : fixture.make(blocks))
  const filters = { blueprint_guid: blueprint }
  const [one] = await found(fixture, '/blueprintactions/search', {
    filters: { ...filters, type: 'httpconnection_set_json' },
  })
  const block = guidOf(one)
  const pins = objectsOf(objectOf(one).in_pins)
  return {
    uri,
    blueprint,
    block,
    answer: async () => {
      const { status, body } = await call(fixture, 'GET', uri)
      return status === 200 ? body : status
    },
    stage: (value: JsonValue) => {
      const in_pins = [...pins.filter(({ id }) => id !== 'value'), { id: 'value', value }]
      return fixture.manage('PUT', `/blueprintactions/${block}`, { in_pins })
    },
    /** What is saved as the reply's value. */
    saved: async () => {
      const record = objectOf(await fixture.manage('GET', `/blueprintactions/${block}`))
      return objectsOf(record.in_pins).find(({ id }) => id === 'value')?.value
    },
    unsaved: async () => objectOf(await fixture.manage('GET', `/blueprintactions/${block}`)).unsaved,
  }
}

const unknown = (fixture: ContractFixture, method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string) =>
  fixture.send(method, path, { as: 'admin' })
const notFound = { status: 404, body: { error: 'NOT_FOUND', code: 404 } }

const searches: Scenario = async (fixture) => {
  await guarded(fixture, 'POST', '/blueprints/search', 'blueprints_view')
  const { blueprint } = await oneWord(fixture)
  const { name } = objectOf(await fixture.manage('GET', `/blueprints/${blueprint}`))
  const all = await found(fixture, '/blueprints/search', { filters: { name: name ?? '' } })
  expect(all).toMatchObject([{ name, active: true, _meta: { guid: blueprint } }])
  const page = { sort: [{ '_meta.cms': 'asc' }], limit: 1 }
  expect(await found(fixture, '/blueprints/search', page)).toMatchObject([{ name: 'Tasks' }])
}

const readsOne: Scenario = async (fixture) => {
  const { blueprint } = await oneWord(fixture)
  await guarded(fixture, 'GET', `/blueprints/${blueprint}`, 'blueprints_view')
  const read = await fixture.manage('GET', `/blueprints/${blueprint}`)
  expect(read).toMatchObject({ active: true, version: 1, _meta: { guid: blueprint } })
  expect(await unknown(fixture, 'GET', `/blueprints/${nobody}`)).toMatchObject(notFound)
}

const activates: Scenario = async (fixture) => {
  const { blueprint, answer } = await oneWord(fixture, { active: false })
  const path = `/blueprints/update/set/active/${blueprint}`
  await guarded(fixture, 'PUT', path, 'blueprints_update')
  expect(await answer()).toBe(404)
  expect(await fixture.manage('PUT', path)).toMatchObject({ active: true })
  expect(await answer()).toBe('one')
  const unfinished = await fixture.make({ get: { type: 'on_startup_register_uri_get' } })
  const refused = await unknown(fixture, 'PUT', `/blueprints/update/set/active/${unfinished}`)
  expect(refused).toMatchObject({ status: 422, body: { error: 'VALIDATION_FAILED' } })
  expect(await fixture.manage('GET', `/blueprints/${unfinished}`)).toMatchObject({ active: false })
}

const deactivates: Scenario = async (fixture) => {
  const { blueprint, answer } = await oneWord(fixture)
  const path = `/blueprints/update/set/inactive/${blueprint}`
  await guarded(fixture, 'PUT', path, 'blueprints_update')
  expect(await answer()).toBe('one')
  expect(await fixture.manage('PUT', path)).toMatchObject({ active: false })
  expect(await answer()).toBe(404)
}

const becomesActive: Scenario = async (fixture) => {
  const { blueprint, answer } = await oneWord(fixture, { active: false })
  expect(await fixture.manage('GET', `/blueprints/${blueprint}`)).toMatchObject({ active: false, version: 0 })
  await fixture.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
  expect(await fixture.manage('GET', `/blueprints/${blueprint}`)).toMatchObject({ active: true, version: 1 })
  expect(await answer()).toBe('one')
}

const inactiveIs404: Scenario = async (fixture) => {
  const { uri, blueprint } = await oneWord(fixture)
  await fixture.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
  for (const as of ['admin', 'stranger']) {
    const answer = await fixture.send('GET', `/${uri}`, { as })
    expect(answer).toMatchObject({ status: 404, body: { error: 'not found' } })
  }
}

const becomesInactive: Scenario = async (fixture) => {
  const { blueprint, answer } = await oneWord(fixture)
  await fixture.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
  expect(await fixture.manage('GET', `/blueprints/${blueprint}`)).toMatchObject({ active: false })
  expect(await answer()).toBe(404)
  await fixture.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
  expect(await answer()).toBe('one')
}

const pendingActions: Scenario = async (fixture) => {
  const { blueprint, block, stage, answer } = await oneWord(fixture)
  const path = `/blueprints/deploy/${blueprint}/actions`
  await guarded(fixture, 'GET', path, 'blueprints_view')
  await stage('two')
  expect(await fixture.manage('GET', path), 'staged is not saved').toEqual([])
  await fixture.manage('POST', `/blueprintactions/unsaved/${block}`)
  const pending = await fixture.manage('GET', path)
  expect(pending).toMatchObject([{ guid: block, type: 'httpconnection_set_json', change: 'updated' }])
  expect(await answer()).toBe('one')
  await fixture.manage('POST', `/blueprints/deploy/${blueprint}`)
  expect([await fixture.manage('GET', path), await answer()]).toEqual([[], 'two'])
}

const blocksSearch: Scenario = async (fixture) => {
  const path = '/blueprintactions/search'
  await guarded(fixture, 'POST', path, 'blueprintactions_view')
  const { blueprint } = await oneWord(fixture)
  const types = (await found(fixture, path, { filters: { blueprint_guid: blueprint } })).map(
    ({ type }) => type,
  )
  expect(types.sort()).toEqual(['httpconnection_set_json', 'on_startup_register_uri_get'])
  expect(await found(fixture, path, { filters: { blueprint_guid: nobody } })).toEqual([])
}

const readsBlock: Scenario = async (fixture) => {
  const { blueprint, block } = await oneWord(fixture)
  await guarded(fixture, 'GET', `/blueprintactions/${block}`, 'blueprintactions_view')
  expect(await fixture.manage('GET', `/blueprintactions/${block}`)).toMatchObject({
    type: 'httpconnection_set_json',
    blueprint_guid: blueprint,
    in_pins: expect.arrayContaining([{ id: 'value', value: 'one' }]),
    out_pins: expect.arrayContaining([{ id: 'flow', type: 'flow' }]),
    unsaved: null,
    _meta: { guid: block },
  })
  // The guid of another resource is no guid of a block.
  expect(await unknown(fixture, 'GET', `/blueprintactions/${blueprint}`)).toMatchObject(notFound)
}

const createsBlock: Scenario = async (fixture) => {
  const blueprint = guidOf(await fixture.manage('POST', '/blueprints', { name: fixture.name() }))
  const body = { blueprint_guid: blueprint, type: 'value_default', in_pins: [{ id: 'value', value: 1 }] }
  await guarded(fixture, 'POST', '/blueprintactions', 'blueprintactions_create', body)
  const bad = { ...body, type: 'no_such_block' }
  expect(await fixture.send('POST', '/blueprintactions', { as: 'admin', body: bad })).toMatchObject({
    status: 400,
    body: { error: 'INVALID_BODY', fields: ['type'] },
  })
  const filters = { blueprint_guid: blueprint }
  expect(await found(fixture, '/blueprintactions/search', { filters })).toEqual([])
  const made = await fixture.manage('POST', '/blueprintactions', body)
  expect(await found(fixture, '/blueprintactions/search', { filters })).toEqual([made])
}

const savesStaged: Scenario = async (fixture) => {
  const { block, stage, saved, unsaved } = await oneWord(fixture)
  const path = `/blueprintactions/unsaved/${block}`
  await stage('two')
  await guarded(fixture, 'POST', path, 'blueprintactions_update')
  expect([await saved(), await unsaved()]).toMatchObject(['one', { change: 'updated' }])
  await fixture.manage('POST', path)
  expect([await saved(), await unsaved()]).toEqual(['two', null])
  expect(await unknown(fixture, 'POST', `/blueprintactions/unsaved/${nobody}`)).toMatchObject(notFound)
}

const discardsStaged: Scenario = async (fixture) => {
  const { block, stage, saved, unsaved } = await oneWord(fixture)
  const path = `/blueprintactions/unsaved/${block}`
  await stage('two')
  await guarded(fixture, 'DELETE', path, 'blueprintactions_update')
  expect(await unsaved()).toMatchObject({ change: 'updated' })
  await fixture.manage('DELETE', path)
  expect([await saved(), await unsaved()]).toEqual(['one', null])
}

/** The whole way, up to what requests run. */
const stagedToSaved: Scenario = async (fixture) => {
  const { blueprint, stage, saved, answer } = await oneWord(fixture)
  await stage('two')
  await fixture.manage('POST', `/blueprintactions/unsaved/${blueprint}`)
  expect([await saved(), await answer()]).toEqual(['two', 'one'])
  await fixture.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
  expect(await answer()).toBe('two')
}

const stagedToDiscarded: Scenario = async (fixture) => {
  const { blueprint, stage, saved, answer } = await oneWord(fixture)
  await stage('two')
  await fixture.manage('DELETE', `/blueprintactions/unsaved/${blueprint}`)
  await fixture.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
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
