import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestAccess, outcome, type TestAccess } from '../../../test/open-test-access.ts'
import type { JsonObject } from '../../shared/json.ts'
import { guidOf } from '../../storage/document-fields.ts'
import type { KeyInput } from './api-keys.ts'

let fixture: TestAccess
let ada: string
beforeEach(async () => {
  fixture = await openTestAccess()
  ada = await fixture.user({ custom_scopes: ['read', 'write'] })
})
afterEach(() => fixture.close())

const now = () => Math.floor(fixture.clock.now / 1000)
const make = (input: KeyInput = {}, owner = ada, by = fixture.admin) =>
  fixture.access.keys.create(owner, { name: 'erp', scopes: ['read'], ...input }, by)
const scopesOf = async (secret: string) => {
  const identity = await fixture.access.identify(secret)
  return identity && [...identity.scopes].toSorted()
}

describe('a key is refused', () => {
  test.each([
    ['an empty name', { name: '' }, 'INVALID_BODY'],
    ['an invisible name', { name: 'a\u200b' }, 'INVALID_BODY'],
    ['a long name', { name: 'a'.repeat(101) }, 'INVALID_BODY'],
    ['a scope with a space', { scopes: ['a b'] }, 'INVALID_BODY'],
    ['a bad endpoint', { endpoints: ['tasks'] }, 'INVALID_BODY'],
    ['51 endpoints', { endpoints: Array.from({ length: 51 }, (_, at) => `/${at}`) }, 'INVALID_BODY'],
    ['an expiry in the past', { expiry: 1 }, 'INVALID_BODY'],
    ['a scope that its owner lacks', { scopes: ['read', 'users_view'] }, 'INSUFFICIENT_PERMISSIONS'],
  ])('with %s', async (_, input, code) => {
    expect(await outcome(make(input))).toBe(code)
    expect(await fixture.records('_api_keys')).toEqual([])
  })

  test('for an unknown user, under a name that the user has, and beyond 100', async () => {
    expect(await outcome(make({}, 'nothing'))).toBe('NOT_FOUND')
    expect(await outcome(fixture.access.keys.list('nothing'))).toBe('NOT_FOUND')
    await make()
    expect(await outcome(make({ name: 'ERP' }))).toBe('CONFLICT')
    await make({}, fixture.admin.guid)
    for (let at = 1; at < 100; at++) await make({ name: `k${at}` })
    expect(await outcome(make({ name: 'one more' }))).toBe('CONFLICT')
  })

  test('by a user who lacks a scope of its owner, and by any API key', async () => {
    const eve = await fixture.user({ username: 'eve', custom_scopes: ['read', 'users_update'] })
    const identity = await fixture.identity('eve')
    expect(await outcome(make({}, ada, identity))).toBe('INSUFFICIENT_PERMISSIONS')
    const { secret, record } = await make({ name: 'own', scopes: ['*'] }, eve, identity)
    const key = await fixture.access.identify(secret)
    if (!key) throw new Error('The key has no identity.')
    const { keys } = fixture.access
    for (const attempt of [
      make({ name: 'child' }, eve, key),
      keys.update(eve, guidOf(record), { scopes: ['*'] }, key),
      keys.rotate(eve, guidOf(record), { overlap: 0 }, key),
      keys.remove(eve, guidOf(record), key),
      fixture.access.createUser({ username: 'new', password: 'correct horse battery' }, key),
      fixture.access.updateUser(eve, { custom_scopes: ['read'] }, key),
      fixture.access.updateUser(eve, { password: 'another long password' }, key, { currentPassword: true }),
      fixture.access.createGroup({ name: 'g', scopes: ['read'] }, key),
      fixture.access.updateGroup('none', { scopes: ['read'] }, key),
    ])
      expect(await outcome(attempt)).toBe('INSUFFICIENT_PERMISSIONS')
    expect(await fixture.access.identify(secret)).toBeDefined()
  })
})

