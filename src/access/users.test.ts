import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { TestAccess } from '../../test/open-test-access.ts'
import { IP, openTestAccess, outcome, PASSWORD } from '../../test/open-test-access.ts'
import type { JsonObject } from '../shared/json.ts'
import { search } from '../shared/query.ts'
import { guidOf } from '../storage/document-fields.ts'
import { transact } from '../storage/transact.ts'
import type { Identity } from './identity-cache.ts'

const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057'
let fixture: TestAccess
beforeEach(async () => {
  fixture = await openTestAccess()
})
afterEach(() => fixture.close())

const create = (fields: JsonObject, by: Identity = fixture.admin) =>
  fixture.access.createUser({ username: 'new', password: PASSWORD, ...fields }, by)
const update = (guid: string, changes: JsonObject, by: Identity = fixture.admin) =>
  fixture.access.updateUser(guid, changes, by)
const signIn = (username: string, password = PASSWORD) =>
  outcome(fixture.access.signIn({ username, password, ip: IP }))

describe('a name that is taken', () => {
  test.each([
    ['the name', { username: 'ada' }],
    ['in another case', { username: 'ADA' }],
    ['in another form', { username: 'ａｄａ' }],
    ['the address', { email: 'Ada@Example.com' }],
    ['an address as a name', { username: 'ada@example.com' }],
  ])('%s is refused; nothing changes', async (_name, fields) => {
    await fixture.user({ email: 'ada@example.com' })
    const other = await fixture.user({ username: 'bob' })
    const before = await fixture.records('_users')
    await expect(create(fields)).rejects.toMatchObject({ code: 'CONFLICT', message: /taken/ })
    await expect(update(other, fields)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await fixture.records('_users')).toEqual(before)
  })

  test('a name as an address is refused', async () => {
    await fixture.user({ username: 'ada@example.com' })
    expect(await outcome(create({ email: 'ada@example.com' }))).toBe('CONFLICT')
  })

  test('is free for its owner, for users without an address, and after its owner is removed', async () => {
    const guid = await fixture.user({ email: 'ada@example.com' })
    expect(await outcome(update(guid, { username: 'ADA', email: 'ADA@example.com' }))).toBe('OK')
    expect(await outcome(update(guid, { username: 'ada@example.com' }))).toBe('OK')
    expect(await outcome(create({ username: 'bob' }))).toBe('OK')
    expect(await outcome(create({ username: 'cas', email: '' }))).toBe('OK')
    await fixture.access.removeUser(guid, fixture.admin)
    expect(await outcome(create({ username: 'ada', email: 'ada@example.com' }))).toBe('OK')
  })

  test('goes to one of many who want it at once, on two nodes', async () => {
    const other = await fixture.otherNode()
    const ends = await Promise.all(
      [fixture.access, other, fixture.access, other].map((node) =>
        outcome(node.createUser({ username: 'wanted', password: PASSWORD }, fixture.admin)),
      ),
    )
    expect(ends.toSorted()).toEqual(['CONFLICT', 'CONFLICT', 'CONFLICT', 'OK'])
  })

  test('goes to one of two who want it at once, as a name and as an address', async () => {
    const [ada, bob] = [await fixture.user(), await fixture.user({ username: 'bob' })]
    const node = await fixture.otherNode()
    const created = await Promise.all([
      outcome(create({ username: 'c@example.com' })),
      outcome(node.createUser({ username: 'c', email: 'c@example.com', password: PASSWORD }, fixture.admin)),
    ])
    const updated = await Promise.all([
      outcome(update(ada, { username: 'd@example.com' })),
      outcome(node.updateUser(bob, { email: 'd@example.com' }, fixture.admin)),
    ])
    expect([created.toSorted(), updated.toSorted()]).toEqual([
      ['CONFLICT', 'OK'],
      ['CONFLICT', 'OK'],
    ])
  })
})

describe('not found', () => {
  test.each([UNKNOWN, 'nonsense', ''])('%j', async (guid) => {
    expect(await fixture.access.getUser(guid)).toBeUndefined()
    expect(await outcome(update(guid, {}))).toBe('NOT_FOUND')
    expect(await outcome(fixture.access.removeUser(guid, fixture.admin))).toBe('NOT_FOUND')
    expect(await outcome(fixture.access.resetLoginAttempts(guid, fixture.admin))).toBe('NOT_FOUND')
  })
})

