/** What a user may do, and why: the answer is held against what happens when the user tries it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
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
