/** SCIM at a running server: who may call, what a key may not do, lists, versions, and what ends with a deactivation. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { createAll } from '../../src/storage/create-all.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { transact } from '../../src/storage/transact.ts'
import { guidOf, openTestQuoin, type TestQuoin, userPassword } from './harness.ts'

const all = ['scim_view', 'scim_create', 'scim_update', 'scim_remove']
const missingGuid = '019a0000-0000-7000-8000-000000000001'

let fixture: TestQuoin
/** Owned by a user who holds the scopes of SCIM and `orders_write`. */
let key: string
let owner: string
beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0', QUOIN_PUBLIC_URL: 'https://club.example.com' })
  owner = await fixture.addUser('provisioner', [...all, 'orders_write'])
  key = await newKey(owner, all)
})
afterAll(() => fixture?.close())

async function newKey(user: string, scopes: readonly string[]): Promise<string> {
  const made = await fixture.manage('POST', `/users/${user}/keys`, {
    name: `k${Math.random()}`,
    scopes: [...scopes],
  })
  return textIn(made, 'key')
}

interface Reply {
  readonly status: number
  readonly body: JsonObject
  readonly headers: Readonly<Record<string, unknown>>
}

async function scim(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  {
    body,
    token = key,
    headers = {},
  }: { body?: JsonValue; token?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const reply = await fixture.quoin.server.app.inject({
    method,
    url: `/scim/v2${path}`,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/scim+json' }),
      ...headers,
    },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  })
  return { status: reply.statusCode, body: reply.body === '' ? {} : reply.json(), headers: reply.headers }
}

function textIn(value: JsonValue | undefined, name: string): string {
  const text = isJsonObject(value) ? value[name] : undefined
  if (typeof text !== 'string') throw new Error(`${name} is not in ${JSON.stringify(value)}`)
  return text
}

let count = 0
async function newUser(more: JsonObject = {}): Promise<{ readonly id: string; readonly userName: string }> {
  const userName = `person-${++count}@example.com`
  const { status, body } = await scim('POST', '/Users', {
    body: { userName, emails: [{ value: userName }], ...more },
  })
  expect([status, textIn(body, 'userName')]).toEqual([201, userName])
  return { id: textIn(body, 'id'), userName }
}
async function newGroup(members: readonly string[] = []): Promise<string> {
  const body = { displayName: `group ${++count}`, members: members.map((value) => ({ value })) }
  const made = await scim('POST', '/Groups', { body })
  expect(made.status).toBe(201)
  return textIn(made.body, 'id')
}
const patch = (...operations: JsonValue[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
})
const named = (filter: string) => `?filter=${encodeURIComponent(filter)}`
const namesIn = ({ body }: Reply) => [body.Resources ?? []].flat().map((one) => textIn(one, 'userName'))

const calls = [
  ['GET', '/ServiceProviderConfig', 'scim_view'],
  ['GET', '/Schemas', 'scim_view'],
  ['GET', '/ResourceTypes/User', 'scim_view'],
  ['GET', '/Users', 'scim_view'],
  ['GET', `/Users/${missingGuid}`, 'scim_view'],
  ['POST', '/Users', 'scim_create'],
  ['PUT', `/Users/${missingGuid}`, 'scim_update'],
  ['PATCH', `/Users/${missingGuid}`, 'scim_update'],
  ['DELETE', `/Users/${missingGuid}`, 'scim_remove'],
  ['GET', '/Groups', 'scim_view'],
  ['GET', `/Groups/${missingGuid}`, 'scim_view'],
  ['POST', '/Groups', 'scim_create'],
  ['PUT', `/Groups/${missingGuid}`, 'scim_update'],
  ['PATCH', `/Groups/${missingGuid}`, 'scim_update'],
  ['DELETE', `/Groups/${missingGuid}`, 'scim_remove'],
  ['POST', '/Bulk', 'scim_create'],
  ['GET', '/Me', 'scim_view'],
] as const

