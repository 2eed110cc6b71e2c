/** Every record of every resource has a guid, and by it nothing else is found. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import { guidOf, objectsOf } from '../../end-to-end/harness.ts'
import { eventually, found, nobody } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'

/** A record is read at its guid, as it was made; the guid of another resource's record, or an unknown one, is 404. */
async function addressed(fixture: ContractFixture, path: string, made: JsonValue): Promise<void> {
  const guid = guidOf(made)
  expect(guid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  expect(guidOf(await fixture.manage('GET', `${path}/${guid}`))).toBe(guid)
  const admin = guidOf((await found(fixture, '/users/search', { filters: { username: 'admin' } }))[0])
  const tasks = guidOf((await found(fixture, '/blueprints/search', { filters: { name: 'Tasks' } }))[0])
  for (const other of [path === '/users' ? tasks : admin, nobody])
    expect((await fixture.send('GET', `${path}/${other}`, { as: 'admin' })).status).toBe(404)
}

/** Made twice with what `input` gives, each time under another guid. */
const record =
  (path: string, input: (name: string) => JsonObject): Scenario =>
  async (fixture) => {
    const one = await fixture.manage('POST', path, input(fixture.name()))
    const two = await fixture.manage('POST', path, input(fixture.name()))
    expect(guidOf(one)).not.toBe(guidOf(two))
    await addressed(fixture, path, one)
    await addressed(fixture, path, two)
  }

const block: Scenario = async (fixture) => {
  const blueprint = guidOf(await fixture.manage('POST', '/blueprints', { name: fixture.name() }))
  const made = { blueprint_guid: blueprint, type: 'query_and' }
  await addressed(fixture, '/blueprintactions', await fixture.manage('POST', '/blueprintactions', made))
}

/** Logs are read by search: the guid finds the one record. */
async function foundByGuid(search: (filters: JsonObject) => Promise<readonly JsonObject[]>): Promise<void> {
  const [one, two] = await search({})
  expect(guidOf(one)).not.toBe(guidOf(two))
  expect(await search({ '_meta.guid': guidOf(two) })).toEqual([two])
  expect(await search({ '_meta.guid': nobody })).toEqual([])
}

const systemLog: Scenario = async (fixture) => {
  const uri = fixture.name()
  const blueprint = await fixture.run({
    on: { type: 'on_startup_register_uri_get', in: { uri } },
    log: { type: 'function_console_log', in: { flow: '@on.flow', value: 'seen' } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@log.flow', value: 1 } },
  })
  const search = (filters: JsonObject) =>
    found(fixture, '/_system/systemlogs/search', { filters: { blueprint, ...filters } })
  await fixture.send('GET', `/${uri}`)
  await fixture.send('GET', `/${uri}`)
  await eventually(async () => (await search({})).length, 2)
  await foundByGuid(search)
}

const auditLog: Scenario = async (fixture) => {
  const made = await fixture.manage('POST', '/blueprinttemplates', { name: fixture.name() })
  await fixture.manage('PUT', `/blueprinttemplates/${guidOf(made)}`, { description: 'changed' })
  await foundByGuid((filters) =>
    found(fixture, '/_system/auditlogs', { filters: { guid: guidOf(made), ...filters } }),
  )
}

const userLog: Scenario = async (fixture) => {
  const agent = fixture.name()
  const sent = { as: 'stranger', headers: { 'user-agent': agent } }
  // Another address, since the same request again at once is counted in the same record.
  await fixture.send('GET', '/users/me', sent)
  await fixture.send('GET', '/users/you', sent)
  const search = async (filters: JsonObject) => {
    const query = new URLSearchParams({ filters: JSON.stringify({ agent, ...filters }) })
    return objectsOf(await fixture.manage('GET', `/_system/userlogs/search?${query}`))
  }
  await eventually(async () => (await search({})).length, 2)
  await foundByGuid(search)
}

export const scenarios: Scenarios = {
  'record: blueprint': record('/blueprints', (name) => ({ name })),
  'record: blueprint action': block,
  'record: blueprint field': record('/blueprintfields', (name) => ({ name, type: 'string', storage: name })),
  'record: blueprint template': record('/blueprinttemplates', (name) => ({ name })),
  'record: user': record('/users', (username) => ({ username, password: 'a password of a user' })),
  'record: authentication group': record('/_system/authentication-groups', (name) => ({ name })),
  'record: storage': record('/_system/storages', (name) => ({ name })),
  'record: system log': systemLog,
  'record: audit log': auditLog,
  'record: user log': userLog,
}
