/** Second factors: setup, sign-in with a code, replays, locks, recovery codes, groups that require one, and resets. */
import { TOTP } from 'otpauth'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { IP, openTestAccess, outcome, PASSWORD, type TestAccess } from '../../test/open-test-access.ts'
import type { Access } from '../access/access.ts'
import { auditedAccess } from '../access/audited-access.ts'
import { openAuditLog } from '../records/audit-log.ts'
import { secretKeys } from '../records/secrets/signing-secret.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { systemStorages } from '../storage/system-storages.ts'
import { transact } from '../storage/transact.ts'
import { createAccount } from './provider-account.ts'

const KEY = '0f'.repeat(32)
let fixture: TestAccess
let access: Access
let guid: string
beforeEach(async () => {
  fixture = await openTestAccess({ secretKeys: secretKeys(KEY, []), siteName: 'Acme' })
  access = fixture.access
  guid = await fixture.user()
})
afterEach(() => fixture.close())

const agent = 'a browser'
const now = () => fixture.clock.now / 1000
/** The code that an app shows, `steps` of 30 seconds from now. */
function codeOf(secret: string, steps = 0): string {
  return TOTP.generate({ secret: new TOTP({ secret }).secret, timestamp: fixture.clock.now + steps * 30_000 })
}
/** The details of a sign-in that needs a code. */
async function challenge(of: Access = access, password = PASSWORD): Promise<JsonObject> {
  try {
    await of.signIn({ username: 'ada', password, ip: IP, agent })
  } catch (error) {
    if (error instanceof QuoinError && error.code === 'SECOND_FACTOR_REQUIRED') return error.details ?? {}
    throw error
  }
  throw new Error('The sign-in needed no second factor.')
}
const finish = (text: unknown, code: string, { of = access, by = agent } = {}) =>
  outcome(of.factors.finishSignIn({ challenge: String(text), code, ip: IP, agent: by }))
/** Gives ada a factor; the clock is a step later then, or its code would count as used. */
async function withFactor() {
  const ada = await fixture.identity('ada')
  const { challenge: text, setup } = await access.factors.begin(ada)
  const codes = await access.factors.add(ada, { challenge: text, code: codeOf(setup.secret) })
  fixture.pass(30)
  return { ada, secret: setup.secret, codes, uri: setup.uri }
}

test('an app is added with a code of it, and its secret is stored only sealed', async () => {
  const { ada, secret, codes, uri } = await withFactor()
  expect(uri).toBe(`otpauth://totp/Acme:ada?issuer=Acme&secret=${secret}&algorithm=SHA1&digits=6&period=30`)
  expect(codes).toHaveLength(10)
  expect(new Set(codes).size).toBe(10)
  for (const code of codes) expect(code).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/)
  const stored = JSON.stringify([
    await fixture.records(systemStorages.users),
    await fixture.records(systemStorages.signInChallenges),
  ])
  for (const shown of [secret, ...codes]) expect(stored).not.toContain(shown)
  expect(await access.factors.stateOf(guid)).toMatchObject({ totp: true, recovery_codes: 10 })
  expect(JSON.stringify(await access.getUser(guid))).not.toMatch(/totp|recovery/)
  expect(ada.user).not.toHaveProperty('totp_secret')
})

test('a wrong code, another session and a used challenge add no app', async () => {
  const [ada, other] = [await fixture.identity('ada'), await fixture.identity('ada')]
  const { challenge: text, setup } = await access.factors.begin(ada)
  const code = codeOf(setup.secret)
  expect(await outcome(access.factors.add(ada, { challenge: text, code: '000000' }))).toBe('INVALID_BODY')
  expect(await outcome(access.factors.add(other, { challenge: text, code }))).toBe('INVALID_BODY')
  expect(await access.factors.stateOf(guid)).toMatchObject({ totp: false })
  expect(await outcome(access.factors.add(ada, { challenge: text, code }))).toBe('OK')
  expect(await outcome(access.factors.add(ada, { challenge: text, code }))).toBe('INVALID_BODY')
})