test('each call needs an API key with its scope, and errors have the form of the standard', async () => {
  const keys = new Map<string, string>()
  for (const scope of all)
    keys.set(
      scope,
      await newKey(
        owner,
        all.filter((one) => one !== scope),
      ),
    )
  const session = await fixture.tokenOf('admin')
  for (const [method, path, scope] of calls) {
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} }
    for (const token of ['', 'qk_wrong', session]) {
      const refused = await scim(method, path, { ...body, token })
      expect([path, refused.status, refused.body.schemas, refused.body.status]).toEqual([
        path,
        401,
        ['urn:ietf:params:scim:api:messages:2.0:Error'],
        '401',
      ])
    }
    const lacking = await scim(method, path, { ...body, token: keys.get(scope) ?? '' })
    expect([path, lacking.status, lacking.body.detail]).toEqual([path, 403, expect.stringContaining(scope)])
    expect(lacking.headers['content-type']).toBe('application/scim+json; charset=utf-8')
    const allowed = await scim(method, path, body)
    expect([path, [401, 403].includes(allowed.status)]).toEqual([path, false])
  }
})

test('a key whose list of endpoints has other paths is refused', async () => {
  const made = await fixture.manage('POST', `/users/${owner}/keys`, {
    ...{ name: 'listed', scopes: [...all], endpoints: ['/scim/v2/Users/*', 'GET /scim/v2/Users'] },
  })
  const token = textIn(made, 'key')
  expect((await scim('GET', '/Users', { token })).status).toBe(200)
  expect((await scim('GET', '/Groups', { token })).status).toBe(403)
})

test('what SCIM can do here is described', async () => {
  const { body } = await scim('GET', '/ServiceProviderConfig')
  expect(body).toMatchObject({
    patch: { supported: true },
    bulk: { supported: false },
    etag: { supported: true },
  })
  expect((await scim('GET', '/Schemas/urn:ietf:params:scim:schemas:core:2.0:User')).body.name).toBe('User')
  expect((await scim('GET', '/ResourceTypes')).body.totalResults).toBe(2)
  expect((await scim('GET', '/Schemas/none')).status).toBe(404)
})

test.each<[string, JsonValue, number, string]>([
  ['no name', {}, 400, 'invalidValue'],
  ['a text', 'text', 400, 'invalidSyntax'],
  ['a name of 65 characters', { userName: 'a'.repeat(65) }, 400, 'invalidValue'],
  ['the name of another user in another case', { userName: 'PROVISIONER' }, 409, 'uniqueness'],
  ['the same name in other characters of Unicode', { userName: 'ｐｒｏｖｉｓｉｏｎｅｒ' }, 409, 'uniqueness'],
  ['an invisible character', { userName: 'a\u200bda' }, 400, 'invalidValue'],
])('a user with %s is refused', async (_, body, status, scimType) => {
  const reply = await scim('POST', '/Users', { body })
  expect([reply.status, reply.body.scimType, typeof reply.body.detail]).toEqual([status, scimType, 'string'])
})

test('a user of Okta is created, found, changed, deactivated and removed', async () => {
  const created = await scim('POST', '/Users', {
    body: {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      ...{ userName: 'test.user@okta.local', password: '1mz050nq', groups: [], locale: 'en-US' },
      name: { givenName: 'Test', familyName: 'User' },
      emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
      ...{ displayName: 'Test User', externalId: '00ujl29u0le5T6Aj10h7', active: true },
    },
  })
  const id = textIn(created.body, 'id')
  expect([created.status, created.headers.location]).toEqual([
    201,
    `https://club.example.com/scim/v2/Users/${id}`,
  ])
  expect(created.body).toMatchObject({
    active: true,
    externalId: '00ujl29u0le5T6Aj10h7',
    name: { formatted: 'Test User' },
  })
  expect(created.body).not.toHaveProperty('password')
  const signIn = { username: 'test.user@okta.local', password: '1mz050nq' }
  expect((await fixture.send('POST', '/auth/signin', { body: signIn })).status).toBe(401)
  for (const filter of [
    'userName eq "TEST.user@okta.local"',
    'externalId eq "00ujl29u0le5T6Aj10h7" and active eq true',
  ])
    expect(namesIn(await scim('GET', `/Users${named(filter)}`))).toEqual(['test.user@okta.local'])
  expect(
    (await scim('GET', `/Users${named('externalId eq "00UJL29u0le5T6Aj10h7"')}`)).body.totalResults,
  ).toBe(0)
  const changed = await scim('PUT', `/Users/${id}`, {
    body: { userName: 'test.user@okta.local', active: true },
  })
  expect([changed.status, changed.body.emails, changed.body.externalId]).toEqual([200, [], undefined])
  const off = await scim('PATCH', `/Users/${id}`, {
    body: patch({ op: 'replace', value: { active: false } }),
  })
  expect([off.status, off.body.active]).toEqual([200, false])
  expect((await scim('DELETE', `/Users/${id}`)).status).toBe(204)
  expect((await scim('GET', `/Users/${id}`)).status).toBe(404)
  expect((await scim('DELETE', `/Users/${id}`)).status).toBe(404)
  expect((await scim('POST', '/Users', { body: { userName: 'test.user@okta.local' } })).status).toBe(201)
})

