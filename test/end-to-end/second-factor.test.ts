/** Second factors through the API and through pages, in a browser without JavaScript. */
import { hash } from 'node:crypto'
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { transact } from '../../src/storage/transact.ts'
import { readEvents } from '../event-reader.ts'
import { type MailServer, openMailServer, partOf } from '../mail-server.ts'
import { openVisitor, type SeenPage, type Visitor } from '../page-visitor.ts'
import { eventually } from './example-fixture.ts'
import { openTestQuoin, type TestQuoin, userPassword } from './harness.ts'

let mails: MailServer
let fixture: TestQuoin
let origin: string
beforeAll(async () => {
  mails = await openMailServer()
  fixture = await openTestQuoin({
    QUOIN_SECRETS_KEY: '0f'.repeat(32),
    QUOIN_RATE_LIMIT: '0',
    QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
    QUOIN_MAIL_FROM: 'Club <club@example.com>',
    QUOIN_PUBLIC_URL: 'https://club.example.com',
    QUOIN_SIGN_UP: 'members',
  })
  origin = await fixture.quoin.server.listen()
})
afterAll(async () => {
  await fixture?.close()
  await mails?.close()
})

const MINUTE = 60_000
let users = 0
/** A user of its own for each test, so that it can run again. */
async function newUser(): Promise<{ readonly name: string; readonly guid: string }> {
  const name = `user-${Date.now()}-${++users}`
  return { name, guid: await fixture.addUser(name, []) }
}
function codeOf(secret: string): string {
  return TOTP.generate({ secret: new TOTP({ secret }).secret, timestamp: fixture.now() })
}
function objectIn(body: JsonValue | undefined): JsonObject {
  if (!isJsonObject(body)) throw new Error(`This is no object: ${JSON.stringify(body)}`)
  return body
}
const signIn = (username: string) =>
  fixture.send('POST', '/auth/signin', { body: { username, password: userPassword } })

test('a user adds an app by the API, and signs in with its code', async () => {
  const { name } = await newUser()
  const begun = await fixture.send('POST', '/users/me/second-factor', { as: name })
  expect([begun.status, begun.headers['cache-control']]).toEqual([200, 'no-store'])
  const { challenge, secret } = objectIn(begun.body)
  const body = { challenge: String(challenge), code: codeOf(String(secret)) }
  const added = await fixture.send('PUT', '/users/me/second-factor', { as: name, body })
  expect(objectIn(added.body).recovery_codes).toHaveLength(10)
  fixture.advance(MINUTE)
  const asked = await signIn(name)
  expect([asked.status, asked.headers['cache-control'], objectIn(asked.body)]).toMatchObject([
    ...[401, 'no-store'],
    { error: 'SECOND_FACTOR_REQUIRED', details: { challenge: expect.stringMatching(/^qc_/) } },
  ])
  const details = objectIn(objectIn(asked.body).details)
  const finish = (code: string) =>
    fixture.send('POST', '/auth/second-factor', { body: { challenge: String(details.challenge), code } })
  expect((await finish('000000')).body).toMatchObject({ error: 'INVALID_CREDENTIALS' })
  const code = codeOf(String(secret))
  const done = await finish(code)
  expect([done.status, objectIn(done.body).recovery_codes]).toEqual([200, undefined])
  expect((await finish(code)).body).toMatchObject({ error: 'INVALID_CREDENTIALS' })
  const authorization = `Bearer ${objectIn(done.body).access_token}`
  const state = await fixture.send('GET', '/users/me/second-factor', { headers: { authorization } })
  expect(state.body).toMatchObject({ totp: true, recovery_codes: 10, locked_until: 0 })
})

test('a session older than five minutes changes no factor until it is confirmed', async () => {
  const { name } = await newUser()
  const { access_token } = objectIn((await signIn(name)).body)
  const headers = { authorization: `Bearer ${access_token}` }
  fixture.advance(6 * MINUTE)
  const begin = () => fixture.send('POST', '/users/me/second-factor', { headers })
  expect([(await begin()).status, (await begin()).body]).toMatchObject([
    403,
    { error: 'CONFIRMATION_REQUIRED' },
  ])
  const confirm = (password: string) => fixture.send('POST', '/auth/confirm', { headers, body: { password } })
  expect((await confirm('a wrong password')).body).toMatchObject({ fields: ['password'] })
  expect((await begin()).status).toBe(403)
  expect((await confirm(userPassword)).status).toBe(200)
  expect((await begin()).status).toBe(200)
})

