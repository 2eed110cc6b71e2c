/** What the service is for, the places of a token, and how its paths and bodies are. */
import { expect } from 'vitest'
import type { JsonObject } from '../../../src/shared/json.ts'
import { guidOf, objectOf, type Sent } from '../../end-to-end/harness.ts'
import { eventually, found, nobody } from '../ask-quoin.ts'
import type { ContractRoom } from '../contract-room.ts'
import type { Scenario, Scenarios } from '../find-scenarios.ts'

/** Made, found, changed and removed, and then no longer there. */
async function managed(
  room: ContractRoom,
  path: string,
  input: JsonObject,
  change: JsonObject,
): Promise<void> {
  const guid = guidOf(await room.manage('POST', path, input))
  const byGuid = { filters: { '_meta.guid': guid } }
  expect(await found(room, `${path}/search`, byGuid)).toHaveLength(1)
  expect(await room.manage('PUT', `${path}/${guid}`, change)).toMatchObject(change)
  expect(await room.manage('GET', `${path}/${guid}`)).toMatchObject(change)
  await room.manage('DELETE', `${path}/${guid}`)
  expect(await found(room, `${path}/search`, byGuid)).toEqual([])
  expect((await room.send('GET', `${path}/${guid}`, { as: 'admin' })).status).toBe(404)
}

const blueprintsAndMore: Scenario = async (room) => {
  const description = 'changed'
  const name = room.name()
  await managed(room, '/blueprints', { name }, { description })
  await managed(room, '/blueprintfields', { name, type: 'string', storage: name }, { description })
  await managed(room, '/blueprinttemplates', { name }, { description })
  const blueprint = guidOf(await room.manage('POST', '/blueprints', { name }))
  const block = { type: 'query_and', blueprint_guid: blueprint }
  const guid = guidOf(await room.manage('POST', '/blueprintactions', block))
  await room.manage('PUT', `/blueprintactions/${guid}`, { title: 'changed' })
  await room.manage('POST', `/blueprintactions/unsaved/${guid}`)
  expect(await room.manage('GET', `/blueprintactions/${guid}`)).toMatchObject({ title: 'changed' })
  await room.manage('DELETE', `/blueprintactions/${guid}`)
  await room.manage('POST', `/blueprintactions/unsaved/${blueprint}`)
  expect((await room.send('GET', `/blueprintactions/${guid}`, { as: 'admin' })).status).toBe(404)
}

const usersAndAccess: Scenario = async (room) => {
  const name = room.name()
  const user = { username: name, password: 'a password of a user' }
  await managed(room, '/users', user, { firstname: 'Ann' })
  await managed(room, '/_system/authentication-groups', { name, scopes: ['a'] }, { scopes: ['b'] })
  const logs = async () => {
    const filters = encodeURIComponent(JSON.stringify({ path: '/api/v1/_system/authentication-groups' }))
    const body = await room.manage('GET', `/_system/userlogs/search?filters=${filters}&count=true`)
    return Number(objectOf(body).count) > 0
  }
  await eventually(logs, true)
}

const storagesAndLogs: Scenario = async (room) => {
  const name = room.name()
  await managed(room, '/_system/storages', { name }, { description: 'changed' })
  const audited = await found(room, '/_system/auditlogs', { filters: { category: 'storages', name } })
  expect(audited.map(({ action }) => action)).toEqual(['removed', 'updated', 'created'])
  for (const path of ['/_system/assets/search', '/_system/systemlogs/search'])
    expect(await room.manage('POST', path, { count: true })).toEqual({ count: expect.any(Number) })
}

const isMe = async (room: ContractRoom, sent: Sent, path = '/users/me') => {
  const { status, body } = await room.send('GET', path, sent)
  return status === 200 ? objectOf(body).username : status
}

const bearerHeader: Scenario = async (room) => {
  const token = await room.tokenOf('stranger')
  expect(await isMe(room, { headers: { authorization: `Bearer ${token}` } })).toBe('stranger')
  for (const authorization of [token, `Basic ${token}`, `Bearer ${token}x`, 'Bearer'])
    expect([authorization, await isMe(room, { headers: { authorization } })]).toEqual([authorization, 401])
}

/** The token there is as good as in the header; one that is no token is refused. */
const tokenIn =
  (header: string, before = ''): Scenario =>
  async (room) => {
    const token = await room.tokenOf('stranger')
    expect(await isMe(room, { headers: { [header]: `${before}${token}` } })).toBe('stranger')
    expect(await isMe(room, { headers: { [header]: `${before}nonsense` } })).toBe(401)
  }

