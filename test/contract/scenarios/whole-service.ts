/** What the service is for, the places of a token, and how its paths and bodies are. */
import { expect } from 'vitest'
import type { JsonObject } from '../../../src/shared/json.ts'
import { guidOf, objectOf, type Sent } from '../../end-to-end/harness.ts'
import { eventually, found, nobody } from '../ask-quoin.ts'
import type { ContractFixture } from '../contract-fixture.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'

/** Made, found, changed and removed, and then no longer there. */
async function managed(
  fixture: ContractFixture,
  path: string,
  input: JsonObject,
  change: JsonObject,
): Promise<void> {
  const guid = guidOf(await fixture.manage('POST', path, input))
  const byGuid = { filters: { '_meta.guid': guid } }
  expect(await found(fixture, `${path}/search`, byGuid)).toHaveLength(1)
  expect(await fixture.manage('PUT', `${path}/${guid}`, change)).toMatchObject(change)
  expect(await fixture.manage('GET', `${path}/${guid}`)).toMatchObject(change)
  await fixture.manage('DELETE', `${path}/${guid}`)
  expect(await found(fixture, `${path}/search`, byGuid)).toEqual([])
  expect((await fixture.send('GET', `${path}/${guid}`, { as: 'admin' })).status).toBe(404)
}

const blueprintsAndMore: Scenario = async (fixture) => {
  const description = 'changed'
  const name = fixture.name()
  await managed(fixture, '/blueprints', { name }, { description })
  await managed(fixture, '/blueprintfields', { name, type: 'string', storage: name }, { description })
  await managed(fixture, '/blueprinttemplates', { name }, { description })
  const blueprint = guidOf(await fixture.manage('POST', '/blueprints', { name }))
  const block = { type: 'query_and', blueprint_guid: blueprint }
  const guid = guidOf(await fixture.manage('POST', '/blueprintactions', block))
  await fixture.manage('PUT', `/blueprintactions/${guid}`, { title: 'changed' })
  await fixture.manage('POST', `/blueprintactions/unsaved/${guid}`)
  expect(await fixture.manage('GET', `/blueprintactions/${guid}`)).toMatchObject({ title: 'changed' })
  await fixture.manage('DELETE', `/blueprintactions/${guid}`)
  await fixture.manage('POST', `/blueprintactions/unsaved/${blueprint}`)
  expect((await fixture.send('GET', `/blueprintactions/${guid}`, { as: 'admin' })).status).toBe(404)
}

const usersAndAccess: Scenario = async (fixture) => {
  const name = fixture.name()
  const user = { username: name, password: 'a password of a user' }
  await managed(fixture, '/users', user, { firstname: 'Ann' })
  await managed(fixture, '/_system/authentication-groups', { name, scopes: ['a'] }, { scopes: ['b'] })
  const logs = async () => {
    const filters = encodeURIComponent(JSON.stringify({ path: '/api/v1/_system/authentication-groups' }))
    const body = await fixture.manage('GET', `/_system/userlogs/search?filters=${filters}&count=true`)
    return Number(objectOf(body).count) > 0
  }
  await eventually(logs, true)
}

const storagesAndLogs: Scenario = async (fixture) => {
  const name = fixture.name()
  await managed(fixture, '/_system/storages', { name }, { description: 'changed' })
  const audited = await found(fixture, '/_system/auditlogs', { filters: { category: 'storages', name } })
  expect(audited.map(({ action }) => action)).toEqual(['removed', 'updated', 'created'])
  for (const path of ['/_system/assets/search', '/_system/systemlogs/search'])
    expect(await fixture.manage('POST', path, { count: true })).toEqual({ count: expect.any(Number) })
}

const isMe = async (fixture: ContractFixture, sent: Sent, path = '/users/me') => {
  const { status, body } = await fixture.send('GET', path, sent)
  return status === 200 ? objectOf(body).username : status
}

const bearerHeader: Scenario = async (fixture) => {
  const token = await fixture.tokenOf('stranger')
  expect(await isMe(fixture, { headers: { authorization: `Bearer ${token}` } })).toBe('stranger')
  for (const authorization of [token, `Basic ${token}`, `Bearer ${token}x`, 'Bearer'])
    expect([authorization, await isMe(fixture, { headers: { authorization } })]).toEqual([authorization, 401])
}

/** The token there is as good as in the header; one that is no token is refused. */
const tokenIn =
  (header: string, before = ''): Scenario =>
  async (fixture) => {
    const token = await fixture.tokenOf('stranger')
    expect(await isMe(fixture, { headers: { [header]: `${before}${token}` } })).toBe('stranger')
    expect(await isMe(fixture, { headers: { [header]: `${before}nonsense` } })).toBe(401)
  }

const tokenInQuery: Scenario = async (fixture) => {
  const token = await fixture.tokenOf('stranger')
  expect(await isMe(fixture, {}, `/users/me?access_token=${token}`)).toBe('stranger')
  expect(await isMe(fixture, {}, '/users/me?access_token=nonsense')).toBe(401)
  const other = { headers: { 'x-token': await fixture.tokenOf('admin') } }
  expect(await isMe(fixture, other, `/users/me?access_token=${token}`), 'two of them').toBe(401)
}

