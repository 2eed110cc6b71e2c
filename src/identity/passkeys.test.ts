/** Passkeys: adding them, signing in with one, as second factor, as confirmation, and what is refused. */
import { hash } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { IP, openTestAccess, outcome, PASSWORD, type TestAccess } from '../../test/open-test-access.ts'
import {
  type Deviation,
  type SoftwarePasskey,
  softwareAuthenticator,
} from '../../test/software-authenticator.ts'
import type { Access } from '../access/access.ts'
import type { Identity } from '../access/identity-cache.ts'
import { QuoinError } from '../shared/errors.ts'
import { search } from '../shared/query.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import { createAccount } from './provider-account.ts'

const origin = 'https://club.example.com'
const host = 'club.example.com'
const agent = 'a browser'
const browser = 'the cookie of this browser'
const authenticator = softwareAuthenticator({ origin, host, counts: true })
let fixture: TestAccess
let access: Access
let guid: string
let ada: Identity
beforeEach(async () => {
  fixture = await openTestAccess({ publicUrl: origin, siteName: 'Club' })
  access = fixture.access
  guid = await fixture.user()
  ada = await fixture.identity('ada')
})
afterEach(() => fixture.close())

async function addPasskey(by = ada, name = 'Laptop'): Promise<SoftwarePasskey> {
  const { passkey, sent } = authenticator.create(await access.passkeys.toAdd(by))
  await access.passkeys.add(by, { name, passkey: sent })
  return passkey
}
const sender = { ip: IP, agent }
const signIn = (passkey: ReturnType<SoftwarePasskey['get']>, from = browser, of = access) =>
  of.passkeys.signIn({ passkey, browser: from, ...sender })
const answer = (key: SoftwarePasskey, deviation?: Deviation) =>
  key.get(access.passkeys.toSignIn(browser), deviation)
/** The challenge of a right password. */
async function challenge(username = 'ada'): Promise<{ challenge: string; passkey: unknown }> {
  try {
    await access.signIn({ username, password: PASSWORD, ...sender })
  } catch (error) {
    if (!(error instanceof QuoinError) || error.code !== 'SECOND_FACTOR_REQUIRED') throw error
    return { challenge: String(error.details?.challenge), passkey: error.details?.passkey }
  }
  throw new Error('The sign-in needed no second factor.')
}

test.each([
  ['', 'Set QUOIN_PUBLIC_URL'],
  ['http://192.0.2.7:8080', 'has an IP address'],
  ['https://[2001:db8::1]', 'has an IP address'],
  ['http://club.example.com', 'over https://'],
])('with the public address %j there are none, and the reason says why', async (publicUrl, reason) => {
  const other = await fixture.otherNode({ publicUrl })
  expect(() => other.passkeys.toSignIn(browser)).toThrow(reason)
  await expect(other.passkeys.toAdd(ada)).rejects.toThrow(reason)
})

test.each(['http://localhost:8080', 'http://app.localhost', 'https://club.example.com:8443'])(
  'with the public address %s there are passkeys',
  async (publicUrl) => {
    const other = await fixture.otherNode({ publicUrl })
    expect(other.passkeys.toSignIn(browser).rpId).toBe(new URL(publicUrl).hostname)
  },
)

test('the first passkey gives recovery codes, and its user signs in with it alone', async () => {
  const { passkey, sent } = authenticator.create(await access.passkeys.toAdd(ada))
  const added = await access.passkeys.add(ada, { name: ' Laptop ', passkey: sent })
  expect(added.recoveryCodes).toHaveLength(10)
  expect(added.passkey).toMatchObject({ name: 'Laptop', host, last_used: 0, backed_up: false })
  fixture.pass(60)
  const signedIn = await signIn(answer(passkey))
  expect(signedIn).toMatchObject({ user: { username: 'ada' }, verified: true })
  expect(await access.identify(signedIn.access_token)).toMatchObject({ guid })
  const [listed] = await access.passkeys.list(guid)
  expect(listed).toMatchObject({ name: 'Laptop', last_used: fixture.clock.now / 1000 })
  expect(JSON.stringify(listed)).not.toContain(passkey.id)
  expect(await access.factors.stateOf(guid)).toMatchObject({ totp: false, passkeys: 1, recovery_codes: 10 })
})