test('without a key for secrets no app can be added, and the message names the setting', async () => {
  const other = await fixture.otherNode({ secretKeys: secretKeys('', []) })
  const begun = other.factors.begin(await fixture.identity('ada'))
  await expect(begun).rejects.toThrow('QUOIN_SECRETS_KEY is not set.')
})

test('with an app the password alone gives no session, and no failure is forgotten', async () => {
  const { secret } = await withFactor()
  const before = (await fixture.records(systemStorages.tokens)).length
  const { challenge: text, expiry } = await challenge()
  expect(expiry).toBe(now() + 300)
  expect(await fixture.records(systemStorages.tokens)).toHaveLength(before)
  expect(await finish(text, codeOf(secret))).toBe('OK')
  expect(await fixture.records(systemStorages.tokens)).toHaveLength(before + 1)
})

test('ending all sessions ends a sign-in that waits for its code', async () => {
  const { secret } = await withFactor()
  const { challenge: text } = await challenge()
  await access.sessions.endAll(guid, fixture.admin)
  expect(await finish(text, codeOf(secret))).toBe('INVALID_CREDENTIALS')
  expect(await finish((await challenge()).challenge, codeOf(secret))).toBe('OK')
})

test.each([
  [-2, 'INVALID_CREDENTIALS'],
  [-1, 'OK'],
  [0, 'OK'],
  [1, 'OK'],
  [2, 'INVALID_CREDENTIALS'],
])('a code that is %i steps away: %s', async (steps, expected) => {
  const { secret } = await withFactor()
  fixture.pass(300)
  expect(await finish((await challenge()).challenge, codeOf(secret, steps))).toBe(expected)
})

test('a code works once, on all nodes, also where two send it at once', async () => {
  const { secret } = await withFactor()
  const node = await fixture.otherNode()
  const [one, two] = [await challenge(), await challenge(node)]
  const code = codeOf(secret)
  const ends = await Promise.all([finish(one.challenge, code), finish(two.challenge, code, { of: node })])
  expect(ends.toSorted()).toEqual(['INVALID_CREDENTIALS', 'OK'])
  // An older code than one that was used is refused too.
  expect(await finish((await challenge()).challenge, codeOf(secret, -1))).toBe('INVALID_CREDENTIALS')
})

test('a recovery code works once where ten sign-ins send it at once, on two nodes', async () => {
  const { codes } = await withFactor()
  const node = await fixture.otherNode()
  const tries = await Promise.all(
    Array.from({ length: 10 }, async (_, n) => ({
      of: n % 2 ? node : access,
      text: (await challenge()).challenge,
    })),
  )
  const ends = await Promise.all(tries.map(({ of, text }) => finish(text, String(codes[0]), { of })))
  expect(ends.filter((end) => end === 'OK')).toEqual(['OK'])
  expect(await access.factors.stateOf(guid)).toMatchObject({ recovery_codes: 9 })
})

test('two recovery codes at once over one challenge give one session', async () => {
  const { codes } = await withFactor()
  const node = await fixture.otherNode()
  const { challenge: text } = await challenge()
  const ends = await Promise.all([
    finish(text, String(codes[0])),
    finish(text, String(codes[1]), { of: node }),
    finish(text, String(codes[2])),
  ])
  expect(ends.filter((end) => end === 'OK')).toEqual(['OK'])
})

test('thirty wrong codes at once, on two nodes, lock the factor as one after the other', async () => {
  const { secret } = await withFactor()
  const node = await fixture.otherNode()
  const texts: unknown[] = []
  // A user has ten at most; a wrong code uses none up.
  for (let n = 0; n < 10; n++) texts.push((await challenge()).challenge)
  texts.push(...texts, ...texts)
  const ends = await Promise.all(
    texts.map((text, n) => finish(text, `99999${n % 10}x`, { of: n % 2 ? node : access })),
  )
  expect(ends.filter((end) => end === 'OK')).toEqual([])
  expect(ends.filter((end) => end === 'INVALID_CREDENTIALS')).toHaveLength(10)
  expect(ends.filter((end) => end === 'TOO_MANY_LOGIN_ATTEMPTS')).toHaveLength(20)
  expect(await finish((await challenge()).challenge, codeOf(secret))).toBe('TOO_MANY_LOGIN_ATTEMPTS')
})

