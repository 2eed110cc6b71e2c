/** Passkeys through the API of a running server: the cookie of the browser, bad bodies, mails and the audit log. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createPasskey } from '../../src/identity/passkey-record.ts'
import { readOptions } from '../../src/options/options.ts'
import { openQuoin } from '../../src/quoin/quoin.ts'
import type { CreationOptions, RequestOptions } from '../../src/shared/api/people/passkeys.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { search } from '../../src/shared/query.ts'
import { guidOf } from '../../src/storage/document-fields.ts'
import { documentsOf } from '../../src/storage/find-documents.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { transact } from '../../src/storage/transact.ts'
import { type MailServer, openMailServer, partOf } from '../mail-server.ts'
import { copyQuoinFile } from '../quoin-template.ts'
import { type SoftwarePasskey, softwareAuthenticator } from '../software-authenticator.ts'
import { eventually } from './example-fixture.ts'
import { openTestQuoin, type TestQuoin, userPassword } from './harness.ts'

const origin = 'https://club.example.com'
const authenticator = softwareAuthenticator({ origin, host: 'club.example.com', counts: true })
let mails: MailServer
let fixture: TestQuoin
beforeAll(async () => {
  mails = await openMailServer()
  fixture = await openTestQuoin({
    ...{ QUOIN_RATE_LIMIT: '0', QUOIN_PUBLIC_URL: origin, QUOIN_MAIL_FROM: 'Club <club@example.com>' },
    QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
  })
})
afterAll(async () => {
  await fixture?.close()
  await mails?.close()
})

test('a start says that users have passkeys for the host of a former public address', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  await copyQuoinFile(directory)
  const started = (publicUrl: string) =>
    openQuoin(
      readOptions({
        ...{ QUOIN_DATA: directory, QUOIN_PORT: '0', QUOIN_LOG_LEVEL: 'silent', QUOIN_EXAMPLES: '0' },
        QUOIN_PUBLIC_URL: publicUrl,
      }),
      { clock: Date.now, random: (bytes) => void crypto.getRandomValues(bytes), synchronous: 'OFF' },
    )
  const first = await started(origin)
  await transact(first.database, async (session) => {
    const [admin] = documentsOf(await session.find(systemStorages.users, search({ limit: 1 })))
    await createPasskey(
      session,
      {
        ...{ credentialId: 'x', publicKey: 'x', counter: 0, transports: [] },
        ...{ userGuid: guidOf(admin ?? {}), name: 'Laptop', host: 'club.example.com' },
      },
      { backedUp: false, now: 1 },
    )
  })
  await first.close()
  const said = [
    [origin, []],
    [
      'https://new.example.com',
      [expect.stringMatching(/passkeys for club\.example\.com.*passkeys are for new\.example\.com/)],
    ],
    ['', [expect.stringContaining('there are no passkeys')]],
  ] as const
  try {
    for (const [publicUrl, lines] of said) {
      const quoin = await started(publicUrl)
      await quoin.flows.log.flush()
      const logged = documentsOf(
        await quoin.database.session().find(systemStorages.systemLogs, search({ limit: 1_000 })),
      )
      const own = logged.map(({ message }) => String(message)).filter((one) => one.includes('have passkeys'))
      await transact(quoin.database, async (session) => {
        for (const entry of logged) await session.delete(systemStorages.systemLogs, guidOf(entry))
      })
      await quoin.close()
      expect([publicUrl, own]).toEqual([publicUrl, [...lines]])
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

let users = 0
async function newUser(): Promise<{ readonly name: string; readonly guid: string }> {
  const name = `user-${Date.now()}-${++users}`
  const guid = await fixture.addUser(name, [])
  await fixture.manage('PUT', `/users/${guid}`, { email: `${name}@example.com`, language: 'de' })
  return { name, guid }
}
function objectIn(body: JsonValue | undefined): JsonObject {
  if (!isJsonObject(body)) throw new Error(`This is no object: ${JSON.stringify(body)}`)
  return body
}
/** Adds a passkey through the API. */
async function addPasskey(
  as: string,
): Promise<{ readonly passkey: SoftwarePasskey; readonly body: JsonObject }> {
  const options = await fixture.send('POST', '/users/me/passkeys/options', { as })
  const { passkey, sent } = authenticator.create(
    JSON.parse(JSON.stringify(options.body)) satisfies CreationOptions,
  )
  const added = await fixture.send('POST', '/users/me/passkeys', {
    as,
    body: { name: 'Laptop', passkey: plain(sent) },
  })
  expect([added.status, added.headers['cache-control']]).toEqual([200, 'no-store'])
  return { passkey, body: objectIn(added.body) }
}
const plain = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value))
/** Options of a sign-in, with the cookie that they came with. */
async function begin(
  body: JsonObject = {},
): Promise<{ readonly options: RequestOptions; readonly cookie: string }> {
  const reply = await fixture.send('POST', '/auth/passkey/options', { body })
  expect(reply.status).toBe(200)
  const [cookie = ''] = String(reply.headers['set-cookie'] ?? '').split(';')
  return { options: JSON.parse(JSON.stringify(reply.body)), cookie }
}