test('an administrator resets the factor of a user, who gets a mail and signs in with the password', async () => {
  const { name, guid } = await newUser()
  await fixture.manage('PUT', `/users/${guid}`, { email: `${name}@example.com`, language: 'de' })
  const { challenge, secret } = objectIn(
    (await fixture.send('POST', '/users/me/second-factor', { as: name })).body,
  )
  const body = { challenge: String(challenge), code: codeOf(String(secret)) }
  await fixture.send('PUT', '/users/me/second-factor', { as: name, body })
  fixture.advance(MINUTE)
  const helper = await newUser()
  const path = `/users/${guid}/second-factor`
  expect((await fixture.send('DELETE', path, { as: helper.name })).status).toBe(403)
  expect(await fixture.manage('DELETE', path)).toMatchObject({ totp: false, recovery_codes: 0 })
  expect((await signIn(name)).status).toBe(200)
  const audits = await fixture.manage('POST', '/_system/auditlogs', {
    limit: 1_000,
    filters: { category: 'users' },
  })
  expect(JSON.stringify(audits)).toContain('second_factor')
  expect(JSON.stringify(audits)).not.toContain(String(secret))
  await eventually(() => mails.taken.filter(({ to }) => to.includes(`${name}@example.com`)).length).toBe(1)
  const mail = mails.taken.find(({ to }) => to.includes(`${name}@example.com`))
  expect(mail && partOf(mail, 'text/plain')).toContain(`admin hat den zweiten Faktor Ihres Kontos ${name}`)
})

/** The key that a page shows beside the QR code. */
function secretOn(page: SeenPage): string {
  const [, secret = ''] = /(?:Key|Schlüssel): ([A-Z2-7]+)/.exec(page.text) ?? []
  return secret
}

async function visitorWith(name: string, path = '/login'): Promise<[Visitor, SeenPage]> {
  const visitor = openVisitor(origin)
  const page = await visitor.get(path)
  return [visitor, await visitor.submit(page, 'signin', { username: name, password: userPassword })]
}

/** Adds an app on the page of a signed-in visitor. */
async function addOnPage(visitor: Visitor): Promise<{ secret: string; shown: SeenPage }> {
  const sent = await visitor.submit(await visitor.get('/password/app'), 'factor', { password: userPassword })
  const setup = await visitor.follow(sent)
  expect(setup.html).toContain('<svg')
  const secret = secretOn(setup)
  const wrong = await visitor.submit(setup, 'code', { code: '000000' })
  expect([wrong.status, secretOn(wrong)]).toEqual([422, secret])
  return { secret, shown: await visitor.submit(wrong, 'code', { code: codeOf(secret) }) }
}

test('an end user adds an app on a page and signs in with it where the page wanted to go', async () => {
  const { name } = await newUser()
  const [visitor, signedIn] = await visitorWith(name)
  expect(signedIn.headers.get('location')).toBe('/')
  const { secret, shown } = await addOnPage(visitor)
  expect(shown.text.match(/([a-z2-7]{4}-){3}[a-z2-7]{4}/g)).toHaveLength(10)
  expect(shown.headers.get('cache-control')).toContain('no-store')
  fixture.advance(MINUTE)
  const [again, asked] = await visitorWith(name, '/login?next=%2Fpassword%2Fapp')
  expect(again.cookie('access_token')).toBeUndefined()
  const page = await again.follow(asked)
  expect([page.status, page.text.includes(secret)]).toEqual([200, false])
  const wrong = await again.submit(page, 'code', { code: '000000' })
  expect([wrong.status, wrong.text.includes('The code is wrong')]).toEqual([422, true])
  const done = await again.submit(wrong, 'code', { code: codeOf(secret) })
  expect([done.status, done.headers.get('location')]).toEqual([303, '/password/app'])
  expect((await again.follow(done)).text).toContain('Recovery codes left: 10')
})

test('the challenge of one browser takes no code in another, and the page says that it has expired', async () => {
  const { name } = await newUser()
  const [visitor] = await visitorWith(name)
  const { secret } = await addOnPage(visitor)
  fixture.advance(MINUTE)
  const [, asked] = await visitorWith(name)
  const other = openVisitor(origin)
  expect((await other.follow(asked)).text).toContain('This sign-in has expired')
  const forged = await other.post('/login/code', { _form: 'code', code: codeOf(secret) })
  expect(other.cookie('access_token')).toBeUndefined()
  expect(forged.status).not.toBe(303)
})

test('a user removes the app with the password and a code, in German too', async () => {
  const { name } = await newUser()
  const [visitor] = await visitorWith(name)
  const { secret } = await addOnPage(visitor)
  fixture.advance(MINUTE)
  const german = { 'accept-language': 'de' }
  const page = await visitor.get('/password/app', german)
  expect(page.text).toContain('Übrige Wiederherstellungscodes: 10')
  const remove = (values: Record<string, string>) =>
    visitor.submit(page, 'factor', { action: 'remove', password: userPassword, ...values })
  expect((await remove({ code: '000000' })).status).toBe(422)
  expect((await remove({ code: codeOf(secret), password: 'a wrong password' })).status).toBe(422)
  const done = await remove({ code: codeOf(secret) })
  expect(done.headers.get('location')).toBe('/password/app')
  expect((await visitorWith(name))[1].headers.get('location')).toBe('/')
})