describe('what the caller does not hold', () => {
  let helper: Identity
  let strong: string
  let weak: string
  let readers: string
  beforeEach(async () => {
    strong = await fixture.group({ name: 'strong', scopes: ['*'], is_active: false })
    weak = await fixture.group({ name: 'weak', scopes: ['tasks_view', 'users_update'] })
    readers = await fixture.group({ name: 'readers', scopes: ['tasks_view'] })
    await fixture.user({ username: 'helper', custom_scopes: ['users_update'], groups: [readers] })
    helper = await fixture.identity('helper')
  })

  test.each<[string, () => JsonObject]>([
    ['everything', () => ({ custom_scopes: ['*'] })],
    ['one scope', () => ({ custom_scopes: ['users_update', 'users_remove'] })],
    ['a group, though it sleeps', () => ({ groups: [strong] })],
  ])('cannot be granted: %s', async (_name, grants) => {
    const guid = await fixture.user({ username: 'target' })
    const before = await fixture.records('_users')
    expect(await outcome(create(grants(), helper))).toBe('INSUFFICIENT_PERMISSIONS')
    expect(await outcome(update(guid, grants(), helper))).toBe('INSUFFICIENT_PERMISSIONS')
    expect(await outcome(update(helper.guid, grants(), helper))).toBe('INSUFFICIENT_PERMISSIONS')
    expect(await fixture.records('_users')).toEqual(before)
  })

  test.each<[string, () => JsonObject]>([
    ['everything', () => ({ custom_scopes: ['*'] })],
    ['one scope more', () => ({ custom_scopes: ['users_update', 'users_remove'] })],
    ['a sleeping group', () => ({ groups: [strong] })],
  ])('protects who has %s', async (_name, grants) => {
    const guid = await fixture.user({ username: 'target', ...grants() })
    const token = await fixture.token('target')
    const before = await fixture.records('_users')
    for (const changes of [{ password: 'another password' }, { active: false }, { email: 'x@y.nl' }, {}])
      expect(await outcome(update(guid, changes, helper))).toBe('INSUFFICIENT_PERMISSIONS')
    expect(await outcome(fixture.access.removeUser(guid, helper))).toBe('INSUFFICIENT_PERMISSIONS')
    expect(await outcome(fixture.access.resetLoginAttempts(guid, helper))).toBe('INSUFFICIENT_PERMISSIONS')
    expect(await fixture.records('_users')).toEqual(before)
    expect(await fixture.access.identify(token)).toBeDefined()
  })

  test('what it does hold can be granted and changed', async () => {
    const fields = { custom_scopes: ['users_update', 'tasks_view'], groups: [weak, readers] }
    const made = await create(fields, helper)
    expect(made).toMatchObject(fields)
    const guid = (await fixture.identity('new')).guid
    expect(await outcome(update(guid, { password: 'another password' }, helper))).toBe('OK')
    expect(await outcome(fixture.access.removeUser(guid, helper))).toBe('OK')
  })

  test('users change themselves, keep what they have and may give it away', async () => {
    await update(helper.guid, { custom_scopes: ['users_update', 'kept'], groups: [readers, strong] })
    expect(await outcome(update(helper.guid, { firstname: 'H', groups: [readers, strong] }, helper))).toBe(
      'OK',
    )
    const changed = await update(helper.guid, { custom_scopes: [], groups: [] }, helper)
    expect(changed).toMatchObject({ firstname: 'H', custom_scopes: [], groups: [] })
  })

  test('a group that does not exist is refused, unless the user had it before', async () => {
    await expect(create({ groups: [UNKNOWN] })).rejects.toMatchObject({
      code: 'INVALID_BODY',
      fields: ['groups'],
    })
    const guid = await fixture.user({ groups: [readers] })
    await transact(fixture.database, (session) => session.delete('_groups', readers))
    expect(await outcome(update(guid, { groups: [readers] }))).toBe('OK')
  })
})

