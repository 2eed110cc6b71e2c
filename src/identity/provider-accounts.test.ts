/** Accounts at sign-in providers: whom they sign in, and whom another provider of the cluster does not. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { IP, openTestAccess, outcome, PASSWORD, type TestAccess } from '../../test/open-test-access.ts'
import { softwareAuthenticator } from '../../test/software-authenticator.ts'
import type { ProviderChanges } from '../shared/api/people/sign-in-providers.ts'
import { QuoinError } from '../shared/errors.ts'
import { search } from '../shared/query.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { ProviderUser } from './provider-accounts.ts'
import type { SignInProvider } from './sign-in-providers.ts'

const origin = 'https://club.example.com'
const sender = { ip: IP, agent: 'a browser' }
const email = 'ada@acme.test'
let fixture: TestAccess
beforeEach(async () => {
  fixture = await openTestAccess({ publicUrl: origin, siteName: 'Club' })
})
afterEach(() => fixture.close())

async function addProvider(name: string, fields: ProviderChanges = {}): Promise<SignInProvider> {
  const about = { title: name.toUpperCase(), issuer: `https://${name}.example`, client_id: 'quoin' }
  await fixture.access.providers.create({ name, ...about, ...fields }, fixture.admin)
  const made = fixture.access.providers.find(name)
  if (!made) throw new Error('There is a provider.')
  return made
}

/** A user whose address is confirmed. */
async function addUser(fields: { readonly custom_scopes?: string[] } = {}): Promise<string> {
  const guid = await fixture.user({ email, ...fields })
  await fixture.set(systemStorages.users, guid, { confirmed_email: email })
  return guid
}

/** Who has signed in at a provider: `subject` is the account there. */
function from(
  provider: SignInProvider,
  subject: string,
  verifiedEmail: string | undefined = email,
): ProviderUser {
  return { provider, issuer: provider.issuer, subject, verifiedEmail, claims: {}, sid: '' }
}

const enter = (user: ProviderUser) => fixture.access.providerAccounts.signIn(user, sender)

/** The code of the error, and which provider it names. */
async function refusal(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
    return 'OK'
  } catch (error) {
    if (error instanceof QuoinError) return [error.code, error.details?.provider ?? error.details?.reason]
    throw error
  }
}

test('a domain that requires a provider takes no password, no passkey and no account of another provider', async () => {
  const guid = await addUser()
  const acme = await addProvider('acme')
  const other = await addProvider('other', { create_users: true })
  const authenticator = softwareAuthenticator({ origin, host: 'club.example.com', counts: true })
  const ada = await fixture.identity('ada')
  const { passkeys } = fixture.access
  const { passkey, sent } = authenticator.create(await passkeys.toAdd(ada))
  await passkeys.add(ada, { name: 'Laptop', passkey: sent })
  const ways = {
    password: () => fixture.access.signIn({ username: 'ada', password: PASSWORD, ...sender }),
    passkey: () =>
      passkeys.signIn({ passkey: passkey.get(passkeys.toSignIn('cookie')), browser: 'cookie', ...sender }),
    'an account that was linked before': () => enter(from(other, 'ada-at-home')),
    'an account that is not linked yet': () => enter(from(other, 'ada-abroad')),
    'a new user with such an address': () => enter(from(other, 'bob', 'bob@acme.test')),
  }
  // Each of them signs in while nothing requires the provider; the password asks for the passkey behind it.
  expect(await outcome(ways.password())).toBe('SECOND_FACTOR_REQUIRED')
  expect(await outcome(ways.passkey())).toBe('OK')
  expect(await outcome(ways['an account that was linked before']())).toBe('OK')
  await fixture.access.providers.update(acme.guid, { required_domains: ['acme.test'] }, fixture.admin)
  const before = await stored()
  for (const [way, tried] of Object.entries(ways))
    expect([way, await refusal(tried())]).toEqual([way, ['INSUFFICIENT_PERMISSIONS', 'acme']])
  expect(await stored()).toEqual(before)
  expect(await outcome(enter(from(acme, 'ada-at-acme')))).toBe('OK')
  expect(
    (await fixture.access.searchUsers(search({ limit: 10 }))).records.map(({ username }) => username),
  ).not.toContain('bob@acme.test')
  expect((await fixture.access.sessions.list(guid, undefined)).length).toBeGreaterThan(1)
})

/** What a refused sign-in must not add to. */
async function stored(): Promise<unknown> {
  const names = [systemStorages.tokens, systemStorages.providerAccounts, systemStorages.signInChallenges]
  return Promise.all(names.map((name) => fixture.records(name)))
}

test('an administrator of such a domain signs in by password, and by no account of another provider', async () => {
  await addUser({ custom_scopes: ['*'] })
  await addProvider('acme', { required_domains: ['acme.test'] })
  const other = await addProvider('other')
  expect(await refusal(enter(from(other, 'ada')))).toEqual(['INSUFFICIENT_PERMISSIONS', 'acme'])
  expect(await outcome(fixture.access.signIn({ username: 'ada', password: PASSWORD, ...sender }))).toBe('OK')
})

test('any of the providers that a domain requires signs in, and one that is not active requires nothing', async () => {
  await addUser()
  const acme = await addProvider('acme', { required_domains: ['acme.test'] })
  const second = await addProvider('second', { required_domains: ['acme.test'] })
  const other = await addProvider('other')
  expect(await outcome(enter(from(acme, 'ada')))).toBe('OK')
  expect(await outcome(enter(from(second, 'ada')))).toBe('OK')
  expect(await outcome(enter(from(other, 'ada')))).toBe('INSUFFICIENT_PERMISSIONS')
  for (const { guid } of [acme, second])
    await fixture.access.providers.update(guid, { is_active: false }, fixture.admin)
  expect(await outcome(enter(from(other, 'ada')))).toBe('OK')
})