const refusedAnswers: readonly (readonly [string, Deviation])[] = [
  ['of another origin', { origin: 'https://club.example.com.evil.example' }],
  ['of the same host on another port', { origin: `${origin}:8443` }],
  ['for another host', { host: 'evil.example' }],
  ['from a device that did not ask who it is', { verified: false }],
  ['with a counter that goes back', { counter: 1 }],
  ['with a counter that stays', { counter: 2 }],
  ['with the signature of nothing', { signature: Buffer.alloc(70) }],
  [
    'of a challenge that this cluster did not make',
    { challenge: Buffer.alloc(77, 'a').toString('base64url') },
  ],
  ['for another user', { userHandle: Buffer.from('another user').toString('base64url') }],
]
test.each(refusedAnswers)('an answer %s signs nobody in', async (_name, deviation) => {
  const key = await addPasskey()
  await signIn(answer(key))
  await signIn(answer(key))
  expect(await outcome(signIn(answer(key, deviation)))).toBe('INVALID_CREDENTIALS')
  const { records } = await access.searchUserLogs(search())
  expect(records.filter(({ event }) => event === 'sign_in_failed')).toHaveLength(1)
  // It was not the key.
  expect(await outcome(signIn(answer(key)))).toBe('OK')
})

test('a challenge works once on all nodes, in its browser, for 15 minutes and for what it was made', async () => {
  const key = await addPasskey()
  const node = await fixture.otherNode()
  const used = key.get(node.passkeys.toSignIn(browser))
  expect(await outcome(signIn(used))).toBe('OK')
  expect(await outcome(signIn(used, browser, node))).toBe('INVALID_CREDENTIALS')
  expect(await outcome(signIn(answer(key), 'the cookie of another browser'))).toBe('INVALID_CREDENTIALS')
  expect(await outcome(signIn(key.get(await access.passkeys.toConfirm(ada))))).toBe('INVALID_CREDENTIALS')
  const late = answer(key)
  fixture.pass(900)
  expect(await outcome(signIn(late))).toBe('INVALID_CREDENTIALS')
})

test('a synced passkey, which counts nothing, cannot be replayed either', async () => {
  const synced = softwareAuthenticator({ origin, host })
  const { passkey, sent } = synced.create(await access.passkeys.toAdd(ada))
  await access.passkeys.add(ada, { name: 'Phone', passkey: sent })
  const sentTwice = answer(passkey)
  const node = await fixture.otherNode()
  const ends = await Promise.all([outcome(signIn(sentTwice)), outcome(signIn(sentTwice, browser, node))])
  expect(ends.toSorted()).toEqual(['INVALID_CREDENTIALS', 'OK'])
  expect(await outcome(signIn(sentTwice))).toBe('INVALID_CREDENTIALS')
  expect(await outcome(signIn(answer(passkey)))).toBe('OK')
})

test('unknown, removed and inactive users are refused alike', async () => {
  const stranger = authenticator.create(await access.passkeys.toAdd(ada)).passkey
  const key = await addPasskey()
  const message = async (passkey: SoftwarePasskey) => {
    const refused: unknown = await signIn(answer(passkey)).catch((error: unknown) => error)
    return refused instanceof QuoinError ? refused.message : 'OK'
  }
  const unknown = await message(stranger)
  expect(unknown).toMatch('signs in nobody here')
  await access.updateUser(guid, { is_active: false }, fixture.admin)
  expect(await message(key)).toBe(unknown)
  await access.removeUser(guid, fixture.admin)
  expect(await message(key)).toBe(unknown)
  expect(await fixture.records(systemStorages.passkeys)).toEqual([])
})

test('a user whom a thief has locked signs in with a passkey', async () => {
  const key = await addPasskey()
  for (let tries = 0; tries < 10; tries++)
    await outcome(access.signIn({ username: 'ada', password: 'wrong', ...sender }))
  expect(await outcome(access.signIn({ username: 'ada', password: PASSWORD, ...sender }))).toBe(
    'TOO_MANY_LOGIN_ATTEMPTS',
  )
  expect(await outcome(signIn(answer(key)))).toBe('OK')
})

test('100 wrong answers in 15 minutes end the answers of an address', async () => {
  const few = await fixture.otherNode({ addressAttempts: 3 })
  const key = await addPasskey()
  for (let tries = 0; tries < 3; tries++)
    expect(await outcome(signIn(answer(key, { verified: false }), browser, few))).toBe('INVALID_CREDENTIALS')
  expect(await outcome(signIn(answer(key), browser, few))).toBe('TOO_MANY_LOGIN_ATTEMPTS')
})

