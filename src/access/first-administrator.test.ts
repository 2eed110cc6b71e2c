import { afterEach, beforeEach, expect, test } from 'vitest'
import { IP, outcome, testSettings } from '../../test/open-test-access.ts'
import { seededRandom } from '../../test/seeded-random.ts'
import type { TestDatabase } from '../../test/test-database.ts'
import { openTestDatabase } from '../../test/test-database.ts'
import { secretKeys, signingSecret } from '../records/secrets/signing-secret.ts'
import { search } from '../shared/query.ts'
import { type Access, openAccess } from './access.ts'
import type { AccessSettings } from './access-context.ts'

const secret = signingSecret(Buffer.alloc(32, 1))
let temporary: TestDatabase
beforeEach(async () => {
  temporary = await openTestDatabase()
})
afterEach(() => temporary.close())

function open(seed = 1, more: Partial<AccessSettings> = {}): Promise<Access> {
  const { database, clock } = temporary
  const settings = { ...testSettings, ...more }
  return openAccess({ database, clock, random: seededRandom(seed), settings, secret })
}

async function usernames(access: Access) {
  return (await access.searchUsers(search())).records.map(({ username }) => username)
}

test('refused with a password that is too short; no user is created', async () => {
  const access = await open()
  await expect(access.ensureAdministrator('admin')).rejects.toMatchObject({
    code: 'INVALID_BODY',
    fields: ['password'],
  })
  expect(await usernames(access)).toEqual([])
})

test.each(['CHANGE-this-password', 'changeme-changeme-too', 'qwertyuiop', 'administrators'])(
  'refused with the password %s; no user is created, and a cluster with users starts all the same',
  async (password) => {
    const access = await open()
    await expect(access.ensureAdministrator(password)).rejects.toMatchObject({ fields: ['password'] })
    expect(await usernames(access)).toEqual([])
    await access.ensureAdministrator('correct horse')
    expect(await access.ensureAdministrator(password)).toBeUndefined()
  },
)

test('there is no way in before there is an administrator', async () => {
  const access = await open()
  for (const password of ['', 'admin', 'password'])
    expect(await outcome(access.signIn({ username: 'admin', password, ip: IP }))).toBe('INVALID_CREDENTIALS')
})

test('with a random password, told once', async () => {
  const access = await open()
  const made = await access.ensureAdministrator(undefined)
  expect(made?.username).toBe('admin')
  expect(made?.password).toMatch(/^([a-z1-9]{5}-){3}[a-z1-9]{5}$/)
  const { access_token } = await access.signIn({ username: 'admin', password: made?.password ?? '', ip: IP })
  expect([...((await access.identify(access_token))?.scopes ?? [])]).toEqual(['*'])
  expect(await access.ensureAdministrator(undefined)).toBeUndefined()
  expect(await access.ensureAdministrator('another password')).toBeUndefined()
  expect(await usernames(access)).toEqual(['admin'])
})

test('with the password given, which is not told', async () => {
  const access = await open()
  expect(await access.ensureAdministrator('correct horse')).toEqual({
    guid: expect.any(String),
    username: 'admin',
    password: undefined,
  })
  expect(await outcome(access.signIn({ username: 'admin', password: 'correct horse', ip: IP }))).toBe('OK')
})

test('two random passwords differ', async () => {
  const passwords = new Set<string | undefined>()
  for (const seed of [1, 2]) {
    const access = await open(seed)
    passwords.add((await access.ensureAdministrator(undefined))?.password)
    await temporary.close()
    temporary = await openTestDatabase()
  }
  expect(passwords.size).toBe(2)
})

test('nodes that start together make one, and only one tells a password', async () => {
  const nodes = await Promise.all([1, 2, 3].map((seed) => open(seed)))
  const made = await Promise.all(nodes.map((node) => node.ensureAdministrator(undefined)))
  expect(made.filter((one) => one !== undefined)).toHaveLength(1)
  for (const node of nodes) expect(await usernames(node)).toEqual(['admin'])
})

test('not made again after a restart, and existing users can still sign in', async () => {
  await (await open()).ensureAdministrator('correct horse')
  const { clock } = temporary
  const database = await temporary.reopen()
  const again = await openAccess({ database, clock, random: seededRandom(2), settings: testSettings, secret })
  expect(await again.ensureAdministrator(undefined)).toBeUndefined()
  expect(await outcome(again.signIn({ username: 'admin', password: 'correct horse', ip: IP }))).toBe('OK')
})

const withKey = { secretKeys: secretKeys('0f'.repeat(32), []) }

test.each([
  ['where none is asked for', false, withKey, 0],
  ['where no app and no passkey can be added', true, {}, 0],
  ['where a passkey would be bound to an IP address', true, { publicUrl: 'https://192.0.2.7' }, 0],
  ['where passkeys need no key', true, { publicUrl: 'https://club.example.com' }, 7 * 86_400],
  ['in production', true, withKey, 7 * 86_400],
])(
  '%s the first administrator needs a second factor after so many seconds',
  async (_where, protect, more, due) => {
    const access = await open(1, more)
    await access.ensureGroups(protect)
    const made = await access.ensureAdministrator('correct horse battery')
    const signedIn = await access.signIn({ username: 'admin', password: 'correct horse battery', ip: IP })
    const now = Math.floor(temporary.clock.now / 1000)
    expect('second_factor_due' in signedIn ? signedIn.second_factor_due : 0).toBe(due && now + due)
    expect((await access.scopesOfUser(made?.guid ?? ''))?.has('*')).toBe(true)
    expect(await access.countUnprotected()).toBe(1)
  },
)

test('groups and administrators that are there are not changed by a start in production', async () => {
  const before = await open(1, withKey)
  await before.ensureGroups(false)
  await before.ensureAdministrator('correct horse battery')
  const after = await open(2, withKey)
  await after.ensureGroups(true)
  const { records } = await after.searchGroups(search({ limit: 100 }))
  expect(records.map((group) => group.second_factor_days)).toEqual(records.map(() => null))
  expect(records).toHaveLength(5)
})
