import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../../test/end-to-end/example-fixture.ts'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { type MailServer, openMailServer } from '../../../test/mail-server.ts'
import type { JsonObject } from '../../shared/json.ts'

let quoin: TestQuoin
let mails: MailServer
let blueprint: string
let group: string

beforeAll(async () => {
  mails = await openMailServer()
  quoin = await openTestQuoin({
    QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
    QUOIN_MAIL_FROM: 'Club <club@example.com>',
    QUOIN_PUBLIC_URL: 'https://club.example.com',
  })
  const made = await quoin.manage('POST', '/_system/authentication-groups', {
    name: 'members',
    scopes: ['read'],
  })
  group = String(objectOf(objectOf(made)._meta).guid)
  blueprint = await quoin.install('Invite', {
    ask: { type: 'on_startup_register_uri_post', in: { uri: 'invite' }, scopes: ['*public'] },
    invite: {
      type: 'invite_user',
      in: { flow: '@ask.flow', email: '=body.email', username: '=body.username', language: '=body.language' },
      fields: { groups: ['members'] },
    },
    answer: { type: 'reply', in: { flow: '@invite.flow', value: '@invite.user' } },
  })
})
afterAll(async () => {
  await quoin.close()
  await mails.close()
})

const invite = (body: JsonObject) => quoin.send('POST', '/invite', { body })

test.each<[string, JsonObject, number]>([
  ['no address', { email: '' }, 400],
  ['what is no address', { email: 'ann' }, 400],
  ['a name that is taken', { email: 'ann@example.com', username: 'Admin' }, 409],
  ['a language that is none', { email: 'ann@example.com', language: '!' }, 400],
])('%s is refused: no user, no mail', async (_what, body, status) => {
  const answer = await invite(body)
  expect(answer.status, answer.text).toBe(status)
  expect(objectsOf(await quoin.manage('POST', '/users/search', {}))).toHaveLength(1)
  expect(objectsOf(await quoin.manage('POST', '/queue/search', {}))).toEqual([])
})

test('the user is in the groups of the block and has no password; the mail has the link', async () => {
  const answer = await invite({ email: 'ann@example.com', language: 'de', custom_scopes: ['*'] })
  expect(answer.body).toMatchObject({
    ...{ username: 'ann@example.com', groups: [group], custom_scopes: [], invited_until: expect.any(Number) },
  })
  await eventually(() => mails.taken.length).toBe(1)
  expect(mails.taken[0]).toMatchObject({ to: ['ann@example.com'] })
  expect(mails.taken[0]?.body).toContain('Passwort setzen')
  const signIn = await quoin.send('POST', '/auth/signin', {
    body: { username: 'ann@example.com', password: '' },
  })
  expect(signIn.status).not.toBe(200)
})

test('a deployer needs users_create, users_update and each scope of the groups', async () => {
  const rights = ['blueprints_view', 'blueprints_update', 'blueprintactions_view']
  const needed = ['users_create', 'users_update', 'read']
  for (const missing of needed)
    await quoin.addUser(`no-${missing}`, [...rights, ...needed.filter((one) => one !== missing)])
  await quoin.addUser('enough', [...rights, ...needed])
  const deploy = (as: string) => quoin.send('POST', `/blueprints/deploy/${blueprint}`, { as })
  for (const missing of needed) {
    const refused = await deploy(`no-${missing}`)
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining(missing)])
  }
  expect((await deploy('enough')).status).toBe(200)
})