test('users are found by parts of their names and addresses, whatever the case, and by what they do not have', async () => {
  const body = (name: string, more: JsonObject) => ({ body: { userName: `Filter.${name}`, ...more } })
  const made = [
    body('Anna', { emails: [{ value: 'Anna@Corp.example' }], name: { familyName: 'Müller' } }),
    body('Hanna', { emails: [{ value: 'hanna@corp.example.org' }], externalId: 'h_1%' }),
    body('Otto', { name: { familyName: 'Obermüller' } }),
  ]
  for (const one of made) expect((await scim('POST', '/Users', one)).status).toBe(201)
  const found = async (filter: string) =>
    namesIn(await scim('GET', `/Users${named(`userName sw "filter." and (${filter})`)}`)).map((name) =>
      name.slice('Filter.'.length),
    )
  for (const [filter, names] of [
    ['userName co "ANNA"', ['Anna', 'Hanna']],
    ['userName sw "filter.a"', ['Anna']],
    ['userName ew "anna"', ['Anna', 'Hanna']],
    ['userName ew ""', ['Anna', 'Hanna', 'Otto']],
    ['userName ne "filter.OTTO"', ['Anna', 'Hanna']],
    ['emails.value ew "@corp.EXAMPLE"', ['Anna']],
    ['emails pr', ['Anna', 'Hanna']],
    ['not (emails pr)', ['Otto']],
    ['not (emails co "corp" and externalId pr)', ['Anna', 'Otto']],
    ['name.familyName co "MÜLL"', ['Anna', 'Otto']],
    ['name.familyName sw "mü"', ['Anna']],
    ['name.familyName pr and not (name.familyName eq "müller")', ['Otto']],
    // Nothing in a text is a sign of a pattern.
    ['externalId ew "_1%"', ['Hanna']],
    ['userName co "%" or userName co "_" or externalId sw "%"', []],
  ] as const)
    expect([filter, (await found(filter)).toSorted()]).toEqual([filter, names])
  const groups = await scim(
    'GET',
    `/Groups${named('displayName sw "group" and not (displayName co "group")')}`,
  )
  expect([groups.status, groups.body.totalResults]).toEqual([200, 0])
  for (const filter of ['active co "t"', 'meta.created sw "2026"', 'id ew "0"'])
    expect((await scim('GET', `/Users${named(filter)}`)).body.scimType).toBe('invalidFilter')
})

test('Entra: a deactivated user has no session and no key, and cannot sign in', async () => {
  const id = await fixture.addUser('leaver', [])
  const token = await fixture.tokenOf('leaver')
  const ownKey = await newKey(id, [])
  const me = (sent: string) =>
    fixture.send('GET', '/users/me', { headers: { authorization: `Bearer ${sent}` } })
  expect([(await me(token)).status, (await me(ownKey)).status]).toEqual([200, 200])
  const off = await scim('PATCH', `/Users/${id}`, {
    body: patch({ op: 'Replace', path: 'active', value: 'False' }),
  })
  expect([off.status, off.body.active]).toEqual([200, false])
  expect([(await me(token)).status, (await me(ownKey)).status]).toEqual([401, 401])
  const body = { username: 'leaver', password: userPassword }
  expect((await fixture.send('POST', '/auth/signin', { body })).status).toBe(401)
  const on = await scim('PATCH', `/Users/${id}`, {
    body: patch({ op: 'Replace', path: 'active', value: 'True' }),
  })
  expect(on.body.active).toBe(true)
  expect((await me(token)).status).toBe(401)
})

test('two users cannot have one externalId', async () => {
  await newUser({ externalId: 'e-1' })
  const { id } = await newUser()
  const body = patch({ op: 'add', path: 'externalId', value: 'e-1' })
  const reply = await scim('PATCH', `/Users/${id}`, { body })
  expect([reply.status, reply.body.scimType]).toEqual([409, 'uniqueness'])
})

