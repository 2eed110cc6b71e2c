import { hash } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import type { TestAccess } from '../../test/open-test-access.ts'
import { IP, openTestAccess, outcome, PASSWORD } from '../../test/open-test-access.ts'
import { seededRandom } from '../../test/seeded-random.ts'
import type { JsonValue } from '../shared/json.ts'
import type { Mutation } from '../shared/mutation.ts'
import type { Session } from '../storage/database.ts'
import { transact } from '../storage/transact.ts'
import { createToken } from './tokens.ts'

let fixture: TestAccess
afterEach(() => fixture.close())

function signIn(username: string, password = PASSWORD, ip = IP) {
  return fixture.access.signIn({ username, password, ip })
}

describe('refused', () => {
  test('wrong password, unknown, inactive and removed user answer the same, and no token is made', async () => {
    fixture = await openTestAccess()
    await fixture.user({ username: 'ada' })
    await fixture.user({ username: 'idle', is_active: false })
    await fixture.access.removeUser(await fixture.user({ username: 'gone' }), fixture.admin)
    const before = await fixture.records('_tokens')
    const wrong: unknown[] = []
    for (const [name, password] of [
      ['ada', 'wrong horse battery'],
      ['ada', ''],
      ['ada', `${PASSWORD} `],
      ['nobody', PASSWORD],
      ['', PASSWORD],
      ['idle', PASSWORD],
      ['gone', PASSWORD],
    ] as const)
      wrong.push(
        await signIn(name, password).catch(({ code, message, status }) => ({ code, message, status })),
      )
    for (const error of wrong)
      expect(error).toEqual({
        code: 'INVALID_CREDENTIALS',
        message: 'The user name or the password is wrong.',
        status: 401,
      })
    expect(await fixture.records('_tokens')).toEqual(before)
  })

  test('what cannot be right is refused before any work', async () => {
    fixture = await openTestAccess()
    await expect(signIn('x'.repeat(255))).rejects.toMatchObject({
      code: 'INVALID_BODY',
      fields: ['username'],
    })
    for (const name of ['ad\u0000min', 'admin\ud800'])
      await expect(signIn(name)).rejects.toMatchObject({ code: 'INVALID_BODY', fields: ['username'] })
    await expect(signIn('admin', 'x'.repeat(1025))).rejects.toMatchObject({ fields: ['password'] })
    expect(await fixture.records('_signin_addresses')).toEqual([])
    expect(await fixture.records('_signin_names')).toEqual([])
  })
})

test('the reply has the shape of the contract and nothing else', async () => {
  fixture = await openTestAccess()
  const guid = await fixture.user({
    email: 'ada@example.com',
    first_name: 'Ada',
    last_name: 'L',
    language: 'nl',
  })
  const now = fixture.clock.now / 1000
  expect(await signIn('ada')).toEqual({
    access_token: expect.stringMatching(/^q1_[\w-]{43}$/),
    expiry: now + 1_209_600,
    expiry_renew: 1_209_600,
    verified: true,
    user: {
      _meta: { guid },
      username: 'ada',
      email: 'ada@example.com',
      firstname: 'Ada',
      lastname: 'L',
      language: 'nl',
    },
    ip: IP,
  })
  expect(await fixture.access.getUser(guid)).toMatchObject({ last_activity: now, login_attempts: 0 })
})

test.each(['ada', 'ADA', ' ada ', 'ada@example.com', 'Ada@Example.COM'])('signed in as %j', async (name) => {
  fixture = await openTestAccess()
  await fixture.user({ username: 'Ada', email: 'ada@example.com' })
  expect(await outcome(signIn(name))).toBe('OK')
})

test('only a hash of the token is stored', async () => {
  fixture = await openTestAccess()
  const { access_token } = await signIn('admin')
  const stored = JSON.stringify(await fixture.records('_tokens'))
  expect(stored).not.toContain(access_token)
  expect(stored).not.toContain(access_token.slice(3))
  expect(stored).toContain('"token_hash":"')
})

test('a hash with another cost is renewed by a sign-in, also by two at once, and not by a failed one', async () => {
  fixture = await openTestAccess()
  await fixture.user()
  const dearer = await fixture.otherNode({ passwordCost: { memory: 128, passes: 2, parallelism: 1 } })
  const stored = async () => (await fixture.records('_users')).find(({ username }) => username === 'ada')
  const attempt = (password: string) => outcome(dearer.signIn({ username: 'ada', password, ip: IP }))
  expect(await attempt('wrong horse battery')).toBe('INVALID_CREDENTIALS')
  expect(await stored()).toMatchObject({ password_hash: expect.stringContaining('$m=64,t=1,p=1$') })
  expect(await Promise.all([attempt(PASSWORD), attempt(PASSWORD)])).toEqual(['OK', 'OK'])
  expect(await stored()).toMatchObject({ password_hash: expect.stringContaining('$m=128,t=2,p=1$') })
  expect(await attempt(PASSWORD)).toBe('OK')
})