describe('a key stands for its owner', () => {
  test('with the scopes that both hold, at every moment', async () => {
    const { secret } = await make({ scopes: ['read', 'write'] })
    const { secret: all } = await make({ name: 'all', scopes: ['*'] })
    const { secret: none } = await make({ name: 'none', scopes: [] })
    expect(await fixture.access.identify(secret)).toMatchObject({
      guid: ada,
      username: 'ada',
      key: { name: 'erp' },
    })
    expect(await scopesOf(secret)).toEqual(['read', 'write'])
    expect(await scopesOf(none)).toEqual([])
    await fixture.access.updateUser(ada, { custom_scopes: ['write', 'more'] }, fixture.admin)
    expect(await scopesOf(secret)).toEqual(['write'])
    expect(await scopesOf(all)).toEqual(['more', 'write'])
    await fixture.access.updateUser(ada, { custom_scopes: ['*'] }, fixture.admin)
    expect(await scopesOf(secret)).toEqual(['read', 'write'])
  })

  test('not while the owner is inactive, and never after it was removed', async () => {
    const { secret } = await make()
    await fixture.access.identify(secret)
    await fixture.access.updateUser(ada, { is_active: false }, fixture.admin)
    expect(await fixture.access.identify(secret)).toBeUndefined()
    await fixture.access.updateUser(ada, { is_active: true }, fixture.admin)
    expect(await fixture.access.identify(secret)).toBeDefined()
    await fixture.access.removeUser(ada, fixture.admin)
    expect(await fixture.access.identify(secret)).toBeUndefined()
    expect(await fixture.records('_api_keys')).toEqual([])
    expect(await fixture.records('_api_key_uses')).toEqual([])
  })

  test('until it expires, to the second, also where it is known', async () => {
    const { secret, record } = await make({ expiry: now() + 100 })
    fixture.pass(99)
    expect(await fixture.access.identify(secret)).toBeDefined()
    fixture.pass(1)
    expect(await fixture.access.identify(secret)).toBeUndefined()
    await fixture.access.keys.update(ada, guidOf(record), { expiry: 0 }, fixture.admin)
    fixture.pass(86_400 * 1000)
    expect(await fixture.access.identify(secret)).toBeDefined()
  })

  test('with its new name, scopes and endpoints, on every node at once', async () => {
    const other = await fixture.otherNode()
    const { secret, record } = await make()
    expect(await scopesOf(secret)).toEqual(['read'])
    const changes = { name: 'shop', scopes: ['write'], endpoints: ['GET /api/v1/tasks'] }
    await fixture.access.keys.update(ada, guidOf(record), changes, fixture.admin)
    expect(await scopesOf(secret)).toEqual(['write'])
    expect([...((await other.identify(secret))?.scopes ?? [])]).toEqual(['write'])
    expect((await fixture.access.keys.list(ada))[0]).toMatchObject(changes)
    const more = fixture.access.keys.update(
      ada,
      guidOf(record),
      { scopes: ['write', 'delete'] },
      fixture.admin,
    )
    expect(await outcome(more)).toBe('INSUFFICIENT_PERMISSIONS')
    expect(await scopesOf(secret)).toEqual(['write'])
  })

  test('until it is removed, on every node at once', async () => {
    const other = await fixture.otherNode()
    const { secret, record } = await make()
    expect(await other.identify(secret)).toBeDefined()
    await fixture.access.keys.remove(ada, guidOf(record), fixture.admin)
    expect(await other.identify(secret)).toBeUndefined()
    expect(await outcome(fixture.access.keys.remove(ada, guidOf(record), fixture.admin))).toBe('NOT_FOUND')
  })
})

describe('rotation', () => {
  test('keeps the secret of before for the overlap, and no longer', async () => {
    const { secret: first, record } = await make()
    const guid = guidOf(record)
    const rotated = await fixture.access.keys.rotate(ada, guid, { overlap: 100 }, fixture.admin)
    expect(rotated.record).toMatchObject({ name: 'erp', scopes: ['read'], previous_until: now() + 100 })
    expect(rotated.record.hint).not.toBe(record.hint)
    fixture.pass(99)
    expect(await scopesOf(first)).toEqual(['read'])
    expect(await scopesOf(rotated.secret)).toEqual(['read'])
    fixture.pass(1)
    expect(await scopesOf(first)).toBeUndefined()
    expect(await scopesOf(rotated.secret)).toEqual(['read'])
  })

  test('ends the secret before the last one, and with no overlap the last one too', async () => {
    const { secret: first, record } = await make()
    const guid = guidOf(record)
    const second = await fixture.access.keys.rotate(ada, guid, { overlap: 1000 }, fixture.admin)
    const third = await fixture.access.keys.rotate(ada, guid, { overlap: 1000 }, fixture.admin)
    expect(await scopesOf(first)).toBeUndefined()
    expect(await scopesOf(second.secret)).toEqual(['read'])
    const fourth = await fixture.access.keys.rotate(
      ada,
      guid,
      { overlap: 0, expiry: now() + 50 },
      fixture.admin,
    )
    for (const ended of [second, third]) expect(await scopesOf(ended.secret)).toBeUndefined()
    expect(await scopesOf(fourth.secret)).toEqual(['read'])
    expect(fourth.record).toMatchObject({ previous_until: 0, expiry: now() + 50 })
    expect(await outcome(fixture.access.keys.rotate(ada, guid, { overlap: 7_776_001 }, fixture.admin))).toBe(
      'INVALID_BODY',
    )
    expect(
      await outcome(fixture.access.keys.rotate(fixture.admin.guid, guid, { overlap: 0 }, fixture.admin)),
    ).toBe('NOT_FOUND')
  })
})

test('the last use is written once a minute, without forgetting identities', async () => {
  const { secret, record } = await make()
  const token = await fixture.token('admin')
  await fixture.access.identify(token)
  const used = async () => (await fixture.access.keys.list(ada))[0]?.last_used
  expect(await used()).toBe(0)
  const start = now()
  for (let second = 0; second < 125; second += 5) {
    await fixture.access.identify(secret)
    fixture.pass(5)
  }
  expect(await used()).toBe(start + 120)
  expect(await fixture.records('_api_key_uses')).toHaveLength(1)
  const version = fixture.database.capabilities.changes.version('_api_keys')
  fixture.pass(60)
  await fixture.access.identify(secret)
  expect(fixture.database.capabilities.changes.version('_api_keys')).toBe(version)
  // Behind a clock that was set back the time of the last use would stand still.
  fixture.pass(-5_000)
  const back = now()
  const node = await fixture.otherNode()
  await node.identify(secret)
  expect(await used()).toBe(back)
  await fixture.access.keys.remove(ada, guidOf(record), fixture.admin)
  expect(await fixture.records('_api_key_uses')).toEqual([])
})

test('no secret is stored, listed or audited', async () => {
  const { secret, record } = await make()
  const rotated = await fixture.access.keys.rotate(ada, guidOf(record), { overlap: 100 }, fixture.admin)
  const reported = await fixture.access.keys.list(ada)
  const seen: readonly JsonObject[] = [
    ...reported,
    ...(await fixture.records('_api_keys')),
    record,
    rotated.record,
  ]
  for (const text of [secret, rotated.secret]) expect(JSON.stringify(seen)).not.toContain(text.slice(8))
  expect(JSON.stringify([...reported, record, rotated.record])).not.toContain('key_hash')
})