test('versions: a change of another version is refused, and nothing changes', async () => {
  const { id } = await newUser()
  const before = await scim('GET', `/Users/${id}`)
  const version = String(before.headers.etag)
  expect(version).toBe(isJsonObject(before.body.meta) && before.body.meta.version)
  expect((await scim('GET', `/Users/${id}`, { headers: { 'if-none-match': version } })).status).toBe(304)
  const body = patch({ op: 'add', path: 'name.givenName', value: 'Ada' })
  const change = (tag: string) => scim('PATCH', `/Users/${id}`, { body, headers: { 'if-match': tag } })
  const refused = await change('W/"other"')
  expect([refused.status, refused.body.status]).toEqual([412, '412'])
  const remove = await scim('DELETE', `/Users/${id}`, { headers: { 'if-match': '"other"' } })
  expect(remove.status).toBe(412)
  expect((await scim('GET', `/Users/${id}`)).headers.etag).toBe(version)
  expect((await change(version.replace('W/', ''))).status).toBe(200)
  expect((await change(version)).status).toBe(412)
  expect((await change('*')).status).toBe(200)
})

test('lists come in pages, by index and by cursor, with the attributes that are asked for', async () => {
  for (let at = 0; at < 5; at++) await newUser({ name: { familyName: 'Paged' } })
  const filter = named('name.familyName eq "Paged"')
  const first = await scim('GET', `/Users${filter}&startIndex=-3&count=2`)
  expect(first.body).toMatchObject({ totalResults: 5, startIndex: 1, itemsPerPage: 2 })
  const last = await scim('GET', `/Users${filter}&startIndex=5&count=2&attributes=userName`)
  expect(last.body).toMatchObject({ totalResults: 5, startIndex: 5, itemsPerPage: 1 })
  expect([last.body.Resources].flat().map((one) => Object.keys(isJsonObject(one) ? one : {}))).toEqual([
    ['schemas', 'id', 'userName'],
  ])
  expect((await scim('GET', `/Users${filter}&count=0`)).body).toMatchObject({
    totalResults: 5,
    Resources: [],
  })
  const seen: string[] = []
  for (let cursor: JsonValue | undefined = ''; cursor !== undefined; ) {
    const page: Reply = await scim(
      'GET',
      `/Users${filter}&count=2&cursor=${encodeURIComponent(String(cursor))}`,
    )
    seen.push(...namesIn(page))
    cursor = page.body.nextCursor
  }
  expect([seen.length, new Set(seen).size]).toEqual([5, 5])
  for (const wrong of ['?startIndex=10002', '?count=many', '?cursor=x', named('userName like "a"')])
    expect([wrong, (await scim('GET', `/Users${wrong}`)).status]).toEqual([wrong, 400])
})

test('members come and go as Entra and Okta send it', async () => {
  const [ada, bob] = [await newUser(), await newUser()]
  const group = await newGroup([ada.id])
  const members = async () => {
    const { body } = await scim('GET', `/Groups/${group}`)
    return [body.members ?? []]
      .flat()
      .map((one) => textIn(one, 'value'))
      .toSorted()
  }
  expect(await members()).toEqual([ada.id])
  const user = await scim('GET', `/Users/${ada.id}`)
  expect(user.body.groups).toEqual([expect.objectContaining({ value: group, type: 'direct' })])
  const change = async (...operations: JsonValue[]) =>
    (await scim('PATCH', `/Groups/${group}`, { body: patch(...operations) })).status
  expect(await change({ op: 'Add', path: 'members', value: [{ $ref: null, value: bob.id }] })).toBe(204)
  expect(await members()).toEqual([ada.id, bob.id].toSorted())
  expect(await change({ op: 'remove', path: `members[value eq "${ada.id}"]` })).toBe(204)
  expect(await change({ op: 'remove', path: `members[value eq "${missingGuid}"]` })).toBe(204)
  expect(await members()).toEqual([bob.id])
  expect(await change({ op: 'replace', path: 'members', value: [{ value: ada.id }] })).toBe(204)
  expect(await members()).toEqual([ada.id])
  expect(
    await change(
      { op: 'add', path: 'members', value: [{ value: bob.id }] },
      { op: 'Remove', path: 'members', value: [{ value: ada.id }] },
    ),
  ).toBe(204)
  expect(await members()).toEqual([bob.id])
  // All or nothing.
  expect(
    await change({ op: 'add', path: 'members', value: [{ value: ada.id }, { value: missingGuid }] }),
  ).toBe(400)
  expect(await members()).toEqual([bob.id])
  const without = await scim('GET', `/Groups/${group}?excludedAttributes=members`)
  expect(without.body).not.toHaveProperty('members')
  expect([(await scim('GET', '/Groups')).body.Resources].flat()[0]).not.toHaveProperty('members')
  expect((await scim('PUT', `/Groups/${group}`, { body: { displayName: `renamed ${count}` } })).status).toBe(
    200,
  )
  expect(await members()).toEqual([])
  const found = await scim('GET', `/Groups${named(`displayName eq "RENAMED ${count}"`)}`)
  expect(found.body.totalResults).toBe(1)
  expect(await change({ op: 'add', path: 'members', value: [{ value: ada.id }] })).toBe(204)
  expect((await scim('DELETE', `/Groups/${group}`)).status).toBe(204)
  expect((await scim('GET', `/Users/${ada.id}`)).body.groups).toEqual([])
})

