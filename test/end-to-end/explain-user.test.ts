/** What a user may do, and who may do one thing, and why: the answers are held against what happens when users try it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { textsIn } from '../../src/storage/document-fields.ts'
import { type Answer, guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const get = (uri: string, scopes: readonly string[]) => ({
  type: 'on_startup_register_uri_get',
  in: { uri },
  scopes: [...scopes],
})
const reply = (flow: string) => ({ type: 'httpconnection_set_json', in: { flow, value: 'here' } })

const blocks = {
  open: get('open', ['*public']),
  open_reply: reply('@open.flow'),
  signed: get('signed', ['*loggedin']),
  signed_reply: reply('@signed.flow'),
  sales: get('sales', ['sales', 'boss']),
  sales_reply: reply('@sales.flow'),
  boss: get('boss', ['boss']),
  boss_reply: reply('@boss.flow'),
}

let quoin: TestQuoin
const guids: Record<string, string> = {}

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  const group = guidOf(
    await quoin.manage('POST', '/_system/authentication-groups', { name: 'Sales', scopes: ['sales'] }),
  )
  for (const [name, scopes] of [
    ['ann', []],
    ['bob', ['boss', 'users_view']],
    ['keeper', ['storages_rules', 'users_view', 'blueprints_view', 'storages_view']],
    ['gone', ['sales']],
  ] as const)
    guids[name] = await quoin.addUser(name, scopes)
  await quoin.manage('PUT', `/users/${guids.ann}`, { groups: [group] })
  await quoin.manage('POST', '/_system/storages', { name: 'free' })
  const deals = guidOf(await quoin.manage('POST', '/_system/storages', { name: 'deals' }))
  await quoin.manage('PUT', `/_system/storages/${deals}`, {
    rules: { see: 'doc.owner == user.guid', create: 'contains(user.scopes, "boss")' },
  })
  await quoin.install('Doors', blocks)
})
afterAll(() => quoin.close())

const explain = (who: string, as: string, body: JsonObject = {}): Promise<Answer> =>
  quoin.send('POST', `/users/${guids[who]}/explain`, { as, body })

test('only for those who view users, and never more than they may view', async () => {
  expect((await quoin.send('POST', `/users/${guids.ann}/explain`)).status).toBe(401)
  expect((await explain('ann', 'ann')).status).toBe(403)
  expect((await explain('ann', 'bob')).body).toMatchObject({
    endpoints: [],
    storages: [],
    total: { endpoints: 0, storages: 0 },
  })
  expect((await quoin.send('POST', '/users/none/explain', { as: 'admin', body: {} })).status).toBe(404)
  for (const wrong of [{ offset: -1 }, { contains: 5 }, { other: 1 }])
    expect((await explain('ann', 'admin', wrong)).status).toBe(400)
})

test.each(['ann', 'bob', 'keeper'])('what it says of %s is what happens', async (who) => {
  const { body } = await explain(who, 'admin')
  const doors = objectsOf(objectOf(body).endpoints)
  expect(doors.length).toBe(4)
  for (const { uri, allowed } of doors) {
    const { status } = await quoin.send('GET', String(uri).replace('/api/v1', ''), { as: who })
    expect({ uri, status }).toEqual({ uri, status: allowed === true ? 200 : 404 })
  }
})

test('it names groups, scopes that are missing, and rules', async () => {
  const { body } = await explain('ann', 'keeper')
  expect(body).toMatchObject({
    groups: [{ name: 'Sales', is_active: true }],
    scopes: [{ scope: 'sales', from: ['the group Sales'] }],
    management: [],
    total: { endpoints: 4, storages: 2 },
  })
  const { endpoints, storages } = objectOf(body)
  expect(objectsOf(endpoints).map(({ uri, because }) => [uri, because])).toEqual(
    expect.arrayContaining([
      ['/api/v1/open', 'It is public.'],
      ['/api/v1/signed', 'It is open to each signed-in user.'],
      ['/api/v1/sales', 'sales from the group Sales.'],
      ['/api/v1/boss', 'The user holds none of boss.'],
    ]),
  )
  expect(objectsOf(storages)).toEqual([
    expect.objectContaining({
      name: 'deals',
      see: 'where doc.owner == user.guid',
      create: 'none',
      change: 'all',
    }),
    expect.objectContaining({ name: 'free', see: 'all', create: 'all', change: 'all', remove: 'all' }),
  ])
  const keeper = objectOf((await explain('keeper', 'admin')).body)
  expect(objectsOf(keeper.storages)[0]).toMatchObject({ name: 'deals', see: 'all', create: 'all' })
  expect(textsIn(keeper.management)).toContain('users_view')
  expect(objectsOf(keeper.scopes)).toContainEqual(
    expect.objectContaining({ scope: 'storages_rules', meaning: expect.stringContaining('not bound') }),
  )
})

test('a user who is not active may enter what is public, and nothing else', async () => {
  await quoin.manage('PUT', `/users/${guids.gone}`, { is_active: false })
  const { endpoints } = objectOf((await explain('gone', 'admin')).body)
  expect(
    objectsOf(endpoints)
      .filter(({ allowed }) => allowed === true)
      .map(({ uri }) => uri),
  ).toEqual(['/api/v1/open'])
})

test('contains and offset find among many', async () => {
  const found = objectOf((await explain('ann', 'admin', { contains: 'BOSS' })).body)
  expect(objectsOf(found.endpoints).map(({ uri }) => uri)).toEqual(['/api/v1/boss'])
  expect(found.total).toEqual({ endpoints: 1, storages: 0 })
  const rest = objectOf((await explain('ann', 'admin', { offset: 3 })).body)
  expect(objectsOf(rest.endpoints)).toHaveLength(1)
})

const whoMay = (as: string, body: JsonObject): Promise<Answer> =>
  quoin.send('POST', '/users/explain', { as, body })
const everyone = ['admin', 'ann', 'bob', 'gone', 'keeper', 'robot', 'scoped']

describe('who may do this', () => {
  beforeAll(async () => {
    await quoin.manage('POST', '/users', { username: 'robot', is_service: true, custom_scopes: ['boss'] })
    await quoin.addUser('scoped', ['sales'])
    const asleep = objectOf(
      await quoin.manage('POST', '/_system/authentication-groups', { name: 'Asleep', scopes: ['boss'] }),
    )
    await quoin.manage('PUT', `/_system/authentication-groups/${guidOf(asleep)}`, { is_active: false })
    await quoin.manage('PUT', `/users/${guids.keeper}`, { groups: [guidOf(asleep)] })
  })

  test.each([
    ['a stranger', undefined, { scope: 'boss' }, 401],
    ['a user without users_view', 'ann', { scope: 'boss' }, 403],
    ['one without blueprints_view', 'bob', { endpoint: 'GET /api/v1/open' }, 403],
    ['one without blueprints_view, of what is not there', 'bob', { page: '/nowhere' }, 403],
    ['one without storages_view', 'bob', { storage: 'deals' }, 403],
    ['nothing named', 'admin', {}, 400],
    ['two things', 'admin', { scope: 'boss', storage: 'deals' }, 400],
    ['a far page', 'admin', { scope: 'boss', offset: 10_001 }, 400],
    ['an endpoint that is not there', 'admin', { endpoint: 'POST /api/v1/open' }, 404],
    ['an own storage', 'admin', { storage: '_users' }, 404],
  ])('%s is refused', async (_, as, body, status) => {
    const sent = as === undefined ? { body } : { as, body }
    expect((await quoin.send('POST', '/users/explain', sent)).status).toBe(status)
  })

  test.each(['open', 'signed', 'sales', 'boss'])(
    'what it says of %s is what happens to each user',
    async (uri) => {
      const reply = objectOf((await whoMay('admin', { endpoint: `GET /api/v1/${uri}` })).body)
      const allowed = objectsOf(reply.users).map(({ username }) => String(username))
      expect(reply.total).toBe(allowed.length)
      for (const who of everyone.filter((name) => !['robot', 'gone'].includes(name))) {
        const { status } = await quoin.send('GET', `/${uri}`, { as: who })
        expect({ uri, who, status }).toEqual({
          ...{ uri, who },
          status: reply.open_to === 'public' || allowed.includes(who) ? 200 : 404,
        })
      }
    },
  )

  test('it names the groups, and what each user has it from; who is not active may not', async () => {
    const sales = objectOf((await whoMay('keeper', { endpoint: 'GET /api/v1/sales' })).body)
    expect(sales).toMatchObject({
      ...{
        open_to: 'scopes',
        scopes: ['sales', 'boss'],
        groups: [{ name: 'Sales' }, { name: 'owner' }],
      },
    })
    expect(objectsOf(sales.users).map(({ username, because }) => [username, because])).toEqual([
      ['admin', '* from the user itself.'],
      ['ann', 'sales from the group Sales.'],
      ['bob', 'boss from the user itself.'],
      ['robot', 'boss from the user itself.'],
      ['scoped', 'sales from the user itself.'],
    ])
    const held = objectOf((await whoMay('bob', { scope: 'users_view' })).body)
    expect(objectsOf(held.users).map(({ username }) => username)).toEqual(['admin', 'bob', 'keeper'])
    const signed = objectOf((await whoMay('keeper', { endpoint: 'GET /api/v1/signed' })).body)
    expect(objectsOf(signed.users).map(({ username }) => username)).not.toContain('gone')
    const found = objectOf((await whoMay('admin', { scope: 'boss', contains: 'RO' })).body)
    expect(objectsOf(found.users)).toMatchObject([{ username: 'robot', is_service: true }])
    const rest = objectOf((await whoMay('admin', { endpoint: 'GET /api/v1/sales', offset: 4 })).body)
    expect([objectsOf(rest.users).length, rest.total]).toEqual([1, 5])
  })

  test('of a storage it says what its rules let each user do, as for the user alone', async () => {
    const reply = objectOf((await whoMay('keeper', { storage: 'deals' })).body)
    expect(reply.open_to).toBe('rules')
    for (const { username, guid, see, create, change, remove } of objectsOf(reply.users)) {
      const alone = objectOf(
        (await quoin.send('POST', `/users/${String(guid)}/explain`, { as: 'admin' })).body,
      )
      expect({ username, ...objectsOf(alone.storages)[0] }).toMatchObject({
        ...{ username, name: 'deals', see, create, change, remove },
      })
    }
    const creators = objectsOf(reply.users).filter(({ create }) => create !== 'none')
    expect(creators.map(({ username }) => username)).toEqual(['admin', 'bob', 'keeper', 'robot'])
    expect((await whoMay('keeper', { storage: 'free' })).body).toMatchObject({ open_to: 'signed_in' })
  })
})