test('a password that is changed while the old one is being checked no longer signs in', async () => {
  fixture = await openTestAccess()
  const guid = await fixture.user()
  const late = Array.from({ length: 6 }, () => outcome(signIn('ada')))
  const changed = fixture.access.updateUser(guid, { password: 'another password' }, fixture.admin)
  const ends = await Promise.all(late)
  await changed
  for (const end of ends) expect(['OK', 'INVALID_CREDENTIALS']).toContain(end)
  // A user who signed in before the change was signed out by it.
  const left = (await fixture.records('_tokens')).filter(({ user_guid }) => user_guid === guid)
  expect(left).toEqual([])
  expect(await outcome(signIn('ada'))).toBe('INVALID_CREDENTIALS')
  expect(await outcome(signIn('ada', 'another password'))).toBe('OK')
})

describe('what happens between the check of the password and the verdict counts', () => {
  const set = (field: string, value: JsonValue): Mutation => ({ op: 'set', field, value })
  test.each<[string, string, (session: Session, guid: string) => unknown]>([
    [
      'a lock',
      'TOO_MANY_LOGIN_ATTEMPTS',
      (session, guid) =>
        session.create('_signin_names', [
          set('key', hash('sha256', `user\n${guid}\n`, 'hex')),
          set('places', [{ place: '*', failed: 100, locked_until: 4_000_000_000, until: 4_000_000_000 }]),
        ]),
    ],
    [
      'an address that is used up',
      'TOO_MANY_LOGIN_ATTEMPTS',
      (session) =>
        session.create('_signin_addresses', [
          set('key', IP),
          set('failed', 100),
          set('until', 4_000_000_000),
        ]),
    ],
    [
      'deactivation',
      'INVALID_CREDENTIALS',
      (session, guid) => session.update('_users', guid, [set('is_active', false)]),
    ],
    ['removal', 'INVALID_CREDENTIALS', (session, guid) => session.setRemoved('_users', guid, true)],
    ['nothing', 'OK', () => undefined],
  ])('%s: %s', async (_name, expected, change) => {
    fixture = await openTestAccess()
    const guid = await fixture.user()
    let armed = false
    // The salt of the renewed hash is asked for just then. SQLite writes at once, so the change is in before the verdict.
    const random = seededRandom(50)
    const node = await fixture.otherNode(
      { passwordCost: { memory: 128, passes: 1, parallelism: 1 } },
      (bytes) => {
        random(bytes)
        if (!armed) return
        armed = false
        const session = fixture.database.session()
        change(session, guid)
        changed = Promise.resolve(session.transaction.commit())
      },
    )
    let changed: Promise<void> | undefined
    armed = true
    expect(await outcome(node.signIn({ username: 'ada', password: PASSWORD, ip: IP }))).toBe(expected)
    expect(changed).toBeDefined()
    await changed
    const tokens = (await fixture.records('_tokens')).filter(({ user_guid }) => user_guid === guid)
    expect(tokens).toHaveLength(expected === 'OK' ? 1 : 0)
  })
})

test('expired tokens are deleted by later sign-ins', async () => {
  fixture = await openTestAccess({ tokenSeconds: 100 })
  for (let count = 0; count < 5; count++) await signIn('admin')
  fixture.pass(101)
  await signIn('admin')
  expect(await fixture.records('_tokens')).toHaveLength(1)
})

test('a user has at most 100 tokens: the one used longest ago goes, and none of other users', async () => {
  fixture = await openTestAccess()
  const guid = await fixture.user({ username: 'ann' })
  await fixture.user({ username: 'bob' })
  const others = await fixture.token('bob')
  const [first, second] = [await fixture.token('ann'), await fixture.token('ann')]
  for (let count = 2; count < 100; count++) {
    fixture.pass(1)
    await fixture.token('ann')
  }
  // An hour later use is written down.
  fixture.pass(3_600)
  expect(await fixture.access.identify(first)).toBeDefined()
  const newest = await fixture.token('ann')
  expect(await fixture.access.identify(second)).toBeUndefined()
  for (const token of [first, newest, others]) expect(await fixture.access.identify(token)).toBeDefined()
  const tokens = await fixture.records('_tokens')
  expect(tokens.filter(({ user_guid }) => user_guid === guid)).toHaveLength(100)
})

test('of far too many tokens, from before there was a limit, the newest 100 are left', async () => {
  fixture = await openTestAccess()
  const userGuid = await fixture.user({ username: 'ann' })
  const random = seededRandom(7)
  await transact(fixture.database, async (session) => {
    for (let count = 0; count < 300; count++)
      await createToken(session, random, {
        userGuid,
        ip: '',
        agent: '',
        created: 0,
        expiry: 4_000_000_000 + count,
      })
  })
  await fixture.token('ann')
  const left = (await fixture.records('_tokens')).filter((token) => token.user_guid === userGuid)
  const expiries = left.map(({ expiry }) => Number(expiry)).toSorted((a, b) => b - a)
  expect(left).toHaveLength(100)
  expect(expiries[98]).toBe(4_000_000_000 + 201)
})