test('behind a password the passkey is the second factor, and of that user only', async () => {
  const key = await addPasskey()
  await fixture.user({ username: 'bob' })
  const bob = await fixture.identity('bob')
  const keyOfBob = await addPasskey(bob)
  const asked = await challenge()
  expect(asked.passkey).toBe(true)
  const options = await access.passkeys.toFinish(asked.challenge, { agent })
  expect(options?.allowCredentials.map(({ id }) => id)).toEqual([key.id])
  expect(await access.passkeys.toFinish(asked.challenge, { agent: 'another browser' })).toBeUndefined()
  const finish = async (passkey: SoftwarePasskey, of = asked.challenge) =>
    outcome(
      access.passkeys.finish({
        ...{ passkey: passkey.get(options ?? { challenge: '' }), challenge: of, ...sender },
      }),
    )
  expect(await finish(keyOfBob)).toBe('INVALID_CREDENTIALS')
  expect(await finish(key, (await challenge('bob')).challenge)).toBe('INVALID_CREDENTIALS')
  expect(await finish(key)).toBe('OK')
  expect(await finish(key)).toBe('INVALID_CREDENTIALS')
})

test('without an app a recovery code ends the second step', async () => {
  const { sent } = authenticator.create(await access.passkeys.toAdd(ada))
  const { recoveryCodes = [] } = await access.passkeys.add(ada, { name: 'Laptop', passkey: sent })
  const asked = await challenge()
  const finish = (code: string) => outcome(access.factors.finishSignIn({ ...asked, code, ...sender }))
  expect(await finish('123456')).toBe('INVALID_CREDENTIALS')
  expect(await finish(recoveryCodes[0] ?? '')).toBe('OK')
})

test('a session is confirmed by a passkey of its user', async () => {
  const key = await addPasskey()
  await fixture.user({ username: 'bob' })
  const bob = await fixture.identity('bob')
  const keyOfBob = await addPasskey(bob)
  fixture.pass(360)
  const confirm = async (passkey: SoftwarePasskey, by = ada) => {
    const sentBy = passkey.get(await access.passkeys.toConfirm(by))
    return outcome(access.passkeys.confirm(ada, { passkey: sentBy, ...sender }))
  }
  expect(() => access.factors.requireConfirmed(ada)).toThrow('too old')
  expect(await confirm(keyOfBob)).toBe('INVALID_BODY')
  expect(await confirm(key, bob)).toBe('INVALID_BODY')
  expect(await confirm(key)).toBe('OK')
  const [token] = (await fixture.records(systemStorages.tokens)).filter(
    ({ confirmed }) => confirmed !== undefined,
  )
  expect(token).toMatchObject({ user_guid: guid, confirmed: fixture.clock.now / 1000 })
})

const refusedKeys: readonly (readonly [string, Deviation])[] = [
  ['for another origin', { origin: 'https://evil.example' }],
  ['for another host', { host: 'evil.example' }],
  ['by a device that did not ask who it is', { verified: false }],
  [
    'for a challenge that this cluster did not make',
    { challenge: Buffer.alloc(77, 'a').toString('base64url') },
  ],
  ['with an attestation, which nobody asked for', { format: 'packed' }],
]
test.each(refusedKeys)('a passkey that was made %s is not added', async (_name, deviation) => {
  const { sent } = authenticator.create(await access.passkeys.toAdd(ada), deviation)
  expect(await outcome(access.passkeys.add(ada, { name: 'Laptop', passkey: sent }))).toBe('INVALID_BODY')
  expect(await access.passkeys.list(guid)).toEqual([])
})

test('a passkey of another session, one that is there and an eleventh are not added', async () => {
  const other = await fixture.identity('ada')
  const { sent } = authenticator.create(await access.passkeys.toAdd(other))
  const add = (by: Identity) => outcome(access.passkeys.add(by, { name: 'Laptop', passkey: sent }))
  expect(await add(ada)).toBe('INVALID_BODY')
  expect(await add(other)).toBe('OK')
  expect(await add(other)).toBe('CONFLICT')
  const options = await access.passkeys.toAdd(ada)
  expect(options.excludeCredentials).toHaveLength(1)
  for (let keys = 1; keys < 10; keys++) await addPasskey(ada, `Key ${keys}`)
  expect(await outcome(access.passkeys.toAdd(ada))).toBe('CONFLICT')
  const late = authenticator.create(options).sent
  expect(await outcome(access.passkeys.add(ada, { name: 'Late', passkey: late }))).toBe('CONFLICT')
  expect(await access.passkeys.list(guid)).toHaveLength(10)
})

