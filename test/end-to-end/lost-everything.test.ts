/** A user who has lost the phone, the security key, the recovery codes and the mailbox comes back with the help of an administrator. */
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CreationOptions } from '../../src/shared/api/people/passkeys.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { type MailServer, openMailServer, partOf } from '../mail-server.ts'
import { openVisitor } from '../page-visitor.ts'
import { softwareAuthenticator } from '../software-authenticator.ts'
import { eventually } from './example-fixture.ts'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin, userPassword } from './harness.ts'

const SITE = 'https://club.example.com'
const authenticator = softwareAuthenticator({ origin: SITE, host: 'club.example.com', counts: true })
let mails: MailServer
let quoin: TestQuoin
let origin: string
beforeAll(async () => {
  mails = await openMailServer()
  quoin = await openTestQuoin({
    ...{ QUOIN_RATE_LIMIT: '0', QUOIN_PUBLIC_URL: SITE, QUOIN_MAIL_FROM: 'Club <club@example.com>' },
    ...{ QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`, QUOIN_SECRETS_KEY: '0f'.repeat(32) },
  })
  origin = await quoin.quoin.server.listen()
})
afterAll(async () => {
  await quoin?.close()
  await mails?.close()
})

const mailsTo = (address: string) => mails.taken.filter(({ to }) => to.includes(address))
const plain = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value))

/** With an app, a passkey and an address. Gives what the user will lose. */
async function userWithAll(name: string) {
  const guid = await quoin.addUser(name, ['read_news'])
  await quoin.manage('PUT', `/users/${guid}`, { email: `${name}@lost.example` })
  const begun = objectOf((await quoin.send('POST', '/users/me/second-factor', { as: name })).body)
  const secret = new TOTP({ secret: String(begun.secret) }).secret
  const code = TOTP.generate({ secret, timestamp: quoin.now() })
  await quoin.send('PUT', '/users/me/second-factor', {
    as: name,
    body: { challenge: String(begun.challenge), code },
  })
  const options = await quoin.send('POST', '/users/me/passkeys/options', { as: name })
  const { passkey, sent } = authenticator.create(
    JSON.parse(JSON.stringify(options.body)) satisfies CreationOptions,
  )
  const body = { name: 'Key', passkey: plain(sent) }
  expect((await quoin.send('POST', '/users/me/passkeys', { as: name, body })).status).toBe(200)
  return { guid, passkey, session: await quoin.tokenOf(name) }
}

test('lost everything: an administrator resets the factors and the address, which leaves a trace and sends mails', async () => {
  const name = `ada-${Date.now()}`
  const { guid, passkey, session } = await userWithAll(name)
  const factors = `/users/${guid}/second-factor`
  const user = `/users/${guid}`
  const fresh = `${name}@new.example`

  // The last one may change users, but does not hold the scopes of this one.
  await quoin.addUser(`viewer-${name}`, ['users_view'])
  await quoin.addUser(`helper-${name}`, ['users_view', 'users_update'])
  for (const as of [name, `viewer-${name}`, `helper-${name}`]) {
    const sent = { as, body: { email: 'thief@evil.example' } }
    const reset = await quoin.send('DELETE', factors, { as })
    expect([as, reset.status, (await quoin.send('PUT', user, sent)).status]).toEqual([as, 403, 403])
  }
  expect(await quoin.manage('GET', factors)).toMatchObject({ passkeys: 1 })

  // While the former address is stored, the one who reads that mailbox hears of it.
  await quoin.manage('DELETE', factors)
  await eventually(() => mailsTo(`${name}@lost.example`).length).toBeGreaterThanOrEqual(2)
  const told = mailsTo(`${name}@lost.example`).map((mail) => partOf(mail, 'text/plain'))
  expect(told.some((text) => text?.includes('admin'))).toBe(true)
  await quoin.manage('PUT', user, { email: fresh })
  const headers = { authorization: `Bearer ${session}` }
  expect((await quoin.send('GET', '/users/me', { headers })).status).toBe(401)
  const begin = await quoin.send('POST', '/auth/passkey/options', { body: {} })
  const [cookie = ''] = String(begin.headers['set-cookie'] ?? '').split(';')
  const answer = plain(passkey.get({ challenge: String(objectOf(begin.body).challenge) }))
  const old = await quoin.send('POST', '/auth/passkey', { body: { passkey: answer }, headers: { cookie } })
  expect(old.status).toBe(401)

  // The user sets a new password by a link to the new address, signs in with it alone and adds a factor again.
  const visitor = openVisitor(origin)
  await visitor.submit(await visitor.get('/password/forgot'), 'forgot', { email: fresh })
  await eventually(() => mailsTo(fresh).length).toBe(1)
  const text = (mailsTo(fresh)[0]?.body ?? '').replace(/=\r\n/g, '').replaceAll('=3D', '=')
  const link = /\/password\/set\?link=ql_[A-Za-z0-9_-]{43}/.exec(text)?.[0] ?? ''
  const password = 'a new password of ada'
  const page = await visitor.get(link)
  expect((await visitor.submit(page, 'choose', { new: password, repeat: password })).status).toBe(303)
  const signIn = (typed: string) =>
    quoin.send('POST', '/auth/signin', { body: { username: name, password: typed } })
  expect((await signIn(userPassword)).status).toBe(401)
  const again = await signIn(password)
  expect(again.status).toBe(200)
  const bearer = { authorization: `Bearer ${objectOf(again.body).access_token}` }
  expect((await quoin.send('POST', '/users/me/second-factor', { headers: bearer })).status).toBe(200)

  const audits = objectsOf(
    await quoin.manage('POST', '/_system/auditlogs', { limit: 1_000, filters: { category: 'users' } }),
  )
  const trace = JSON.stringify(audits.filter((one) => JSON.stringify(one).includes(guid)))
  for (const part of ['second_factor', 'recovery_codes', fresh, `${name}@lost.example`, '"admin"'])
    expect(trace).toContain(part)
  const passkeys = await quoin.manage('POST', '/_system/auditlogs', {
    ...{ limit: 1_000, filters: { category: 'passkeys' } },
  })
  expect(JSON.stringify(passkeys)).toContain(guid)
})