test('a user adds a passkey, gets a mail, and signs in with it in the browser that asked', async () => {
  const { name } = await newUser()
  const { passkey, body } = await addPasskey(name)
  expect(body.recovery_codes).toHaveLength(10)
  const { options, cookie } = await begin()
  expect([options.rpId, options.allowCredentials]).toEqual(['club.example.com', []])
  expect(cookie).toMatch(/^quoin_passkey=/)
  const sent = { passkey: plain(passkey.get(options)) }
  const without = await fixture.send('POST', '/auth/passkey', { body: sent })
  expect([without.status, without.body]).toMatchObject([401, { error: 'INVALID_CREDENTIALS' }])
  const done = await fixture.send('POST', '/auth/passkey', { body: sent, headers: { cookie } })
  expect([done.status, done.headers['cache-control'], done.body]).toMatchObject([
    ...[200, 'no-store'],
    { user: { username: name } },
  ])
  const again = await fixture.send('POST', '/auth/passkey', { body: sent, headers: { cookie } })
  expect(again.status).toBe(401)
  await eventually(() => mails.taken.filter(({ to }) => to.includes(`${name}@example.com`)).length).toBe(1)
  const mail = mails.taken.find(({ to }) => to.includes(`${name}@example.com`))
  expect(mail && partOf(mail, 'text/plain')).toContain(`Zu Ihrem Konto ${name}`)
})

test('behind a password the reply says that a passkey ends the sign-in', async () => {
  const { name } = await newUser()
  const { passkey } = await addPasskey(name)
  const asked = await fixture.send('POST', '/auth/signin', {
    body: { username: name, password: userPassword },
  })
  expect(asked.body).toMatchObject({ error: 'SECOND_FACTOR_REQUIRED', details: { passkey: true } })
  const challenge = String(objectIn(objectIn(asked.body).details).challenge)
  const { options } = await begin({ challenge })
  expect(options.allowCredentials).toMatchObject([{ id: passkey.id, transports: ['internal'] }])
  const done = await fixture.send('POST', '/auth/passkey', {
    body: { challenge, passkey: plain(passkey.get(options)) },
  })
  expect([done.status, done.body]).toMatchObject([200, { user: { username: name } }])
  const unknown = await fixture.send('POST', '/auth/passkey/options', { body: { challenge: 'qc_nothing' } })
  expect(unknown.status).toBe(401)
})

test('a sign-in that a group forces to set up a factor takes a passkey; the user gets a mail', async () => {
  const { name, guid } = await newUser()
  const group = await fixture.manage('POST', '/_system/authentication-groups', {
    ...{ name: `Staff of ${name}`, scopes: [], second_factor_days: 0 },
  })
  await fixture.manage('PUT', `/users/${guid}`, { groups: [guidOf(objectIn(group))] })
  const asked = await fixture.send('POST', '/auth/signin', {
    body: { username: name, password: userPassword },
  })
  const details = objectIn(objectIn(asked.body).details)
  expect([asked.body, details.setup]).toMatchObject([{ error: 'SECOND_FACTOR_REQUIRED' }, { passkey: true }])
  const { challenge } = details
  const setup = (path: string, body: JsonObject) =>
    fixture.send('POST', `/auth/passkey/setup${path}`, { body })
  expect((await setup('/options', { challenge: 'qc_nothing' })).status).toBe(401)
  const options = await setup('/options', { challenge: challenge ?? '' })
  expect([options.status, options.headers['cache-control']]).toEqual([200, 'no-store'])
  const { passkey, sent } = authenticator.create(
    JSON.parse(JSON.stringify(options.body)) satisfies CreationOptions,
  )
  const body = { challenge: challenge ?? '', name: 'Phone', passkey: plain(sent) }
  expect((await setup('', { ...body, passkey: {} })).status).toBe(400)
  const done = await setup('', body)
  expect([done.status, done.headers['cache-control'], done.body]).toMatchObject([
    ...[200, 'no-store'],
    { user: { username: name } },
  ])
  expect(objectIn(done.body).recovery_codes).toHaveLength(10)
  expect((await setup('', body)).status).toBe(401)
  const mailsOf = () => mails.taken.filter(({ to }) => to.includes(`${name}@example.com`))
  await eventually(() => mailsOf().length).toBe(1)
  const { options: signIn, cookie } = await begin()
  const again = { passkey: plain(passkey.get(signIn)) }
  expect((await fixture.send('POST', '/auth/passkey', { body: again, headers: { cookie } })).status).toBe(200)
})