describe('the last administrator', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['removed', () => fixture.access.removeUser(fixture.admin.guid, fixture.admin)],
    ['deactivated', () => update(fixture.admin.guid, { is_active: false })],
    ['stripped', () => update(fixture.admin.guid, { custom_scopes: ['users_update'] })],
  ])('cannot be %s, and keeps the token', async (_name, change) => {
    await fixture.user({ username: 'idle', custom_scopes: ['*'], is_active: false })
    await fixture.user({
      username: 'sleeper',
      groups: [await fixture.group({ scopes: ['*'], is_active: false })],
    })
    const gone = await fixture.user({ username: 'gone', custom_scopes: ['*'] })
    await fixture.access.removeUser(gone, fixture.admin)
    const token = await fixture.token('admin')
    const before = await fixture.records('_users')
    expect(await outcome(change())).toBe('CONFLICT')
    expect(await fixture.records('_users')).toEqual(before)
    expect(await fixture.access.identify(token)).toMatchObject({ username: 'admin' })
    expect(await signIn('admin')).toBe('OK')
  })

  test.each<[string, () => Promise<JsonObject>]>([
    ['directly', async () => ({ custom_scopes: ['*'] })],
    ['through a group', async () => ({ groups: [await fixture.group({ scopes: ['a', '*'] })] })],
  ])('may go once another user holds * %s', async (_name, grants) => {
    await fixture.user({ username: 'heir', ...(await grants()) })
    expect(await outcome(update(fixture.admin.guid, { custom_scopes: [] }))).toBe('OK')
    expect(await outcome(fixture.access.removeUser(fixture.admin.guid, fixture.admin))).toBe('OK')
    const heir = await fixture.identity('heir')
    expect(await outcome(fixture.access.removeUser(heir.guid, heir))).toBe('CONFLICT')
  })

  test('one of two stays when each removes the other at once', async () => {
    const guid = await fixture.user({ username: 'heir', custom_scopes: ['*'] })
    const [heir, node] = [await fixture.identity('heir'), await fixture.otherNode()]
    const ends = await Promise.all([
      outcome(fixture.access.removeUser(guid, fixture.admin)),
      outcome(node.removeUser(fixture.admin.guid, heir)),
    ])
    expect(ends.toSorted()).toEqual(['CONFLICT', 'OK'])
    expect((await fixture.access.searchUsers(search())).total).toBe(1)
  })

  test('may change everything else', async () => {
    const changes = { firstname: 'A', password: 'another password', custom_scopes: ['*', 'x'] }
    // Its own password only after the current one was asked for.
    expect(await outcome(update(fixture.admin.guid, changes))).toBe('INVALID_BODY')
    const asked = { currentPassword: true } as const
    const changed = fixture.access.updateUser(fixture.admin.guid, changes, fixture.admin, asked)
    expect(await outcome(changed)).toBe('OK')
    expect(await signIn('admin', 'another password')).toBe('OK')
  })
})

describe('signed out', () => {
  test.each<[string, JsonObject, boolean]>([
    ['a new password', { password: 'another password' }, true],
    ['deactivation', { active: false }, true],
    ['another name', { username: 'eve', first_name: 'Eve' }, false],
    ['activation', { active: true }, false],
  ])('by %s: of that user only', async (_name, changes, out) => {
    const guid = await fixture.user()
    const [one, two, other] = [
      await fixture.token('ada'),
      await fixture.token('ada'),
      await fixture.token('admin'),
    ]
    await update(guid, changes)
    for (const token of [one, two]) expect((await fixture.access.identify(token)) === undefined).toBe(out)
    expect(await fixture.access.identify(other)).toBeDefined()
  })

  test('by removal; the password is gone from the record', async () => {
    const guid = await fixture.user()
    const token = await fixture.token('ada')
    const removed = await fixture.access.removeUser(guid, fixture.admin)
    expect(removed).toMatchObject({ username: 'ada', _meta: { guid, removed: fixture.clock.now / 1000 } })
    expect(await fixture.access.identify(token)).toBeUndefined()
    expect(await fixture.access.getUser(guid)).toBeUndefined()
    const kept = (await fixture.records('_users')).find(({ username }) => username === 'ada')
    expect(kept).toBeDefined()
    expect(kept).not.toHaveProperty('password_hash')
  })
})

test('a new user, as it is given back, found and changed', async () => {
  const made = await create({ username: 'Ada', email: 'Ada@example.com', first_name: 'Ada' })
  const record = {
    _meta: expect.objectContaining({ guid: expect.any(String), removed: 0 }),
    username: 'Ada',
    email: 'Ada@example.com',
    firstname: 'Ada',
    lastname: '',
    timezone: 'UTC',
    language: 'en',
    settings: [],
    custom_scopes: [],
    groups: [],
    is_active: true,
    login_attempts: 0,
    locked_until: 0,
    last_activity: 0,
  }
  expect(made).toEqual(record)
  const guid = (await fixture.identity('ada')).guid
  const current = await fixture.access.getUser(guid)
  expect(current).toEqual({ ...record, last_activity: fixture.clock.now / 1000 })
  expect(await update(guid, {})).toEqual(current)
  const changed = await update(guid, { ...current, email: null, settings: [{ key: 'theme', value: 'dark' }] })
  expect(changed).toMatchObject({
    email: null,
    settings: [{ key: 'theme', value: 'dark' }],
    firstname: 'Ada',
  })
  expect(await signIn('ada@example.com')).toBe('INVALID_CREDENTIALS')
})

