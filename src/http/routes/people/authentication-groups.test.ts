import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonAt, recordIn, recordsIn, textAt } from '../../../../test/json-at.ts'
import { type ManagementServer, openManagementServer } from '../../../../test/management-server.ts'
import type { JsonObject } from '../../../shared/json.ts'

const root = '/_system/authentication-groups'
const scopes = ['view', 'create', 'update', 'remove'].map((verb) => `authentication_groups_${verb}`)

let fixture: ManagementServer
beforeAll(async () => {
  fixture = await openManagementServer()
  await fixture.addUser('manager', [...scopes, 'editor'])
  await fixture.addUser('nobody', [])
})
afterAll(() => fixture.close())

const make = async (name: string, held: string[], as = 'admin') =>
  textAt((await fixture.send('POST', root, as, { name, scopes: held })).body, '_meta', 'guid')

describe('authentication groups', () => {
  it.each([
    ['POST', `${root}/search`, 'view'],
    ['POST', root, 'create'],
    ['GET', `${root}/none`, 'view'],
    ['PUT', `${root}/none`, 'update'],
    ['DELETE', `${root}/none`, 'remove'],
  ] as const)('%s %s needs a token and the scope to %s', async (method, path, verb) => {
    expect((await fixture.send(method, path, '')).status).toBe(401)
    const refused = await fixture.send(method, path, 'nobody')
    expect([refused.status, textAt(refused.body, 'message')]).toEqual([
      403,
      expect.stringContaining(`_${verb}`),
    ])
  })

  it.each([
    ['no name', {}, ['name']],
    ['an empty name', { name: '' }, ['name']],
    ['an invisible name', { name: 'a\u200b' }, ['name']],
    ['a scope with a space', { name: 'a', scopes: ['a b'] }, ['scopes']],
    ['*public', { name: 'a', scopes: ['*public'] }, ['scopes']],
    ['scopes twice', { name: 'a', scopes: [], permissions: [] }, ['permissions']],
    ['an unknown field', { name: 'a', password_hash: 'x' }, ['password_hash']],
  ])('a group with %s is refused', async (_what, body, fields) => {
    const reply = await fixture.send('POST', root, 'admin', body)
    expect([reply.status, jsonAt(reply.body, 'error'), jsonAt(reply.body, 'fields')]).toEqual([
      400,
      'INVALID_BODY',
      fields,
    ])
  })

  it.each([
    ['GET', undefined],
    ['PUT', { description: 'x' }],
    ['DELETE', undefined],
  ] as const)('%s of an unknown group is 404', async (method, body) => {
    expect((await fixture.send(method, `${root}/none`, 'admin', body)).status).toBe(404)
  })

  it('users cannot grant scopes that they do not hold to a group, or change a group that has one', async () => {
    const refused = await fixture.send('POST', root, 'manager', { name: 'mine', scopes: ['*'] })
    expect([refused.status, jsonAt(refused.body, 'error')]).toEqual([403, 'INSUFFICIENT_PERMISSIONS'])
    const mine = await make('mine', ['editor'], 'manager')
    expect((await fixture.send('PUT', `${root}/${mine}`, 'manager', { scopes: ['users_view'] })).status).toBe(
      403,
    )
    const strong = await make('strong', ['users_view'])
    for (const [method, body] of [
      ['PUT', { is_active: false }],
      ['PUT', { name: 'weak' }],
      ['DELETE', undefined],
    ] as const)
      expect((await fixture.send(method, `${root}/${strong}`, 'manager', body)).status).toBe(403)
    expect((await fixture.send('GET', `${root}/${strong}`, 'manager')).body).toMatchObject({
      name: 'strong',
      scopes: ['users_view'],
      is_active: true,
    })
  })

  it('a name is taken in any case, and free again when its group is gone', async () => {
    const guid = await make('Sales', [])
    expect((await fixture.send('POST', root, 'admin', { name: 'SALES' })).status).toBe(409)
    const other = await make('Buying', [])
    expect((await fixture.send('PUT', `${root}/${other}`, 'admin', { name: 'sales' })).status).toBe(409)
    expect((await fixture.send('PUT', `${root}/${guid}`, 'admin', { name: 'SALES' })).status).toBe(200)
    await fixture.send('DELETE', `${root}/${guid}`, 'admin')
    expect((await fixture.send('POST', root, 'admin', { name: 'Sales' })).status).toBe(200)
  })

  it('its users hold its scopes until it is changed, inactive or removed', async () => {
    const made = await fixture.send('POST', root, 'admin', { name: 'viewers', permissions: ['users_view'] })
    expect(made.body).toMatchObject({ scopes: ['users_view'], description: '', is_active: true })
    const guid = textAt(made.body, '_meta', 'guid')
    const user = await fixture.addUser('viewer', [], [guid])
    const status = async () => (await fixture.send('POST', '/users/search', 'viewer')).status
    expect(await status()).toBe(200)
    await fixture.send('PUT', `${root}/${guid}`, 'admin', { is_active: false })
    expect(await status()).toBe(403)
    // A record that was fetched can be sent back whole.
    const { body } = await fixture.send('GET', `${root}/${guid}`, 'admin')
    await fixture.send('PUT', `${root}/${guid}`, 'admin', { ...recordIn(body), is_active: true })
    expect(await status()).toBe(200)
    const removed = await fixture.send('DELETE', `${root}/${guid}`, 'admin')
    expect([removed.status, removed.body]).toEqual([200, { guid, removed: true }])
    expect(await status()).toBe(403)
    expect(jsonAt((await fixture.send('GET', `/users/${user}`, 'admin')).body, 'groups')).toEqual([])
  })

  it('the last administrators cannot lose * with their group', async () => {
    const everything = await make('everything', ['*'])
    await fixture.addUser('boss', [], [everything])
    const admin = textAt((await fixture.send('GET', '/users/me', 'admin')).body, '_meta', 'guid')
    expect((await fixture.send('PUT', `/users/${admin}`, 'boss', { custom_scopes: [] })).status).toBe(200)
    for (const [method, body] of [
      ['PUT', { scopes: [] }],
      ['PUT', { is_active: false }],
      ['DELETE', undefined],
    ] as const)
      expect(jsonAt((await fixture.send(method, `${root}/${everything}`, 'boss', body)).body, 'error')).toBe(
        'CONFLICT',
      )
    expect((await fixture.send('PUT', `/users/${admin}`, 'boss', { custom_scopes: ['*'] })).status).toBe(200)
    expect((await fixture.send('DELETE', `${root}/${everything}`, 'boss')).status).toBe(200)
  })

  it('are searched by text and filters', async () => {
    await make('Night shift', ['night'])
    const names = async (body: JsonObject) =>
      recordsIn((await fixture.send('POST', `${root}/search`, 'admin', body)).body).map(({ name }) => name)
    expect(await names({ query: 'night' })).toEqual(['Night shift'])
    expect(await names({ filters: { scopes: 'night' } })).toEqual(['Night shift'])
    expect(
      (await fixture.send('POST', `${root}/search`, 'admin', { filters: { name_key: 'x' } })).status,
    ).toBe(400)
  })
})