test('a challenge works once, in its browser, for five minutes and with the password that was checked', async () => {
  const { secret } = await withFactor()
  const used = await challenge()
  expect(await finish(used.challenge, codeOf(secret))).toBe('OK')
  fixture.pass(30)
  expect(await finish(used.challenge, codeOf(secret))).toBe('INVALID_CREDENTIALS')
  const of = await challenge()
  expect(await finish(of.challenge, codeOf(secret), { by: 'another browser' })).toBe('INVALID_CREDENTIALS')
  fixture.pass(300)
  expect(await finish(of.challenge, codeOf(secret))).toBe('INVALID_CREDENTIALS')
  const former = await challenge()
  await access.updateUser(guid, { password: 'another horse battery' }, fixture.admin)
  expect(await finish(former.challenge, codeOf(secret))).toBe('INVALID_CREDENTIALS')
  const last = await challenge(access, 'another horse battery')
  await access.updateUser(guid, { is_active: false }, fixture.admin)
  expect(await finish(last.challenge, codeOf(secret))).toBe('INVALID_CREDENTIALS')
  expect(await finish('qc_x', '000000')).toBe('INVALID_CREDENTIALS')
})

test('ten wrong codes lock the factor whatever the address, the next ten for twice as long', async () => {
  const { secret } = await withFactor()
  for (const [round, seconds] of [900, 1800].entries()) {
    for (let n = 0; n < 10; n++) {
      const { challenge: text } = await challenge()
      const ip = `198.51.${round}.${n}`
      const wrong = access.factors.finishSignIn({ challenge: String(text), code: '12345x', ip, agent })
      expect(await outcome(wrong)).toBe('INVALID_CREDENTIALS')
    }
    const { challenge: text } = await challenge()
    expect(await finish(text, codeOf(secret))).toBe('TOO_MANY_LOGIN_ATTEMPTS')
    expect(await access.factors.stateOf(guid)).toMatchObject({ locked_until: now() + seconds })
    fixture.pass(seconds)
  }
  expect(await finish((await challenge()).challenge, codeOf(secret))).toBe('OK')
  expect(await access.factors.stateOf(guid)).toMatchObject({ locked_until: 0 })
})

test('a recovery code works once, in any case and without its hyphens', async () => {
  const { codes } = await withFactor()
  const typed = String(codes[3]).replaceAll('-', ' ').toUpperCase()
  expect(await finish((await challenge()).challenge, typed)).toBe('OK')
  expect(await finish((await challenge()).challenge, typed)).toBe('INVALID_CREDENTIALS')
  expect(await access.factors.stateOf(guid)).toMatchObject({ recovery_codes: 9 })
  const renewed = await access.factors.renewRecoveryCodes(await confirmedAda(codes))
  expect(await finish((await challenge()).challenge, String(codes[5]))).toBe('INVALID_CREDENTIALS')
  expect(await finish((await challenge()).challenge, String(renewed[5]))).toBe('OK')
})

/** Signs ada in with her last recovery code. */
async function confirmedAda(codes: readonly string[]) {
  const text = String((await challenge()).challenge)
  const input = { challenge: text, code: String(codes[9]), ip: IP, agent }
  const identity = await access.identify((await access.factors.finishSignIn(input)).access_token)
  if (!identity) throw new Error('ada is not signed in.')
  return identity
}