test('an old session is confirmed by a passkey', async () => {
  const { name } = await newUser()
  const headers = { authorization: `Bearer ${await fixture.tokenOf(name)}` }
  const { passkey } = await addPasskey(name)
  fixture.advance(6 * 60_000)
  const renew = () => fixture.send('POST', '/users/me/second-factor/recovery-codes', { headers })
  expect((await renew()).body).toMatchObject({ error: 'CONFIRMATION_REQUIRED' })
  const options = await fixture.send('POST', '/auth/confirm/passkey/options', { headers })
  const answer = plain(passkey.get({ challenge: String(objectIn(options.body).challenge) }))
  const confirm = () => fixture.send('POST', '/auth/confirm/passkey', { headers, body: { passkey: answer } })
  expect((await confirm()).status).toBe(200)
  expect((await renew()).status).toBe(200)
  expect((await confirm()).body).toMatchObject({ error: 'INVALID_BODY', fields: ['passkey'] })
})

const answer = { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' }
const credential = { id: 'AA', rawId: 'AA', type: 'public-key', clientExtensionResults: {}, response: answer }
const thousand = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`member${at}`, 1]))
test.each<[string, JsonObject, number]>([
  ['nothing', {}, 400],
  ['1,000 members', { ...credential, ...thousand }, 400],
  ['1,000 members in the answer', { ...credential, response: { ...answer, ...thousand } }, 400],
  ['1,000 extensions', { ...credential, clientExtensionResults: thousand }, 400],
  ['a signature of 10 KB', { ...credential, response: { ...answer, signature: 'A'.repeat(10_240) } }, 400],
  ['client data that is no JSON', { ...credential, response: { ...answer, clientDataJSON: 'AAAA' } }, 401],
  ['client data that is null', { ...credential, response: { ...answer, clientDataJSON: 'bnVsbA' } }, 401],
  [
    'a challenge that is no text',
    { ...credential, response: { ...answer, clientDataJSON: 'eyJjaGFsbGVuZ2UiOjF9' } },
    401,
  ],
  ['nothing that was asked for', credential, 401],
])('a passkey with %s is refused with its reason', async (_name, passkey, status) => {
  const { cookie } = await begin()
  const reply = await fixture.send('POST', '/auth/passkey', { body: { passkey }, headers: { cookie } })
  expect([reply.status, reply.body]).toMatchObject([
    status,
    { error: status === 400 ? 'INVALID_BODY' : 'INVALID_CREDENTIALS' },
  ])
})

test('users list, rename and remove their own; the audit log says so, without keys', async () => {
  const { name, guid } = await newUser()
  const { passkey, body } = await addPasskey(name)
  const key = String(objectIn(objectIn(objectIn(body).passkey)._meta).guid)
  const listed = await fixture.send('GET', '/users/me/passkeys', { as: name })
  expect(listed.body).toMatchObject({
    passkeys: [{ name: 'Laptop' }],
    host: 'club.example.com',
    unavailable: '',
  })
  const other = await newUser()
  const path = `/users/me/passkeys/${key}`
  expect((await fixture.send('DELETE', path, { as: other.name })).status).toBe(404)
  expect((await fixture.send('PUT', path, { as: name, body: { name: 'Desk' } })).body).toMatchObject({
    name: 'Desk',
  })
  expect((await fixture.send('DELETE', path, { as: name })).body).toEqual({ guid: key, removed: true })
  const filters = { category: 'passkeys' }
  const audits = JSON.stringify(await fixture.manage('POST', '/_system/auditlogs', { limit: 1_000, filters }))
  expect(audits).toContain('Desk')
  expect(audits).not.toContain(passkey.id)
  expect(
    objectIn((await fixture.send('GET', `/users/${guid}/second-factor`, { as: 'admin' })).body),
  ).toMatchObject({
    ...{ passkeys: 0, recovery_codes: 0 },
  })
})