const tokenInCookie: Scenario = async (fixture) => {
  await tokenIn('cookie', 'access_token=')(fixture)
  // A page of another site could make a browser send it.
  const cookie = `access_token=${await fixture.tokenOf('stranger')}`
  const write = { body: { firstname: 'Eve' }, headers: { cookie, origin: 'https://elsewhere.example' } }
  const { status } = await fixture.send('PUT', '/users/me', write)
  expect([401, 403]).toContain(status)
  expect(await fixture.manage('POST', '/users/search', { filters: { firstname: 'Eve' } })).toEqual([])
}

const tokenLife: Scenario = async (fixture) => {
  const username = fixture.name()
  await fixture.addUser(username, [])
  expect(await isMe(fixture, {})).toBe(401)
  const headers = { authorization: `Bearer ${await fixture.tokenOf(username)}` }
  expect(await isMe(fixture, { headers })).toBe(username)
  expect((await fixture.send('POST', '/auth/signout', { headers })).status).toBe(200)
  expect(await isMe(fixture, { headers })).toBe(401)
}

const publicInfo: Scenario = async (fixture) => {
  expect((await fetch(`${fixture.address}/api/v1/info`)).status).toBe(200)
  expect((await fetch(`${fixture.address}/api/v1/users/me`)).status).toBe(401)
}

const basePath: Scenario = async (fixture) => {
  const headers = { authorization: `Bearer ${await fixture.tokenOf('admin')}` }
  const status = async (path: string) => (await fetch(`${fixture.address}${path}`, { headers })).status
  expect([
    await status('/api/v1/users/me'),
    await status('/users/me'),
    await status('/api/users/me'),
  ]).toEqual([200, 404, 404])
}

const jsonBodies: Scenario = async (fixture) => {
  const authorization = `Bearer ${await fixture.tokenOf('admin')}`
  const post = async (type: string, body: string) => {
    const headers = { authorization, 'content-type': type }
    const reply = await fetch(`${fixture.address}/api/v1/users/search`, { method: 'POST', headers, body })
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/)
    return reply.status
  }
  expect(await post('application/json', '{"limit":1}')).toBe(200)
  expect(await post('application/json', '{"limit":')).toBe(400)
  expect(await post('text/plain', '{"limit":1}')).toBe(415)
}

const anyParameter: Scenario = async (fixture) => {
  for (const guid of [nobody, '1', 'a%20b', '%F0%9F%8C%8D', '..%2Fusers', "';--", 'x'.repeat(90)])
    for (const path of [`/blueprints/${guid}`, `/_system/storages/${guid}/count`])
      expect([path, (await fixture.send('GET', path, { as: 'admin' })).status]).toEqual([path, 404])
  const rule = `/_system/blueprintvalidation/${nobody}/any%20text`
  const body = { message: 'x' }
  expect((await fixture.send('PUT', rule, { as: 'admin', body })).status).toBe(404)
}

/** What the router knows beside the API: for people, agents, monitors and files, and nothing else. Pages answer at any path. */
const besidesTheApi = [
  '/docs',
  '*',
  '/studio',
  '/health/live',
  '/health/ready',
  '/metrics',
  '/_approvals/:guid',
  '/_signin',
  '/_oauth/authorize',
  '/_oauth/revoke',
  '/_oauth/token',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource',
  '/mcp',
  '/scim/v2/ServiceProviderConfig',
  '/scim/v2/ResourceTypes',
  '/scim/v2/Schemas',
  '/scim/v2/Users',
  '/scim/v2/Groups',
]
const filesOfPages = /^\/_pages\//

const everyPath: Scenario = async (fixture) => {
  const described = objectOf((await fixture.send('GET', '/openapi.json', { as: 'admin' })).body)
  const paths = Object.keys(objectOf(described.paths))
  expect(paths).toContain('/api/v1/tasks')
  // Files that are public are no endpoints; they are for browsers.
  expect(paths.filter((path) => !path.startsWith('/api/v1/'))).toEqual(['/static/{path}'])
  const routed = fixture.quoin.server.app.printRoutes({ commonPrefix: false })
  const roots = [...routed.matchAll(/^[├└]── (\S+) /gm)].map(([, root = '']) => root)
  expect(roots).toContain('/api/v1/info')
  const others = roots.filter((root) => !root.startsWith('/api/v1/') && !filesOfPages.test(root))
  expect(others.toSorted()).toEqual(besidesTheApi.toSorted())
}

const versionInfo: Scenario = async (fixture) => {
  const { body } = await fixture.send('GET', '/info')
  expect(objectOf(body)).toMatchObject({ api: 'v1', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
  expect(objectOf(objectOf(body).flags).storage).toBe(fixture.quoin.database.capabilities.engine)
  expect(String(objectOf(body).host).length).toBeGreaterThan(0)
}

export const scenarios: Scenarios = {
  'blueprints, blocks, fields and templates are managed': blueprintsAndMore,
  'users, access, groups and activity logs are managed': usersAndAccess,
  'storages, assets, system logs and an audit log are provided': storagesAndLogs,
  'bearer header': bearerHeader,
  'token in x-authtoken': tokenIn('x-authtoken'),
  'token in x-token': tokenIn('x-token'),
  'token in the query': tokenInQuery,
  'token in the cookie': tokenInCookie,
  'sign-in gives the token, sign-out ends it': tokenLife,
  'GET /info is public': publicInfo,
  'base path': basePath,
  'bodies are JSON': jsonBodies,
  'path parameters are strings': anyParameter,
  'every path starts with /api/v1': everyPath,
  info: versionInfo,
}