test('only its user renames and removes a passkey; with the last one the recovery codes go', async () => {
  await addPasskey()
  const [listed] = await access.passkeys.list(guid)
  const key = String(JSON.parse(JSON.stringify(listed))._meta.guid)
  await fixture.user({ username: 'bob' })
  const bob = await fixture.identity('bob')
  expect(await outcome(access.passkeys.rename(bob, key, 'Mine'))).toBe('NOT_FOUND')
  expect(await outcome(access.passkeys.remove(bob, key))).toBe('NOT_FOUND')
  expect(await outcome(access.passkeys.rename(ada, key, '\u200b'))).toBe('INVALID_BODY')
  expect(await access.passkeys.rename(ada, key, 'Desk')).toMatchObject({ name: 'Desk' })
  await access.passkeys.remove(ada, key)
  expect(await access.factors.stateOf(guid)).toMatchObject({ passkeys: 0, recovery_codes: 0 })
  expect(await outcome(access.signIn({ username: 'ada', password: PASSWORD, ...sender }))).toBe('OK')
})

test('an administrator resets all factors of a user at once', async () => {
  const key = await addPasskey()
  await access.factors.remove(guid, fixture.admin)
  expect(await access.passkeys.list(guid)).toEqual([])
  expect(await outcome(signIn(answer(key)))).toBe('INVALID_CREDENTIALS')
  expect(await outcome(access.signIn({ username: 'ada', password: PASSWORD, ...sender }))).toBe('OK')
})

test.each([
  ['https://club.example.com:8443', undefined],
  ['https://a.example', 'club.example.com'],
  ['https://z.example', 'club.example.com'],
  ['', 'club.example.com'],
])('with the public address %j the former host is %j', async (publicUrl, former) => {
  await addPasskey()
  const other = await fixture.otherNode({ publicUrl })
  expect(await other.passkeys.formerHost()).toBe(former)
})

test('a service account is signed in by no passkey, challenge, provider or code of quoin login', async () => {
  const key = await addPasskey()
  const { challenge: waiting } = await challenge()
  const verifier = 'v'.repeat(43)
  const code = await access.handovers.toProgram(ada, hash('sha256', verifier, 'base64url'))
  const provider = {
    title: 'Acme',
    issuer: 'https://id.example.com',
    client_id: 'quoin',
    trusts_factor: true,
  }
  await access.providers.create({ name: 'acme', ...provider }, fixture.admin)
  const acme = access.providers.find('acme')
  if (!acme) throw new Error('There is a provider.')
  const account = { provider: acme, issuer: provider.issuer, subject: 'ada' }
  await transact(fixture.database, (session) =>
    createAccount(session, account, { userGuid: guid, email: '', now: 0 }),
  )
  const finish = async () => {
    const options = await access.passkeys.toFinish(waiting, sender)
    if (!options) throw new Error('The challenge can be used.')
    return access.passkeys.finish({ challenge: waiting, passkey: key.get(options), ...sender })
  }
  const external = { ...account, verifiedEmail: undefined, claims: {}, sid: '', authenticated: 0 }
  const tried = async () => [
    await outcome(signIn(answer(key))),
    await outcome(finish()),
    await outcome(access.handovers.signInProgram(code, verifier, sender)),
    await outcome(access.providerAccounts.signIn(external, sender)),
  ]
  await fixture.set('_users', guid, { is_service: true })
  const sessions = await fixture.records(systemStorages.tokens)
  expect(await tried()).toEqual(Array.from({ length: 4 }, () => 'INVALID_CREDENTIALS'))
  expect(await fixture.records(systemStorages.tokens)).toEqual(sessions)
  // Each of them signs in a person: nothing but that it is a service account refused it.
  await fixture.set('_users', guid, { is_service: false })
  expect(await tried()).toEqual(['OK', 'OK', 'OK', 'OK'])
})