test('a group requires a factor after its days, and the sign-in then sets one up', async () => {
  const group = await fixture.group({ name: 'Staff', scopes: [], second_factor_days: 2 })
  await access.updateUser(guid, { groups: [group] }, fixture.admin)
  const signIn = () => access.signIn({ username: 'ada', password: PASSWORD, ip: IP, agent })
  const due = now() + 2 * 86_400
  expect(await signIn()).toMatchObject({ second_factor_due: due })
  fixture.pass(86_400)
  expect(await signIn()).toMatchObject({ second_factor_due: due })
  fixture.pass(86_400)
  const { challenge: text, setup } = await challenge()
  const late = await challenge()
  const { secret = '' } = setup as { secret?: string }
  expect(await finish(text, '000000')).toBe('INVALID_CREDENTIALS')
  const code = codeOf(secret)
  const input = { challenge: String(text), code, ip: IP, agent }
  const { recovery_codes: codes = [] } = await access.factors.finishSignIn(input)
  expect(codes).toHaveLength(10)
  fixture.pass(30)
  // A second setup that was begun before would replace the factor.
  const { secret: second = '' } = late.setup as { secret?: string }
  expect(await finish(late.challenge, codeOf(second))).toBe('INVALID_CREDENTIALS')
  expect(await finish((await challenge()).challenge, codeOf(secret))).toBe('OK')
  // Who removes it has no second time of two days.
  await access.factors.remove(guid, await confirmedAda(codes))
  expect(await challenge()).toMatchObject({ setup: { secret: expect.any(String) } })
})

test('a removed user keeps no secret of a factor', async () => {
  await withFactor()
  await access.removeUser(guid, fixture.admin)
  const [removed] = (await fixture.records(systemStorages.users)).filter(({ username }) => username === 'ada')
  expect(Object.keys(removed ?? {}).filter((field) => /totp|recovery|factor/.test(field))).toEqual([])
})

test('an inactive group requires nothing', async () => {
  const group = await fixture.group({ name: 'Staff', scopes: [], second_factor_days: 0, is_active: false })
  await access.updateUser(guid, { groups: [group] }, fixture.admin)
  expect(await outcome(access.signIn({ username: 'ada', password: PASSWORD, ip: IP }))).toBe('OK')
})

test('an administrator resets a factor: audited without secrets, and the user is signed out', async () => {
  const log = await openAuditLog(fixture.database, auditedAccess)
  const { ada, secret, codes } = await withFactor()
  expect(await outcome(access.factors.remove(fixture.admin.guid, ada))).toBe('INSUFFICIENT_PERMISSIONS')
  await access.factors.remove(guid, fixture.admin)
  expect(await outcome(access.factors.remove(guid, fixture.admin))).toBe('CONFLICT')
  expect(
    (await fixture.records(systemStorages.tokens)).filter(({ user_guid }) => user_guid === guid),
  ).toEqual([])
  expect(await outcome(access.signIn({ username: 'ada', password: PASSWORD, ip: IP }))).toBe('OK')
  const audits = (await fixture.records(systemStorages.auditLogs)).filter(
    ({ category }) => category === 'users',
  )
  const changed = audits.map(({ changes }) => changes)
  expect(changed).toHaveLength(2)
  for (const changes of changed) expect(changes).toEqual(expect.arrayContaining(['second_factor']))
  for (const shown of [secret, ...codes]) expect(JSON.stringify(audits)).not.toContain(shown)
  log.close()
})

test('after a change of the key for secrets an app still works, and is sealed with the new key', async () => {
  const { secret, codes } = await withFactor()
  const newKey = 'ab'.repeat(32)
  const node = await fixture.otherNode({ secretKeys: secretKeys(newKey, [KEY]) })
  expect(await finish((await challenge(node)).challenge, codeOf(secret), { of: node })).toBe('OK')
  fixture.pass(30)
  const last = await fixture.otherNode({ secretKeys: secretKeys(newKey, []) })
  expect(await finish((await challenge(last)).challenge, codeOf(secret), { of: last })).toBe('OK')
  // Without any key recovery codes work.
  const none = await fixture.otherNode({ secretKeys: secretKeys('', []) })
  expect(await finish((await challenge(none)).challenge, codeOf(secret), { of: none })).toBe('UNAVAILABLE')
  expect(await finish((await challenge(none)).challenge, String(codes[0]), { of: none })).toBe('OK')
})

