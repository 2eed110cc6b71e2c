/** A passkey that is set up inside a sign-in, where a group of the user requires a factor. */
import { TOTP } from 'otpauth'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { IP, openTestAccess, outcome, PASSWORD, type TestAccess } from '../../test/open-test-access.ts'
import { softwareAuthenticator } from '../../test/software-authenticator.ts'
import type { Access } from '../access/access.ts'
import type { Identity } from '../access/identity-cache.ts'
import { secretKeys } from '../records/secrets/signing-secret.ts'
import { QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'

const origin = 'https://club.example.com'
const host = 'club.example.com'
const agent = 'a browser'
const sender = { ip: IP, agent }
const authenticator = softwareAuthenticator({ origin, host, counts: true })
let fixture: TestAccess
let access: Access
let guid: string
let ada: Identity
beforeEach(async () => {
  fixture = await openTestAccess({
    ...{ publicUrl: origin, siteName: 'Club', secretKeys: secretKeys('0f'.repeat(32), []) },
  })
  access = fixture.access
  guid = await fixture.user()
  ada = await fixture.identity('ada')
})
afterEach(() => fixture.close())

async function requireFactor(user: string): Promise<void> {
  const group = await fixture.group({ name: 'Staff', scopes: [], second_factor_days: 0 })
  await access.updateUser(user, { groups: [group] }, fixture.admin)
}
/** By a session that the user has already. */
async function addApp(): Promise<void> {
  const { challenge, setup: made } = await access.factors.begin(ada)
  const secret = new TOTP({ secret: made.secret }).secret
  await access.factors.add(ada, { challenge, code: TOTP.generate({ secret, timestamp: fixture.clock.now }) })
}
/** The details of a sign-in whose password was right. */
async function halfSignedIn(username = 'ada', node = access): Promise<JsonObject> {
  const refused: unknown = await node
    .signIn({ username, password: PASSWORD, ...sender })
    .catch((error: unknown) => error)
  if (refused instanceof QuoinError && refused.code === 'SECOND_FACTOR_REQUIRED') return refused.details ?? {}
  throw new Error(`The sign-in of ${username} needed no second factor.`)
}
async function setup(username = 'ada', node = access) {
  const details = await halfSignedIn(username, node)
  return { challenge: String(details.challenge), setup: details.setup }
}
async function creation(of: string) {
  const options = await access.passkeys.toSetUp(of, { agent })
  if (!options) throw new Error('The challenge sets up no factor.')
  return options
}

test('a sign-in that has to set up a factor takes a new passkey, once, for its challenge and browser', async () => {
  await requireFactor(guid)
  const begun = await setup()
  expect(begun.setup).toMatchObject({ passkey: true })
  const options = await creation(begun.challenge)
  expect(options).toMatchObject({ rp: { id: host }, user: { name: 'ada' }, excludeCredentials: [] })
  expect(await access.passkeys.toSetUp(begun.challenge, { agent: 'another browser' })).toBeUndefined()
  expect(await access.passkeys.toFinish(begun.challenge, { agent })).toBeUndefined()
  const { passkey, sent } = authenticator.create(options)
  const setUp = (of: string, change: Partial<typeof sender & { name: string }> = {}) =>
    access.passkeys.setUp({ name: 'Phone', passkey: sent, challenge: of, ...sender, ...change })
  const other = (await setup()).challenge
  expect(await outcome(setUp(other))).toBe('INVALID_BODY')
  expect(await outcome(setUp(begun.challenge, { agent: 'another browser' }))).toBe('INVALID_CREDENTIALS')
  expect(await outcome(setUp(begun.challenge, { name: ' ' }))).toBe('INVALID_BODY')
  expect(await access.passkeys.list(guid)).toEqual([])
  const done = await setUp(begun.challenge)
  expect(done.recovery_codes).toHaveLength(10)
  expect(await access.identify(done.access_token)).toMatchObject({ guid })
  expect(await outcome(setUp(begun.challenge))).toBe('INVALID_CREDENTIALS')
  const late = authenticator.create(await creation(other)).sent
  expect(
    await outcome(access.passkeys.setUp({ name: 'Late', passkey: late, challenge: other, ...sender })),
  ).toBe('INVALID_CREDENTIALS')
  expect(await access.passkeys.list(guid)).toMatchObject([{ name: 'Phone' }])
  const key = passkey.get(access.passkeys.toSignIn('a cookie'))
  expect(await outcome(access.passkeys.signIn({ passkey: key, browser: 'a cookie', ...sender }))).toBe('OK')
  expect((await halfSignedIn()).passkey).toBe(true)
  // Without a factor again, the used challenge still sets none up.
  await access.factors.remove(guid, fixture.admin)
  expect(await outcome(setUp(begun.challenge))).toBe('INVALID_CREDENTIALS')
})

test.each<[string, (begun: string) => Promise<unknown>]>([
  [
    'the user has another password',
    () => access.updateUser(guid, { password: 'another good one' }, fixture.admin),
  ],
  ['the user is deactivated', () => access.updateUser(guid, { is_active: false }, fixture.admin)],
  ['five minutes have passed', async () => fixture.pass(300)],
  ['an app was set up meanwhile', async () => addApp()],
])('a passkey is not set up in a sign-in where %s', async (_name, change) => {
  await requireFactor(guid)
  const begun = (await setup()).challenge
  const { sent } = authenticator.create(await creation(begun))
  await change(begun)
  expect(
    await outcome(access.passkeys.setUp({ name: 'Phone', passkey: sent, challenge: begun, ...sender })),
  ).toBe('INVALID_CREDENTIALS')
  expect(await access.passkeys.list(guid)).toEqual([])
})

test('a challenge of a sign-in that has a factor sets nothing up; without a host name nothing is offered', async () => {
  const { sent } = authenticator.create(await access.passkeys.toAdd(ada))
  await access.passkeys.add(ada, { name: 'Laptop', passkey: sent })
  const asked = await halfSignedIn()
  expect([asked.passkey, asked.setup]).toEqual([true, undefined])
  expect(await access.passkeys.toSetUp(String(asked.challenge), { agent })).toBeUndefined()
  await fixture.user({ username: 'bob' })
  const bob = await fixture.identity('bob')
  await requireFactor(bob.guid)
  const elsewhere = await fixture.otherNode({ publicUrl: 'http://192.0.2.7:8080' })
  const begun = await setup('bob', elsewhere)
  expect(begun.setup).toMatchObject({ passkey: false })
  expect(await outcome(elsewhere.passkeys.toSetUp(begun.challenge, { agent }))).toBe('CONFLICT')
})

test('without a key for secrets a passkey alone is offered, and the refusal says what the operator sets', async () => {
  await requireFactor(guid)
  const node = await fixture.otherNode({ publicUrl: origin, secretKeys: secretKeys('', []) })
  const begun = await setup('ada', node)
  expect(begun.setup).toEqual({
    passkey: true,
    missing: expect.stringContaining('QUOIN_SECRETS_KEY is not set.'),
  })
  expect(await node.factors.openChallenge(begun.challenge, { agent })).toEqual({ kind: 'setup' })
  for (const code of ['', '000000', '287082'])
    expect(await outcome(node.factors.finishSignIn({ challenge: begun.challenge, code, ...sender }))).toBe(
      'INVALID_CREDENTIALS',
    )
  expect(await outcome(node.factors.begin(ada))).toBe('CONFLICT')
  const options = await node.passkeys.toSetUp(begun.challenge, { agent })
  if (!options) throw new Error('The challenge sets up no passkey.')
  const { sent } = authenticator.create(options)
  const done = await node.passkeys.setUp({
    name: 'Phone',
    passkey: sent,
    challenge: begun.challenge,
    ...sender,
  })
  expect(done.recovery_codes).toHaveLength(10)
  // Where there are no passkeys either, nothing can be set up.
  await fixture.user({ username: 'bob' })
  await requireFactor((await fixture.identity('bob')).guid)
  const bare = await fixture.otherNode({ publicUrl: '', secretKeys: secretKeys('', []) })
  expect(await outcome(bare.signIn({ username: 'bob', password: PASSWORD, ...sender }))).toBe('CONFLICT')
})
