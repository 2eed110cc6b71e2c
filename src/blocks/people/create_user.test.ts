import { afterAll, beforeAll, expect, test } from 'vitest'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import type { JsonObject } from '../../shared/json.ts'

let quoin: TestQuoin
let blueprint: string
const password = 'a password that is long'

beforeAll(async () => {
  quoin = await openTestQuoin()
  blueprint = await quoin.install('Accounts', {
    ask: { type: 'on_startup_register_uri_post', in: { uri: 'accounts' }, scopes: ['*public'] },
    create: {
      type: 'create_user',
      in: {
        flow: '@ask.flow',
        ...{ username: '=body.username', password: '=body.password', email: '=body.email' },
      },
    },
    created: { type: 'reply', in: { flow: '@create.flow', code: 201, value: '@create.user' } },
  })
})
afterAll(() => quoin.close())

const create = (body: JsonObject) => quoin.send('POST', '/accounts', { body })
const users = async () =>
  objectsOf(await quoin.manage('POST', '/users/search', {})).map(({ username }) => username)

test.each<[string, JsonObject, number]>([
  ['no name', { username: '' }, 400],
  ['a short password', { password: 'short' }, 400],
  ['a common password', { password: 'password123' }, 400],
  ['an address that is none', { email: 'eve' }, 400],
  ['a name that is taken', { username: 'Admin' }, 409],
])('%s is refused, and no user is stored', async (_what, wrong, status) => {
  const answer = await create({ username: 'eve', password, ...wrong })
  expect(answer.status, answer.text).toBe(status)
  expect(await users()).toEqual(['admin'])
})

test('the user signs in and holds nothing; the audit log names the record, and no reply has the password', async () => {
  const answer = await create({ username: 'ann', password, email: 'ann@example.com', custom_scopes: ['*'] })
  expect(answer).toMatchObject({ status: 201, body: { username: 'ann', custom_scopes: [], groups: [] } })
  expect(answer.text).not.toMatch(/password/)
  const signedIn = await quoin.send('POST', '/auth/signin', {
    body: { username: 'ann@example.com', password },
  })
  expect(signedIn.status).toBe(200)
  const log = objectsOf(await quoin.manage('POST', '/_system/auditlogs', { limit: 100 }))
  expect(log.map((one) => JSON.stringify(one)).filter((one) => one.includes('ann'))).not.toEqual([])
})

test('only a user who holds users_create may deploy it', async () => {
  const rights = ['blueprints_view', 'blueprints_update', 'blueprintactions_view']
  await quoin.addUser('few', rights)
  await quoin.addUser('enough', [...rights, 'users_create'])
  const deploy = (as: string) => quoin.send('POST', `/blueprints/deploy/${blueprint}`, { as })
  const refused = await deploy('few')
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('users_create')])
  expect(objectOf((await deploy('enough')).body).active).toBe(true)
})