test('where the setting is 0 no session has to be confirmed', async () => {
  const token = await fixture.token('ada')
  fixture.pass(86_400)
  const [asks, never] = [access, await fixture.otherNode({ confirmSeconds: 0 })]
  const required = async (of: Access) => {
    const identity = await of.identify(token)
    return outcome(Promise.resolve().then(() => identity && of.factors.requireConfirmed(identity)))
  }
  expect([await required(asks), await required(never)]).toEqual(['CONFIRMATION_REQUIRED', 'OK'])
})

test('a session is confirmed for five minutes by its sign-in, then by the password and a code', async () => {
  const { secret } = await withFactor()
  const text = String((await challenge()).challenge)
  const { access_token } = await access.factors.finishSignIn({
    ...{ challenge: text, code: codeOf(secret), ip: IP, agent },
  })
  const required = async () => {
    const identity = await access.identify(access_token)
    return outcome(Promise.resolve().then(() => identity && access.factors.requireConfirmed(identity)))
  }
  const confirm = async (password: string, code: string) => {
    const identity = await access.identify(access_token)
    if (!identity) throw new Error('The session ended.')
    return outcome(access.factors.confirm(identity, { password, code, ip: IP }))
  }
  expect(await required()).toBe('OK')
  fixture.pass(301)
  expect(await required()).toBe('CONFIRMATION_REQUIRED')
  expect(await confirm(PASSWORD, '')).toBe('INVALID_BODY')
  expect(await confirm('wrong horse battery', codeOf(secret))).toBe('INVALID_BODY')
  expect(await confirm(PASSWORD, '12345x')).toBe('INVALID_BODY')
  expect(await required()).toBe('CONFIRMATION_REQUIRED')
  expect(await confirm(PASSWORD, codeOf(secret))).toBe('OK')
  expect(await required()).toBe('OK')
})

// Seconds by which the clock of the node is later than the confirmation.
test.each([
  ['an hour before, behind a clock that was set back', -3_600, 'CONFIRMATION_REQUIRED'],
  ['six seconds before', -6, 'CONFIRMATION_REQUIRED'],
  ['after the five minutes', 301, 'CONFIRMATION_REQUIRED'],
  ['five seconds before, as the clocks of two nodes differ', -5, 'OK'],
  ['at the end of the five minutes', 300, 'OK'],
])('a session counts as confirmed: %s', async (_when, seconds, expected) => {
  const { clock } = fixture
  clock.now += 7_200_000
  const ada = await fixture.identity('ada')
  expect(ada.confirmed).toBe(clock.now / 1000)
  fixture.pass(seconds)
  const required = async () => access.factors.requireConfirmed(ada)
  expect(await outcome(required())).toBe(expected)
  // An API key has no session to confirm.
  const { confirmed: _, ...key } = ada
  expect(await outcome((async () => access.factors.requireConfirmed(key))())).toBe('OK')
})

const DAY = 86_400
/** Whether these sessions count on both nodes. */
async function counts(tokens: readonly string[], node: Access): Promise<readonly boolean[]> {
  const found: boolean[] = []
  for (const token of tokens) {
    const here = (await access.identify(token)) !== undefined
    expect((await node.identify(token)) !== undefined).toBe(here)
    found.push(here)
  }
  return found
}

test('sessions without a factor end when one has to be there, on every node, and setting one up brings none back', async () => {
  const node = await fixture.otherNode()
  const before = [await fixture.token('ada'), await fixture.token('ada')]
  const group = await fixture.group({ name: 'Staff', scopes: [], second_factor_days: 2 })
  await access.updateUser(guid, { groups: [group] }, fixture.admin)
  fixture.pass(DAY)
  // The time begins with the first request, where no sign-in begins it.
  expect(await counts(before, node)).toEqual([true, true])
  const grace = await fixture.token('ada')
  fixture.pass(2 * DAY - 1)
  expect(await counts([...before, grace], node)).toEqual([true, true, true])
  fixture.pass(1)
  expect(await counts([...before, grace], node)).toEqual([false, false, false])
  const { challenge: text, setup } = await challenge()
  const { secret = '' } = setup as { secret?: string }
  const { access_token: after } = await access.factors.finishSignIn({
    ...{ challenge: String(text), code: codeOf(secret), ip: IP, agent },
  })
  expect(await counts([...before, grace, after], node)).toEqual([false, false, false, true])
})

