/**
 * The requests that the two large directories publish, in the order in which they are published there, each with the reply that the page asks for.
 * The attributes, operations and addresses are those of the pages; names and ids are of this suite.
 *
 * - Entra: https://learn.microsoft.com/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups, `ms.date: 03/04/2025`
 *   (MicrosoftDocs/entra-docs at 03cc7794), sections "User Operations" and "Group Operations".
 * - Okta: https://developer.okta.com/docs/reference/scim/scim-20/ (okta/okta-developer-docs at 02e8ee86, requests of September 2019), sections
 *   "SCIM User operations" and "SCIM Group operations".
 *
 * Both were read on 2026-11-30.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

let fixture: TestQuoin
let key: string
beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0', QUOIN_PUBLIC_URL: 'https://club.example.com' })
  const scopes = ['scim_view', 'scim_create', 'scim_update', 'scim_remove']
  const owner = await fixture.addUser('directory', scopes)
  const made = await fixture.manage('POST', `/users/${owner}/keys`, { name: 'directory', scopes })
  key = String(objectOf(made).key)
})
afterAll(() => fixture?.close())

interface Reply {
  readonly status: number
  readonly type: string
  readonly body: JsonObject
}
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

async function scim(method: Method, path: string, body?: JsonValue): Promise<Reply> {
  const reply = await fixture.quoin.server.app.inject({
    ...{ method, url: `/scim/v2${path}` },
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/scim+json' }),
    },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  })
  const read: unknown = reply.body === '' ? {} : reply.json()
  if (!isJsonObject(read)) throw new Error(reply.body)
  return { status: reply.statusCode, type: String(reply.headers['content-type'] ?? ''), body: read }
}

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
const ADSCIM = 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'
const patch = (...operations: JsonValue[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
})
const filtered = (path: string, filter: string, more = '') =>
  `${path}?${more}filter=${encodeURIComponent(filter)}`
const idOf = ({ body }: Reply) => String(body.id)
const membersOf = async (group: string) => {
  const { body } = await scim('GET', `/Groups/${group}`)
  return [body.members ?? []].flat().map((one) => (isJsonObject(one) ? one.value : one))
}

test('Entra: the users that it creates, queries, changes, disables and deletes', async () => {
  const userName = 'Test_User_of_Entra'
  const mail = 'test.user.of.entra@testuser.example'
  const created = await scim('POST', '/Users', {
    ...{ schemas: [USER, ENTERPRISE], externalId: 'entra-1', userName, active: true },
    emails: [{ primary: true, type: 'work', value: mail }],
    ...{ meta: { resourceType: 'User' }, roles: [] },
    name: { formatted: 'Given Family', familyName: 'Family', givenName: 'Given' },
  })
  expect([created.status, created.type]).toEqual([201, expect.stringContaining('application/scim+json')])
  expect(created.body).toMatchObject({
    ...{ externalId: 'entra-1', userName, active: true, meta: { resourceType: 'User' } },
    name: { formatted: 'Given Family', familyName: 'Family', givenName: 'Given' },
    emails: [{ value: mail, type: 'work', primary: true }],
  })
  const path = `/Users/${idOf(created)}`
  expect(await scim('GET', path)).toMatchObject({ status: 200, body: { id: idOf(created), userName } })
  const missing = await scim('GET', '/Users/5171a35d82074e068ce2')
  expect(missing).toMatchObject({
    ...{ status: 404, body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '404' } },
  })
  for (const filter of [`userName eq "${userName}"`, `emails[type eq "work"].value eq "${mail}"`])
    expect((await scim('GET', filtered('/Users', filter))).body).toMatchObject({
      ...{ schemas: [LIST], totalResults: 1, startIndex: 1, Resources: [{ userName }] },
    })
  expect(await scim('GET', filtered('/Users', 'userName eq "non-existent user"'))).toMatchObject({
    ...{ status: 200, body: { schemas: [LIST], totalResults: 0, Resources: [] } },
  })
  const many = patch(
    { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@testuser.example' },
    { op: 'Replace', path: 'name.familyName', value: 'Updated' },
  )
  expect(await scim('PATCH', path, many)).toMatchObject({
    status: 200,
    body: {
      name: { formatted: 'Given Updated', familyName: 'Updated', givenName: 'Given' },
      emails: [{ value: 'updated@testuser.example', type: 'work', primary: true }],
    },
  })
  const single = patch({ op: 'Replace', path: 'userName', value: 'renamed@testuser.example' })
  expect((await scim('PATCH', path, single)).body).toMatchObject({ userName: 'renamed@testuser.example' })
  const disabled = await scim('PATCH', path, patch({ op: 'Replace', path: 'active', value: false }))
  expect(disabled).toMatchObject({ status: 200, body: { active: false } })
  // Disabled users are still found: Entra looks for them before it creates one.
  expect(
    (await scim('GET', filtered('/Users', 'userName eq "renamed@testuser.example"'))).body.Resources,
  ).toMatchObject([{ active: false }])
  expect((await scim('DELETE', path)).status).toBe(204)
  expect((await scim('GET', path)).status).toBe(404)
})

test('Entra: the groups that it creates, reads without members, fills, empties and deletes', async () => {
  const user = idOf(
    await scim('POST', '/Users', { schemas: [USER], userName: 'member-of-entra', active: true }),
  )
  const displayName = 'Group of Entra'
  const created = await scim('POST', '/Groups', {
    ...{ schemas: [GROUP, ADSCIM], externalId: 'entra-g', displayName, meta: { resourceType: 'Group' } },
  })
  expect(created).toMatchObject({ status: 201, body: { displayName, meta: { resourceType: 'Group' } } })
  const path = `/Groups/${idOf(created)}`
  const read = await scim('GET', `${path}?excludedAttributes=members`)
  expect(read).toMatchObject({ status: 200, body: { displayName } })
  expect(read.body).not.toHaveProperty('members')
  const query = filtered('/Groups', `displayName eq "${displayName}"`, 'excludedAttributes=members&')
  expect((await scim('GET', query)).body).toMatchObject({ totalResults: 1, Resources: [{ displayName }] })
  const renamed = patch({ op: 'Replace', path: 'displayName', value: 'Renamed by Entra' })
  expect((await scim('PATCH', path, renamed)).status).toBe(204)
  const value = [{ $ref: null, value: user }]
  expect((await scim('PATCH', path, patch({ op: 'Add', path: 'members', value }))).status).toBe(204)
  expect(await membersOf(idOf(created))).toEqual([user])
  expect((await scim('PATCH', path, patch({ op: 'Remove', path: 'members', value }))).status).toBe(204)
  expect(await membersOf(idOf(created))).toEqual([])
  expect((await scim('DELETE', path)).status).toBe(204)
  expect((await scim('GET', path)).status).toBe(404)
  expect((await scim('GET', '/Schemas')).body).toMatchObject({ schemas: [LIST] })
})

test('Okta: the users that it looks for, creates, reads, replaces and deactivates', async () => {
  const userName = 'test.user@okta.example'
  const paged = 'startIndex=1&count=100&'
  expect((await scim('GET', filtered('/Users', `userName eq "${userName}"`, paged))).body).toMatchObject({
    ...{ schemas: [LIST], totalResults: 0, startIndex: 1, Resources: [] },
  })
  const profile = {
    ...{ schemas: [USER], userName, displayName: 'Test User', locale: 'en-US', externalId: '00u-okta' },
    name: { givenName: 'Test', familyName: 'User' },
    emails: [{ primary: true, value: userName, type: 'work' }],
    ...{ groups: [], password: 'a-password-of-okta', active: true },
  }
  const created = await scim('POST', '/Users', profile)
  expect(created).toMatchObject({
    status: 201,
    body: { userName, externalId: '00u-okta', active: true, emails: [{ value: userName, type: 'work' }] },
  })
  expect(created.body).not.toHaveProperty('password')
  expect((await scim('POST', '/Users', profile)).status).toBe(409)
  expect((await scim('GET', '/Users?startIndex=1&count=100')).body).toMatchObject({ startIndex: 1 })
  const path = `/Users/${idOf(created)}`
  const { body } = await scim('GET', path)
  // What was read, with what has changed in it.
  const put = await scim('PUT', path, {
    ...body,
    name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
    emails: [{ primary: true, value: userName, type: 'work', display: userName }],
  })
  expect(put).toMatchObject({
    ...{ status: 200, body: { userName, active: true, name: { givenName: 'Another', familyName: 'User' } } },
  })
  const off = await scim('PATCH', path, patch({ op: 'replace', value: { active: false } }))
  expect(off).toMatchObject({ status: 200, body: { active: false, userName } })
  // Integrations of the wizard put the whole user instead.
  expect((await scim('PUT', path, { ...put.body, active: true })).body.active).toBe(true)
  expect((await scim('PUT', path, { ...put.body, active: false })).body.active).toBe(false)
})

test('Okta: the groups that it pushes, renames, fills and deletes', async () => {
  const member = async (userName: string) =>
    idOf(await scim('POST', '/Users', { schemas: [USER], userName, active: true }))
  const [one, two] = [await member('one@okta.example'), await member('two@okta.example')]
  const created = await scim('POST', '/Groups', { schemas: [GROUP], displayName: 'Pushed', members: [] })
  expect(created).toMatchObject({ status: 201, body: { displayName: 'Pushed' } })
  const id = idOf(created)
  const path = `/Groups/${id}`
  expect((await scim('GET', '/Groups?startIndex=1&count=100')).body).toMatchObject({ startIndex: 1 })
  expect(await scim('GET', path)).toMatchObject({ status: 200, body: { id, displayName: 'Pushed' } })
  const renamed = patch({ op: 'replace', value: { id, displayName: 'Pushed again' } })
  expect([200, 204]).toContain((await scim('PATCH', path, renamed)).status)
  expect((await scim('GET', path)).body.displayName).toBe('Pushed again')
  const display = 'test.user@okta.example'
  const exchanged = patch(
    { op: 'remove', path: `members[value eq "${two}"]` },
    { op: 'add', path: 'members', value: [{ value: one, display }] },
  )
  expect([200, 204]).toContain((await scim('PATCH', path, exchanged)).status)
  expect(await membersOf(id)).toEqual([one])
  const whole = [one, two].map((value) => ({ value, display }))
  expect([200, 204]).toContain(
    (await scim('PATCH', path, patch({ op: 'replace', path: 'members', value: whole }))).status,
  )
  expect((await membersOf(id)).toSorted()).toEqual([one, two].toSorted())
  expect((await scim('DELETE', path)).status).toBe(204)
  expect((await scim('GET', path)).status).toBe(404)
})