test('what is refused is not stored', async () => {
  const before = await fixture.records('_users')
  expect(await outcome(fixture.access.createUser({ username: 'x' }, fixture.admin))).toBe('INVALID_BODY')
  expect(await outcome(create({ password: 'too short' }))).toBe('INVALID_BODY')
  expect(await outcome(create({ password_hash: 'x' }))).toBe('INVALID_BODY')
  expect(await fixture.records('_users')).toEqual(before)
})

describe('a service account', () => {
  const service = (fields: JsonObject = {}) =>
    fixture.access.createUser(
      { username: 'deployer', is_service: true, custom_scopes: ['read'], ...fields },
      fixture.admin,
    )

  test.each([
    ['with a password', { password: PASSWORD }],
    ['with a hash', { password_hash: `$2b$10$${'a'.repeat(53)}` }],
    ['with an address', { email: 'deployer@example.com' }],
    ['that is one in words', { is_service: 'yes' }],
  ])('%s is refused, and not stored', async (_, fields) => {
    const before = await fixture.records('_users')
    expect(await outcome(service(fields))).toBe('INVALID_BODY')
    expect(await fixture.records('_users')).toEqual(before)
  })

  test('gets nothing that signs in, and a person does not become one', async () => {
    const guid = guidOf(await service())
    const ada = await fixture.user()
    const before = await fixture.records('_users')
    for (const changes of [{ password: PASSWORD }, { email: 'deployer@example.com' }, { is_service: false }])
      expect(await outcome(update(guid, changes))).toBe('INVALID_BODY')
    expect(await outcome(update(ada, { is_service: true }))).toBe('INVALID_BODY')
    const links = { publicUrl: 'https://example.com', siteName: 'Club', signUp: undefined }
    const other = await fixture.otherNode({ links })
    await expect(other.links.inviteAgain(guid, fixture.admin)).rejects.toMatchObject({
      ...{ code: 'CONFLICT', message: 'A service account sets no password.' },
    })
    expect(await fixture.records('_users')).toEqual(before)
    expect(await signIn('deployer')).toBe('INVALID_CREDENTIALS')
  })

  test('gets no session, whatever its record holds', async () => {
    const guid = guidOf(await service())
    const users = await fixture.records('_users')
    const admin = users.find(({ username }) => username === 'admin')
    await fixture.set('_users', guid, { password_hash: admin?.password_hash ?? null })
    const sessions = await fixture.records('_tokens')
    expect(await signIn('deployer')).toBe('INVALID_CREDENTIALS')
    expect(await fixture.records('_tokens')).toEqual(sessions)
  })

  test('is not the administrator who stays', async () => {
    await service({ custom_scopes: ['*'] })
    expect(await outcome(update(fixture.admin.guid, { is_active: false }))).toBe('CONFLICT')
    expect(await fixture.access.countUnprotected()).toBe(1)
  })

  test('is found, changed, and used by its keys until one is taken back or it is not active', async () => {
    const guid = guidOf(await service())
    const { keys } = fixture.access
    const { records } = await fixture.access.searchUsers(
      search({ query: { kind: 'term', field: 'is_service', value: true } }),
    )
    expect(records).toEqual([expect.objectContaining({ username: 'deployer', is_service: true })])
    expect(await outcome(update(guid, { ...records[0], firstname: 'CI' }))).toBe('OK')
    const [first, second] = [
      await keys.create(guid, { name: 'one', scopes: ['*'] }, fixture.admin),
      await keys.create(guid, { name: 'two', scopes: ['*'] }, fixture.admin),
    ]
    expect((await fixture.access.identify(first.secret))?.scopes).toEqual(new Set(['read']))
    await keys.remove(guid, guidOf(first.record), fixture.admin)
    expect(await fixture.access.identify(first.secret)).toBeUndefined()
    expect(await fixture.access.identify(second.secret)).toBeDefined()
    await update(guid, { is_active: false })
    expect(await fixture.access.identify(second.secret)).toBeUndefined()
  })
})
