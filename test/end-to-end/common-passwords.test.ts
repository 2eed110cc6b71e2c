/** A password of the million that leaked most often is refused wherever one is set, and one that is stored keeps working. */
import { hash as bcrypt } from 'bcryptjs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MailServer, openMailServer } from '../mail-server.ts'
import { openVisitor } from '../page-visitor.ts'
import { eventually } from './example-fixture.ts'
import { objectOf, openTestQuoin, type TestQuoin, userPassword } from './harness.ts'

const LEAKED = 'Barcelona1'
const OTHER = 'the tram to Barcelona at one'
const SITE = 'https://club.example.com'
let mails: MailServer
let quoin: TestQuoin
let origin: string
beforeAll(async () => {
  mails = await openMailServer()
  quoin = await openTestQuoin({
    ...{ QUOIN_RATE_LIMIT: '0', QUOIN_PUBLIC_URL: SITE, QUOIN_MAIL_FROM: 'Club <club@example.com>' },
    ...{ QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`, QUOIN_SIGN_UP: 'members' },
  })
  origin = await quoin.quoin.server.listen()
  await quoin.manage('POST', '/_system/authentication-groups', { name: 'members', scopes: [] })
})
afterAll(async () => {
  await quoin?.close()
  await mails?.close()
})

let users = 0
const newName = () => `user-${++users}`
async function newUser() {
  const name = newName()
  const guid = await quoin.addUser(name, [])
  await quoin.manage('PUT', `/users/${guid}`, { email: `${name}@example.com` })
  return { name, guid }
}
/** The path of the link in the last mail to an address. */
async function linkTo(address: string): Promise<string> {
  const found = () => mails.taken.filter(({ to }) => to.includes(address))
  await eventually(() => found().length).toBe(1)
  const text = (found()[0]?.body ?? '').replace(/=\r\n/g, '').replaceAll('=3D', '=')
  return /\/password\/set\?link=ql_[A-Za-z0-9_-]{43}/.exec(text)?.[0] ?? ''
}
type Door = (password: string) => Promise<{ readonly status: number; readonly text: string }>
/** By the form of a link. */
const byLink =
  (path: string, language = 'en'): Door =>
  async (password) => {
    const visitor = openVisitor(origin)
    const headers = { 'accept-language': language }
    const page = await visitor.get(path, headers)
    return visitor.submit(page, 'choose', { new: password, repeat: password }, { headers })
  }
async function asked(path: string, form: string, email: string): Promise<string> {
  const visitor = openVisitor(origin)
  await visitor.submit(await visitor.get(path), form, { email })
  return linkTo(email)
}

const doors: readonly (readonly [string, string, () => Promise<Door>])[] = [
  [
    'a new user of the API',
    'common password',
    async () => (password) =>
      quoin.send('POST', '/users', { as: 'admin', body: { username: newName(), password } }),
  ],
  [
    'a user changed by an administrator',
    'common password',
    async () => {
      const { guid } = await newUser()
      return (password) => quoin.send('PUT', `/users/${guid}`, { as: 'admin', body: { password } })
    },
  ],
  [
    'a user who changes the own password',
    'common password',
    async () => {
      const { name: as } = await newUser()
      return (password) =>
        quoin.send('PUT', '/users/me', { as, body: { password, current_password: userPassword } })
    },
  ],
  [
    'a sign-up',
    'common password that attackers try first',
    async () => byLink(await asked('/login/new', 'signup', `${newName()}@example.com`)),
  ],
  [
    'a reset by mail, in German',
    'Dieses Passwort ist verbreitet',
    async () =>
      byLink(await asked('/password/forgot', 'forgot', `${(await newUser()).name}@example.com`), 'de'),
  ],
  [
    'an invitation',
    'common password that attackers try first',
    async () => {
      const email = `${newName()}@example.com`
      await quoin.manage('POST', '/users/invite', { email })
      return byLink(await linkTo(email))
    },
  ],
]

test.each(doors)('%s gets none, with the reason: %s', async (_name, reason, open) => {
  const door = await open()
  const refused = await door(LEAKED)
  expect([400, 422]).toContain(refused.status)
  expect(refused.text).toContain(reason)
  expect(refused.text).not.toContain(LEAKED)
  expect([200, 303]).toContain((await door(OTHER)).status)
})

test('a stored one keeps working, until its user sets another one', async () => {
  const username = newName()
  const password_hash = await bcrypt(LEAKED, 4)
  await quoin.manage('POST', '/users', { username, password_hash })
  const signIn = (password: string) => quoin.send('POST', '/auth/signin', { body: { username, password } })
  // The first sign-in stores a hash of Quoin in its place.
  for (let times = 0; times < 2; times++) expect((await signIn(LEAKED)).status).toBe(200)
  const headers = { authorization: `Bearer ${objectOf((await signIn(LEAKED)).body).access_token}` }
  const change = (password: string) =>
    quoin.send('PUT', '/users/me', { headers, body: { password, current_password: LEAKED } })
  expect((await change('Liverpool123')).body).toMatchObject({
    ...{ error: 'INVALID_BODY', fields: ['password'], details: { weak: 'common' } },
  })
  expect((await change(OTHER)).status).toBe(200)
})
