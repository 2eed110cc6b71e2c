import { afterAll, beforeAll, expect, test } from 'vitest'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import type { JsonValue } from '../../shared/json.ts'
import { textsIn } from '../../storage/document-fields.ts'

let quoin: TestQuoin
let blueprint: string
const groups = new Map<string, string>()
const users = new Map<string, string>()

beforeAll(async () => {
  quoin = await openTestQuoin()
  for (const [name, scopes] of [
    ['basic', ['read']],
    ['paid', ['read', 'watch']],
    ['staff', ['manage']],
  ] as const)
    groups.set(
      name,
      guidOf(await quoin.manage('POST', '/_system/authentication-groups', { name, scopes: [...scopes] })),
    )
  for (const name of ['ann', 'bob', 'eve']) users.set(name, await quoin.addUser(name, []))
  blueprint = await quoin.install('Plans', {
    ask: { type: 'on_startup_register_uri_put', in: { uri: 'plans' }, scopes: ['*public'] },
    set: {
      type: 'set_groups',
      in: { flow: '@ask.flow', user: '=body.user', groups: '=body.groups' },
      fields: { among: ['basic', 'paid'] },
    },
    answer: { type: 'reply', in: { flow: '@set.flow', value: '@set.user' } },
  })
})
afterAll(() => quoin.close())

const guidOf = (record: JsonValue) => String(objectOf(objectOf(record)._meta).guid)
const set = (user: JsonValue, requested: JsonValue) =>
  quoin.send('PUT', '/plans', { body: { user, groups: requested } })
const held = async (name: string) => {
  const user = objectOf(await quoin.manage('GET', `/users/${users.get(name)}`))
  return [...groups].filter(([, guid]) => textsIn(user.groups).includes(guid)).map(([group]) => group)
}
const join = (name: string, ...names: string[]) =>
  quoin.manage('PUT', `/users/${users.get(name)}`, { groups: names.map((one) => groups.get(one) ?? '') })

test.each<[string, () => [JsonValue, JsonValue], number]>([
  ['a group that the block does not name', () => [users.get('ann') ?? '', ['staff']], 400],
  ['a group that there is not', () => [users.get('ann') ?? '', ['none']], 400],
  ['what is no name', () => [users.get('ann') ?? '', [5]], 400],
  ['no user', () => ['', ['basic']], 400],
  ['a user that there is not', () => ['0190e0ff-0000-7000-8000-000000000000', ['basic']], 404],
])('%s is refused, and nothing changes', async (_what, input, status) => {
  const answer = await set(...input())
  expect(answer.status, answer.text).toBe(status)
  expect(await held('ann')).toEqual([])
})

test('a user who holds another scope is not touched: neither an administrator nor a member of another group', async () => {
  await join('eve', 'staff', 'basic')
  const admin = guidOf(await quoin.manage('GET', '/users/me'))
  for (const user of [users.get('eve') ?? '', admin]) expect((await set(user, [])).status).toBe(403)
  expect(await held('eve')).toEqual(['basic', 'staff'])
})

test('groups of the block are given and taken, at once for the user’s scopes', async () => {
  const guid = users.get('ann') ?? ''
  const answer = await set(guid, ['paid'])
  expect(answer.status, answer.text).toBe(200)
  expect(answer.text).not.toMatch(/password/)
  expect(await held('ann')).toEqual(['paid'])
  const { _meta } = objectOf(await quoin.manage('GET', `/users/${guid}`))
  expect((await set({ _meta: _meta ?? null }, 'basic')).status).toBe(200)
  expect(await held('ann')).toEqual(['basic'])
  expect((await set(guid, [])).status).toBe(200)
  expect(await held('ann')).toEqual([])
  const log = objectsOf(await quoin.manage('POST', '/_system/auditlogs', { filters: { guid }, limit: 20 }))
  expect(log.filter(({ changes }) => JSON.stringify(changes).includes('groups'))).toHaveLength(3)
})

test('changes that come together leave one of the choices, and not both', async () => {
  const guid = users.get('bob') ?? ''
  const requested = ['basic', 'paid', 'basic', 'paid', 'basic', 'paid']
  const answers = await Promise.all(requested.map((name) => set(guid, [name])))
  expect(answers.map(({ status }) => status)).toEqual(requested.map(() => 200))
  expect(await held('bob')).toHaveLength(1)
})

test('a deployer needs users_update and each scope of the groups', async () => {
  const rights = ['blueprints_view', 'blueprints_update', 'blueprintactions_view']
  for (const [as, more] of [
    ['none', ['read', 'watch']],
    ['half', ['users_update', 'read']],
    ['enough', ['users_update', 'read', 'watch']],
  ] as const)
    await quoin.addUser(as, [...rights, ...more])
  const deploy = (as: string) => quoin.send('POST', `/blueprints/deploy/${blueprint}`, { as })
  const [none, half] = [await deploy('none'), await deploy('half')]
  expect([none.status, none.text]).toEqual([403, expect.stringContaining('users_update')])
  expect([half.status, half.text]).toEqual([403, expect.stringContaining('watch')])
  expect((await deploy('enough')).status).toBe(200)
})

test('a group that does not exist keeps the blueprint from being deployed', async () => {
  const made = quoin.install('Unknown', {
    ask: { type: 'on_startup_register_uri_put', in: { uri: 'unknown' }, scopes: ['*public'] },
    set: {
      type: 'set_groups',
      in: { flow: '@ask.flow', user: '=body.user', groups: '=body.groups' },
      fields: { among: ['nowhere'] },
    },
  })
  await expect(made).rejects.toThrow(/problem/)
})