test('members of a group are shown a page at a time', async () => {
  const people = [await newUser(), await newUser(), await newUser()]
  const group = await newGroup(people.map(({ id }) => id))
  const { body } = await scim('GET', `/Groups/${group}?startIndex=3&count=2`)
  expect(body.members).toEqual([expect.objectContaining({ value: people[2]?.id })])
  expect(body['urn:quoin:params:scim:schemas:extension:members:2.0:Group']).toEqual({
    ...{ totalResults: 3, startIndex: 3, itemsPerPage: 1 },
  })
})

test('SCIM makes no administrator, changes none but to deactivate it, and no service account at all', async () => {
  const admins = await fixture.addUser('all-scopes', ['*'])
  const token = await newKey(admins, all)
  const second = await fixture.addUser('second-admin', ['*'])
  const program = await fixture.manage('POST', '/users', { username: 'program', is_service: true })
  const groups = await scim('GET', `/Groups${named('displayName eq "owner"')}`, { token })
  const ownerGroup = [groups.body.Resources].flat().map((one) => textIn(one, 'id'))[0] ?? ''
  const { id } = await newUser()
  const attempts: readonly (readonly ['PATCH' | 'PUT' | 'DELETE', string, JsonValue?])[] = [
    ['PATCH', `/Groups/${ownerGroup}`, patch({ op: 'add', path: 'members', value: [{ value: id }] })],
    ['PATCH', `/Groups/${ownerGroup}`, patch({ op: 'replace', path: 'displayName', value: 'x' })],
    ['DELETE', `/Groups/${ownerGroup}`],
    ['PATCH', `/Users/${second}`, patch({ op: 'replace', path: 'externalId', value: 'mine' })],
    [
      'PATCH',
      `/Users/${second}`,
      patch({ op: 'replace', path: 'emails', value: [{ value: 'mine@example.com' }] }),
    ],
    ['PUT', `/Users/${second}`, { userName: 'mine', active: false }],
    ['DELETE', `/Users/${second}`],
    ['PATCH', `/Users/${guidOf(program)}`, patch({ op: 'replace', path: 'externalId', value: 'mine' })],
    ['PATCH', `/Users/${admins}`, patch({ op: 'replace', path: 'active', value: false })],
  ]
  for (const [method, path, body] of attempts) {
    const reply = await scim(method, path, { token, ...(body !== undefined && { body }) })
    expect([path, reply.status]).toEqual([path, 403])
  }
  const setActive = (value: boolean) =>
    scim('PATCH', `/Users/${second}`, { token, body: patch({ op: 'replace', path: 'active', value }) })
  expect((await setActive(false)).body.active).toBe(false)
  expect((await setActive(true)).status).toBe(403)
})