test('who has no password adds and removes an app in a new session, and signs in again for an older one', async () => {
  const { name, guid } = await newUser()
  const [visitor] = await visitorWith(name)
  // As users have it who came by a provider or set up a passkey alone.
  await transact(fixture.quoin.database, (session) =>
    session.update('_users', guid, [{ op: 'remove', field: 'password_hash' }]),
  )
  const page = await visitor.get('/password/app')
  expect(page.html).not.toContain('type="password"')
  fixture.advance(6 * MINUTE)
  expect((await visitor.submit(page, 'factor', {})).status).toBe(409)
  const old = await visitor.get('/password/app')
  expect(old.html).toContain('href="/login?next=%2Fpassword%2Fapp"')
  expect(old.html).not.toContain('name="action"')
  fixture.advance(-6 * MINUTE)
  const setup = await visitor.follow(await visitor.submit(page, 'factor', {}))
  await visitor.submit(setup, 'code', { code: codeOf(secretOn(setup)) })
  const removed = await visitor.submit(await visitor.get('/password/app'), 'factor', { action: 'remove' })
  expect([removed.status, removed.headers.get('location')]).toEqual([303, '/password/app'])
})

test('a group that requires a factor lets its user set one up while signing in', async () => {
  const { name, guid } = await newUser()
  const group = objectIn(
    await fixture.manage('POST', '/_system/authentication-groups', {
      name: `Staff of ${name}`,
      second_factor_days: 0,
    }),
  )
  expect(group.second_factor_days).toBe(0)
  await fixture.manage('PUT', `/users/${guid}`, { groups: [String(objectIn(group._meta).guid)] })
  const [visitor, asked] = await visitorWith(name)
  const setup = await visitor.follow(asked)
  const shown = await visitor.submit(setup, 'code', { code: codeOf(secretOn(setup)) })
  expect(shown.text).toContain('Your recovery codes')
  expect((await visitor.get('/password/app')).text).toContain('Recovery codes left: 10')
})

const doorBlocks: JsonObject = {
  ask: { type: 'on_startup_register_uri_get', in: { uri: 'doors' }, scopes: ['*loggedin'] },
  answer: { type: 'httpconnection_set_json', in: { flow: '@ask.flow', value: 'open', code: 200 } },
  listen: { type: 'on_startup_register_uri_get', in: { uri: 'doors/live' }, scopes: ['*loggedin'] },
  subscribe: {
    type: 'subscribe',
    in: { flow: '@listen.flow', channel: 'doors', first: 'begun', minutes: 1 },
  },
}

test('a factor that a group begins to require ends sessions at every door, open streams included, and no API key', async () => {
  await fixture.install('doors', doorBlocks)
  const { name, guid } = await newUser()
  const group = objectIn(
    await fixture.manage('POST', '/_system/authentication-groups', { name: `Doors of ${name}` }),
  )
  const { guid: groupGuid } = objectIn(group._meta)
  await fixture.manage('PUT', `/users/${guid}`, { groups: [String(groupGuid)] })
  const token = String(objectIn((await signIn(name)).body).access_token)
  const authorization = `Bearer ${token}`
  const made = await fixture.send('POST', '/users/me/keys', {
    headers: { authorization },
    body: { name: 'CI', scopes: [] },
  })
  const key = `Bearer ${objectIn(made.body).key}`
  const { access } = fixture.quoin
  const by = await access.identify(token)
  if (!by) throw new Error('The user is signed in.')
  const verifier = 'v'.repeat(43)
  const code = await access.handovers.toProgram(by, hash('sha256', verifier, 'base64url'))
  const program = await access.handovers.signInProgram(code, verifier, { ip: '127.0.0.1' })
  const asking = async (path: string, headers: Record<string, string>) =>
    (await fetch(`${origin}${path}`, { redirect: 'manual', headers })).status
  const doors = async () => ({
    api: await asking('/api/v1/users/me', { authorization }),
    endpoint: await asking('/api/v1/doors', { authorization }),
    page: await asking('/password', { cookie: `access_token=${token}` }),
    program: await asking('/api/v1/users/me', { authorization: `Bearer ${program.access_token}` }),
    key: await asking('/api/v1/doors', { authorization: key }),
  })
  expect(await doors()).toEqual({ api: 200, endpoint: 200, page: 200, program: 200, key: 200 })
  const stream = await readEvents(`${origin}/api/v1/doors/live`, { authorization })
  expect(await stream.data()).toBe('begun')
  await fixture.manage('PUT', `/_system/authentication-groups/${groupGuid}`, { second_factor_days: 0 })
  expect(await doors()).toEqual({ api: 401, endpoint: 404, page: 303, program: 401, key: 200 })
  for (let event = await stream.next(); event; event = await stream.next())
    expect(event.data).not.toContain('begun')
  const [visitor, asked] = await visitorWith(name)
  const setup = await visitor.follow(asked)
  await visitor.submit(setup, 'code', { code: codeOf(secretOn(setup)) })
  expect((await visitor.get('/password')).status).toBe(200)
  // What was there before began without a factor.
  expect(await doors()).toMatchObject({ api: 401, page: 303, program: 401, key: 200 })
})