const tokenInQuery: Scenario = async (room) => {
  const token = await room.tokenOf('stranger')
  expect(await isMe(room, {}, `/users/me?access_token=${token}`)).toBe('stranger')
  expect(await isMe(room, {}, '/users/me?access_token=nonsense')).toBe(401)
  const other = { headers: { 'x-token': await room.tokenOf('admin') } }
  expect(await isMe(room, other, `/users/me?access_token=${token}`), 'two of them').toBe(401)
}

const tokenInCookie: Scenario = async (room) => {
  await tokenIn('cookie', 'access_token=')(room)
  // A page of another site could make a browser send it.
  const cookie = `access_token=${await room.tokenOf('stranger')}`
  const write = { body: { firstname: 'Eve' }, headers: { cookie, origin: 'https://elsewhere.example' } }
  const { status } = await room.send('PUT', '/users/me', write)
  expect([401, 403]).toContain(status)
  expect(await room.manage('POST', '/users/search', { filters: { firstname: 'Eve' } })).toEqual([])
}

const tokenLife: Scenario = async (room) => {
  const username = room.name()
  await room.addUser(username, [])
  expect(await isMe(room, {})).toBe(401)
  const headers = { authorization: `Bearer ${await room.tokenOf(username)}` }
  expect(await isMe(room, { headers })).toBe(username)
  expect((await room.send('POST', '/auth/signout', { headers })).status).toBe(200)
  expect(await isMe(room, { headers })).toBe(401)
}

const publicInfo: Scenario = async (room) => {
  expect((await fetch(`${room.address}/api/v1/info`)).status).toBe(200)
  expect((await fetch(`${room.address}/api/v1/users/me`)).status).toBe(401)
}

const basePath: Scenario = async (room) => {
  const headers = { authorization: `Bearer ${await room.tokenOf('admin')}` }
  const status = async (path: string) => (await fetch(`${room.address}${path}`, { headers })).status
  expect([
    await status('/api/v1/users/me'),
    await status('/users/me'),
    await status('/api/users/me'),
  ]).toEqual([200, 404, 404])
}

const jsonBodies: Scenario = async (room) => {
  const authorization = `Bearer ${await room.tokenOf('admin')}`
  const post = async (type: string, body: string) => {
    const headers = { authorization, 'content-type': type }
    const reply = await fetch(`${room.address}/api/v1/users/search`, { method: 'POST', headers, body })
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/)
    return reply.status
  }
  expect(await post('application/json', '{"limit":1}')).toBe(200)
  expect(await post('application/json', '{"limit":')).toBe(400)
  expect(await post('text/plain', '{"limit":1}')).toBe(415)
}

const anyParameter: Scenario = async (room) => {
  for (const guid of [nobody, '1', 'a%20b', '%F0%9F%8C%8D', '..%2Fusers', "';--", 'x'.repeat(90)])
    for (const path of [`/blueprints/${guid}`, `/_system/storages/${guid}/count`])
      expect([path, (await room.send('GET', path, { as: 'admin' })).status]).toEqual([path, 404])
  const rule = `/_system/blueprintvalidation/${nobody}/any%20text`
  const body = { message: 'x' }
  expect((await room.send('PUT', rule, { as: 'admin', body })).status).toBe(404)
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
  '/mcp',
]
const filesOfPages = /^\/_pages\//

const everyPath: Scenario = async (room) => {
  const described = objectOf((await room.send('GET', '/openapi.json', { as: 'admin' })).body)
  const paths = Object.keys(objectOf(described.paths))
  expect(paths).toContain('/api/v1/tasks')
  // Files that are public are no endpoints; they are for browsers.
  expect(paths.filter((path) => !path.startsWith('/api/v1/'))).toEqual(['/static/{path}'])
  const routed = room.quoin.server.app.printRoutes({ commonPrefix: false })
  const roots = [...routed.matchAll(/^[├└]── (\S+) /gm)].map(([, root = '']) => root)
  expect(roots).toContain('/api/v1/info')
  const others = roots.filter((root) => !root.startsWith('/api/v1/') && !filesOfPages.test(root))
  expect(others.toSorted()).toEqual(besidesTheApi.toSorted())
}

const versionInfo: Scenario = async (room) => {
  const { body } = await room.send('GET', '/info')
  expect(objectOf(body)).toMatchObject({ api: 'v1', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
  expect(objectOf(objectOf(body).flags).storage).toBe(room.quoin.database.capabilities.engine)
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