test('users and groups with scopes that the owner of the key lacks are out of reach', async () => {
  const other = await fixture.addUser('accountant', ['books_write'])
  const colleague = await fixture.addUser('seller', ['orders_write'])
  const created = await fixture.manage('POST', '/_system/authentication-groups', {
    name: 'books',
    scopes: ['books_write'],
  })
  const books = isJsonObject(created) && isJsonObject(created._meta) ? textIn(created._meta, 'guid') : ''
  const allowed = await fixture.manage('POST', '/_system/authentication-groups', {
    name: 'orders',
    scopes: ['orders_write'],
  })
  const orders = isJsonObject(allowed) && isJsonObject(allowed._meta) ? textIn(allowed._meta, 'guid') : ''
  const add = { body: patch({ op: 'add', path: 'members', value: [{ value: colleague }] }) }
  const off = { body: patch({ op: 'replace', path: 'active', value: false }) }
  expect((await scim('PATCH', `/Groups/${books}`, add)).status).toBe(403)
  expect((await scim('PATCH', `/Users/${other}`, off)).status).toBe(403)
  expect((await scim('PATCH', `/Users/${owner}`, off)).status).toBe(403)
  expect((await scim('PATCH', `/Groups/${orders}`, add)).status).toBe(204)
  expect((await scim('PATCH', `/Users/${colleague}`, off)).status).toBe(200)
})

test('the worst messages are refused before they cost anything', async () => {
  const many = Array.from({ length: 100_000 }, () => ({ value: missingGuid }))
  const group = await newGroup()
  const send = (body: JsonValue) => scim('PATCH', `/Groups/${group}`, { body })
  expect((await send(patch({ op: 'add', path: 'members', value: many }))).status).toBe(413)
  expect((await send(patch({ op: 'add', path: 'members', value: many.slice(0, 1_001) }))).body.scimType).toBe(
    'tooMany',
  )
  const operations = many.slice(0, 1_001).map((member) => ({ op: 'add', path: 'members', value: [member] }))
  expect((await send(patch(...operations))).body.scimType).toBe('tooMany')
  const deep = `${'('.repeat(1_000)}id pr${')'.repeat(1_000)}`
  expect((await scim('GET', `/Users${named(deep)}`)).body.scimType).toBe('invalidFilter')
})

test('120 members come into a group with one request', async () => {
  const group = await newGroup()
  const ids: string[] = []
  for (let at = 0; at < 120; at++) ids.push((await newUser()).id)
  const body = patch({ op: 'add', path: 'members', value: ids.map((value) => ({ value })) })
  expect((await scim('PATCH', `/Groups/${group}`, { body })).status).toBe(204)
  expect((await scim('GET', `/Groups/${group}`)).body.members).toHaveLength(100)
})

test('a key with all scopes of SCIM reaches nothing else of users', async () => {
  const headers = { authorization: `Bearer ${key}` }
  for (const path of ['/users/search', '/_system/authentication-groups/search'])
    expect((await fixture.send('POST', path, { headers, body: {} })).status).toBe(403)
})

test('the audit log names who changed what, and the owner of the key as its author', async () => {
  const { id } = await newUser()
  const found = await fixture.manage('POST', '/_system/auditlogs', { filters: { guid: id } })
  expect([found].flat()).toEqual([
    expect.objectContaining({ user: expect.objectContaining({ username: 'provisioner' }) }),
  ])
})

test('a group of more users than a removal waits for is taken out of the list of each, also by a later look, and stays removed', async () => {
  const [left, other] = [await newGroup(), await newGroup()]
  const { database, access } = fixture.quoin
  const users = Array.from({ length: 1_005 }, (_, n) => {
    const name = `many-${n}@example.com`
    const about = { username: name, username_key: name, email_key: name, is_active: true, custom_scopes: [] }
    return { mutations: setFields({ ...about, groups: n % 2 === 0 ? [left] : [other, left] }) }
  })
  await transact(database, (session) => createAll(session, systemStorages.users, users))
  const members = (group: string) =>
    database.session().count(systemStorages.users, { kind: 'term', field: 'groups', value: group })
  const noted = () =>
    database.session().count(systemStorages.accessTurns, { kind: 'exists', field: 'removed_group' })
  expect((await scim('DELETE', `/Groups/${left}`)).status).toBe(204)
  expect([await members(left), await members(other), await noted()]).toEqual([5, 502, 1])
  expect((await scim('GET', `/Groups/${left}`)).status).toBe(404)
  await access.emptyRemovedGroups(() => true)
  expect(await members(left)).toBe(5)
  await access.emptyRemovedGroups(() => false)
  expect([await members(left), await members(other), await noted()]).toEqual([0, 502, 0])
})