test('the first factor ends all other sessions of its user, the next one none', async () => {
  const node = await fixture.otherNode()
  const thief = await fixture.token('ada')
  const [own, other] = [await fixture.token('ada'), await fixture.user({ username: 'bob' })]
  const bob = await fixture.token('bob')
  const by = await access.identify(own)
  if (!by) throw new Error('ada is not signed in.')
  const add = async () => {
    const { challenge: text, setup } = await access.factors.begin(by)
    await access.factors.add(by, { challenge: text, code: codeOf(setup.secret) })
    return setup.secret
  }
  const secret = await add()
  expect(await counts([thief, own, bob], node)).toEqual([false, true, true])
  fixture.pass(30)
  const { challenge: text } = await challenge()
  const second = await access.factors.finishSignIn({
    ...{ challenge: String(text), code: codeOf(secret), ip: IP, agent },
  })
  await add()
  expect(await counts([own, second.access_token, bob], node)).toEqual([true, true, true])
  expect(other).not.toBe(guid)
})

// Whether a session that is there counts when a group begins to require a factor at once.
test.each<[string, JsonObject, JsonObject, boolean]>([
  ['a user of the group', {}, {}, false],
  ['a user of a group that is not active', {}, { is_active: false }, true],
  ['an administrator of it', {}, { scopes: ['*'] }, false],
  [
    'an administrator who has the scope * from nowhere else',
    { custom_scopes: ['*'], groups: [] },
    { scopes: ['*'] },
    false,
  ],
  [
    'an administrator, where no group of administrators requires it',
    { custom_scopes: ['*'], groups: [] },
    {},
    true,
  ],
  ['another user, where a group of administrators requires it', { groups: [] }, { scopes: ['*'] }, true],
])('%s, when it is required', async (_who, user, group, isIn) => {
  const staff = await fixture.group({ name: 'Staff', scopes: [], ...group })
  await access.updateUser(guid, { groups: [staff], ...user }, fixture.admin)
  const token = await fixture.token('ada')
  const node = await fixture.otherNode()
  expect(await counts([token], node)).toEqual([true])
  await fixture.set(systemStorages.groups, staff, { second_factor_days: 0 })
  expect(await counts([token], node)).toEqual([isIn])
  // A sign-in says the same.
  const signedIn = await outcome(access.signIn({ username: 'ada', password: PASSWORD, ip: IP, agent }))
  expect(signedIn).toBe(isIn ? 'OK' : 'SECOND_FACTOR_REQUIRED')
})

test('a session of a provider that is trusted with the factor stays, as long as it is trusted', async () => {
  const provider = { title: 'Acme', issuer: 'https://id.example.com', client_id: 'quoin' }
  await access.providers.create({ name: 'acme', ...provider, trusts_factor: true }, fixture.admin)
  const acme = access.providers.find('acme')
  if (!acme) throw new Error('There is a provider.')
  const account = { provider: acme, issuer: provider.issuer, subject: 'ada' }
  await transact(fixture.database, (session) =>
    createAccount(session, account, { userGuid: guid, email: '', now: 0 }),
  )
  const staff = await fixture.group({ name: 'Staff', scopes: [], second_factor_days: 0 })
  await access.updateUser(guid, { groups: [staff] }, fixture.admin)
  const external = { ...account, verifiedEmail: undefined, claims: {}, sid: '', authenticated: 0 }
  const signedIn = await access.providerAccounts.signIn(external, { ip: IP, agent })
  const token = 'access_token' in signedIn ? signedIn.access_token : ''
  expect(await counts([token], access)).toEqual([true])
  await access.providers.update(acme.guid, { trusts_factor: false }, fixture.admin)
  fixture.pass(60)
  expect(await counts([token], access)).toEqual([false])
})
