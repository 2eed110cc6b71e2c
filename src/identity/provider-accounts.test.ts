/** Accounts at sign-in providers: whom they sign in, and whom another provider of the cluster does not. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { IP, openTestAccess, outcome, PASSWORD, type TestAccess } from '../../test/open-test-access.ts'
import { softwareAuthenticator } from '../../test/software-authenticator.ts'
import type { ProviderChanges } from '../shared/api/people/sign-in-providers.ts'
import { QuoinError } from '../shared/errors.ts'
import { search } from '../shared/query.ts'
import { guidOf, objectsIn } from '../storage/document-fields.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { ProviderUser } from './provider-accounts.ts'
import type { SignInProvider } from './sign-in-providers.ts'

const origin = 'https://club.example.com'
const sender = { ip: IP, agent: 'a browser' }
const email = 'ada@acme.test'
let fixture: TestAccess
beforeEach(async () => {
  const links = { publicUrl: origin, siteName: 'Club', signUp: undefined }
  fixture = await openTestAccess({ publicUrl: origin, siteName: 'Club', links })
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
  return { provider, issuer: provider.issuer, subject, verifiedEmail, claims: {}, sid: '', authenticated: 0 }
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
  const third = await addProvider('third')
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
    'an account that is not linked yet': () => enter(from(third, 'ada-abroad')),
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

test('a second account of a provider is not linked by its address, and changes nothing', async () => {
  const guid = await addUser()
  const acme = await addProvider('acme', { create_users: true })
  const other = await addProvider('other')
  expect(await outcome(enter(from(acme, 'ada')))).toBe('OK')
  const before = await stored()
  expect(await refusal(enter(from(acme, 'her-successor')))).toEqual(['INVALID_CREDENTIALS', 'linked'])
  expect(await stored()).toEqual(before)
  // An account elsewhere is another one, and the same one signs in again.
  expect(await outcome(enter(from(other, 'ada')))).toBe('OK')
  expect(await outcome(enter(from(acme, 'ada')))).toBe('OK')
  // Another issuer has other accounts: those of before can no longer come.
  await fixture.access.providers.update(acme.guid, { issuer: 'https://new.acme.example' }, fixture.admin)
  const moved = fixture.access.providers.find('acme') ?? acme
  expect(await outcome(enter(from(moved, 'ada-after-the-move')))).toBe('OK')
  expect(await subjectsOf(guid)).toEqual(['ada', 'ada', 'ada-after-the-move'])
  expect(await sentMails()).toEqual([
    [email, 'An account of ACME now signs you in at Club'],
    [email, 'An account of OTHER now signs you in at Club'],
    [email, 'An account of ACME now signs you in at Club'],
  ])
})

const subjectsOf = async (guid: string) =>
  (await fixture.access.providerAccounts.list(guid)).map(({ subject }) => String(subject)).toSorted()

/** The mails that wait: to whom, and their subject. */
async function sentMails(): Promise<unknown[]> {
  const { jobs } = fixture.database.capabilities
  const waiting = await jobs.claim({ owner: 'test', leaseMs: 60_000, limit: 100 })
  return Promise.all(
    waiting.map(async ({ payload }) => {
      const [account] = objectsIn([payload.account ?? null])
      const mail = await fixture.access.links.mailOf(account ?? {})
      return [mail?.to.map(({ address }) => address).join(), mail?.subject]
    }),
  )
}

test('a new user of a provider gets no mail about it, and an account by SCIM does', async () => {
  const acme = await addProvider('acme', { create_users: true, external_id_claim: 'oid' })
  expect(await outcome(enter(from(acme, 'bob', 'bob@acme.test')))).toBe('OK')
  expect(await sentMails()).toEqual([])
  const guid = await addUser()
  await fixture.set(systemStorages.users, guid, { external_id: 'o-1', language: 'de-AT' })
  expect(
    await outcome(enter({ ...from(acme, 'ada', ''), verifiedEmail: undefined, claims: { oid: 'o-1' } })),
  ).toBe('OK')
  expect(await sentMails()).toEqual([[email, 'Ein Konto bei ACME meldet Sie jetzt bei Club an']])
})

test('an account that is ended signs in no more, and takes its sessions along but that of the caller', async () => {
  const guid = await addUser({ custom_scopes: ['boss'] })
  const acme = await addProvider('acme')
  const other = await addProvider('other')
  const sessionAt = async (provider: SignInProvider) => {
    const entered = await enter(from(provider, `ada-${provider.name}`))
    if (!('access_token' in entered)) throw new Error('No factor is needed.')
    return entered.access_token
  }
  const [first, second, elsewhere] = [await sessionAt(acme), await sessionAt(acme), await sessionAt(other)]
  const bob = await fixture.user({ username: 'bob' })
  const { providerAccounts, identify } = fixture.access
  const own = await identify(first)
  const account = (await providerAccounts.list(guid)).find(({ provider }) => provider === 'acme')
  if (!own || !account) throw new Error('There is an account.')
  const asKey = { ...own, key: { name: 'k', mayCall: () => true } }
  const refused = [
    ['by who lacks a scope of the user', guid, await fixture.identity('bob'), 'INSUFFICIENT_PERMISSIONS'],
    ['of another user', bob, fixture.admin, 'NOT_FOUND'],
    ['with an API key', guid, asKey, 'INSUFFICIENT_PERMISSIONS'],
  ] as const
  for (const [name, user, by, code] of refused)
    expect([name, await outcome(providerAccounts.end(user, guidOf(account), by))]).toEqual([name, code])
  expect(await subjectsOf(guid)).toEqual(['ada-acme', 'ada-other'])
  await providerAccounts.end(guid, guidOf(account), own)
  expect(await subjectsOf(guid)).toEqual(['ada-other'])
  const present = await Promise.all(
    [first, second, elsewhere].map(async (token) => (await identify(token))?.guid),
  )
  expect(present).toEqual([guid, undefined, guid])
  expect((await sentMails()).at(-1)).toEqual([email, 'An account of ACME no longer signs you in at Club'])
})

test('who signs in with one account alone cannot end it, but an administrator can', async () => {
  const acme = await addProvider('acme', { create_users: true })
  const entered = await enter(from(acme, 'bob', 'bob@acme.test'))
  if (!('access_token' in entered)) throw new Error('No factor is needed.')
  const { providerAccounts } = fixture.access
  const own = await fixture.access.identify(entered.access_token)
  if (!own) throw new Error('There is a session.')
  const [account] = await providerAccounts.list(own.guid)
  if (!account) throw new Error('There is an account.')
  expect(await outcome(providerAccounts.end(own.guid, guidOf(account), own))).toBe('CONFLICT')
  expect(await subjectsOf(own.guid)).toEqual(['bob'])
  await providerAccounts.end(own.guid, guidOf(account), fixture.admin)
  expect(await subjectsOf(own.guid)).toEqual([])
  expect(await fixture.access.identify(entered.access_token)).toBeUndefined()
})