const anonymous = [
  ['/login', 200],
  ['/login/new', 200],
  ['/login/code', 200],
  ['/password/forgot', 200],
  ['/password/set?link=none', 404],
  ['/no/such/page', 404],
] as const
const signedIn = [
  ['/password', 200],
  ['/password/app', 200],
  ['/password/passkeys', 200],
  ['/logout', 200],
  ['/_oauth/authorize?client_id=none', 400],
] as const

test('the template sign-in brands each page that comes with Quoin in both languages, without its JavaScript', async () => {
  await fixture.manage('POST', '/_system/authentication-groups', { name: 'members', scopes: [] })
  const words = {
    en: {
      'signin.title': 'Ashdown staff',
      'choose.gone': 'This <b>link</b> is over',
      'code.submit': 'On we go',
    },
    de: {
      'signin.title': 'Mitarbeiter',
      'choose.gone': 'Der Link ist vorbei',
      'code.submit': 'Weiter geht es',
    },
  }
  const brand = { label: 'Ashdown & Sons', logo: '/static/ashdown.svg' }
  const content = JSON.stringify({ brand, words, tokens: { accent: '#7a1f5c' }, language: 'fr' })
  const plain = await openVisitor(origin).get('/login')
  expect(plain.html).not.toContain('Ashdown')
  const template = await fixture.manage('POST', '/blueprinttemplates', {
    ...{ name: 'Sign-in', content, css: '.sheet { border: 0; }', js: 'window.branded = true' },
  })
  expect(template).not.toHaveProperty('problems')
  const look = (page: SeenPage, language: string) => {
    expect(page.html, page.url).toMatch(new RegExp(`<html lang="${language}"`))
    expect(page.html, page.url).toMatch(/class="brand".*src="\/static\/ashdown\.svg".*Ashdown &amp; Sons/)
    expect(page.html, page.url).toMatch(/\/_pages\/templates\/[\w-]+\.[\w-]+\.css/)
    expect(page.html, page.url).not.toMatch(/\/_pages\/templates\/[\w-]+\.[\w-]+\.js/)
  }
  for (const language of ['en', 'de'] as const) {
    const said = words[language]
    const visitor = openVisitor(origin)
    const asking = { 'accept-language': language }
    for (const [path, status] of anonymous) {
      const page = await visitor.get(path, asking)
      expect([page.url, page.status]).toEqual([page.url, status])
      look(page, language)
    }
    expect((await visitor.get('/login', asking)).text).toContain(said['signin.title'])
    expect((await visitor.get('/password/set?link=none', asking)).html).toContain(
      said['choose.gone'].replaceAll('<', '&lt;'),
    )
    const { name, guid } = await newUser()
    await fixture.manage('PUT', `/users/${guid}`, { language, email: `${name}@example.com` })
    const { challenge, secret } = objectIn(
      (await fixture.send('POST', '/users/me/second-factor', { as: name })).body,
    )
    const added = { challenge: String(challenge), code: codeOf(String(secret)) }
    expect((await fixture.send('PUT', '/users/me/second-factor', { as: name, body: added })).status).toBe(200)
    const login = await visitor.get('/login', asking)
    const sent = await visitor.submit(login, 'signin', { username: name, password: userPassword })
    const code = await visitor.get(sent.headers.get('location') ?? '', asking)
    look(code, language)
    expect(code.html).toContain(said['code.submit'])
    fixture.advance(MINUTE)
    const wrong = await visitor.submit(code, 'code', { code: '000000' }, { headers: asking })
    look(wrong, language)
    const entered = await visitor.submit(code, 'code', { code: codeOf(String(secret)) }, { headers: asking })
    expect(entered.status).toBe(303)
    for (const [path, status] of signedIn) {
      const page = await visitor.get(path, asking)
      expect([page.url, page.status]).toEqual([page.url, status])
      look(page, language)
    }
  }
  const guid = String(objectIn(objectIn(template)._meta).guid)
  await fixture.manage('DELETE', `/blueprinttemplates/${guid}`)
  expect((await openVisitor(origin).get('/login')).html).not.toContain('Ashdown')
})
