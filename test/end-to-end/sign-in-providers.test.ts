/** Users who sign in with a real provider of OpenID Connect, or with GitHub: who gets in, as whom, and with which groups and factors. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { findAll } from '../../src/storage/find-documents.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { clientSecret, openBrowser } from '../oidc-server.ts'
import { guidOf, objectOf, objectsOf, userPassword } from './harness.ts'
import { signInFixture } from './sign-in-provider-fixture.ts'

const { world, change, someone, start, userIn, refusal } = signInFixture()

test('a new user signs in with the provider and goes on where the address said', async () => {
  const subject = someone()
  const browser = openBrowser()
  expect((await browser.visit(`${world.site}/login?next=%2Fdocs`)).text).toContain('Sign in with Acme')
  const { url, status } = await browser.visit(start())
  expect([url.pathname, status]).toEqual(['/docs', 200])
  expect(await userIn(browser)).toMatchObject({ username: `${subject}@acme.test`, firstname: 'Ada' })
  const again = openBrowser()
  await again.visit(start())
  expect(guidOf(await userIn(again))).toBe(guidOf(await userIn(browser)))
  const audit = objectsOf(await world.quoin.manage('POST', '/_system/auditlogs', { limit: 20 }))
  expect(audit.map(({ category, action }) => `${category} ${action}`)).toContain('provider_accounts created')
  expect(JSON.stringify(audit)).not.toContain(clientSecret)
})

test('the secret of its client says which provider uses it, also where the provider is not active', async () => {
  await change({ is_active: false })
  const [secret] = objectsOf(await world.quoin.manage('POST', '/_system/secrets/search', {}))
  expect(secret).toMatchObject({ name: 'acme_client', used_by: [], sent_by: [], signs_in: ['acme'] })
})

test('a provider that may create no users refuses unknown ones, and those of other domains', async () => {
  someone()
  await change({ create_users: false })
  expect(await refusal(openBrowser())).toContain('has no access here')
  await change({ create_users: true, domains: ['other.test'] })
  expect(await refusal(openBrowser())).toContain('has no access here')
  await change({ domains: ['acme.test'] })
  someone({ email_verified: false })
  expect(await refusal(openBrowser())).toContain('has no access here')
})

test('an account is linked only when the provider and the user have both confirmed its address', async () => {
  const subject = someone()
  const email = `${subject}@acme.test`
  const body = { username: subject, email, password: userPassword }
  const guid = guidOf(await world.quoin.manage('POST', '/users', body))
  expect(await refusal(openBrowser())).toContain('was not confirmed')
  const session = world.quoin.quoin.database.session()
  await session.update(systemStorages.users, guid, [{ op: 'set', field: 'confirmed_email', value: email }])
  await session.transaction.commit()
  world.oidc.accounts.set(subject, { email, email_verified: false })
  const unverified = openBrowser()
  await unverified.visit(start())
  expect(guidOf(await userIn(unverified))).not.toBe(guid)
  // The same address at another account of the provider, verified there.
  const other = someone({ email })
  const browser = openBrowser()
  await browser.visit(start())
  expect(guidOf(await userIn(browser))).toBe(guid)
  const ofUser = { kind: 'term', field: 'user_guid', value: guid } as const
  const stored = await findAll(
    world.quoin.quoin.database.session(),
    systemStorages.providerAccounts,
    ofUser,
    10,
  )
  expect(stored).toMatchObject([{ subject: other }])
})

test('a user of SCIM is found by the claim that the provider names, and by no other', async () => {
  const subject = someone({ email_verified: false })
  const guid = guidOf(
    await world.quoin.manage('POST', '/users', { username: subject, password: userPassword }),
  )
  const session = world.quoin.quoin.database.session()
  await session.update(systemStorages.users, guid, [{ op: 'set', field: 'external_id', value: subject }])
  await session.transaction.commit()
  await change({ create_users: false })
  for (const claim of ['', 'email', 'constructor']) {
    await change({ external_id_claim: claim })
    expect(await refusal(openBrowser())).toContain('has no access here')
  }
  await change({ external_id_claim: 'sub' })
  const browser = openBrowser()
  await browser.visit(start())
  expect(guidOf(await userIn(browser))).toBe(guid)
  // From then on the account is known, whatever the claim is.
  await change({ external_id_claim: '' })
  const again = openBrowser()
  await again.visit(start())
  expect(guidOf(await userIn(again))).toBe(guid)
})

test('groups follow an expression over the claims, within the groups of the provider', async () => {
  const group = async (name: string) =>
    guidOf(
      await world.quoin.manage('POST', '/_system/authentication-groups', {
        name: `${name} ${world.run} ${world.counted()}`,
        scopes: [],
      }),
    )
  const nameOf = (name: string, at = world.counted()) => `${name} ${world.run} ${at}`
  const at = world.counted()
  const [sales, staff, own] = [await group('Sales'), await group('Staff'), await group('Own')]
  await change({ groups: [sales, staff], groups_expression: 'claims.groups' })
  const subject = someone({ groups: [nameOf('sales', at), nameOf('Own', at), 'unknown'] })
  const browser = openBrowser()
  await browser.visit(start())
  const user = objectOf(await userIn(browser))
  expect(user.groups).toEqual([sales])
  await world.quoin.manage('PUT', `/users/${guidOf(user)}`, { groups: [sales, own] })
  world.oidc.accounts.set(subject, { groups: [nameOf('Staff', at)] })
  await openBrowser().visit(start())
  expect(objectOf(await world.quoin.manage('GET', `/users/${guidOf(user)}`)).groups).toEqual([own, staff])
  world.oidc.accounts.set(subject, {})
  await openBrowser().visit(start())
  expect(objectOf(await world.quoin.manage('GET', `/users/${guidOf(user)}`)).groups).toEqual([own])
  // An expression that fails takes no group away.
  await change({ groups_expression: '1 / claims.nothing.x' })
  world.oidc.accounts.set(subject, { nothing: { x: 'y' } })
  expect(await refusal(openBrowser())).toContain('cannot be reached')
  expect(objectOf(await world.quoin.manage('GET', `/users/${guidOf(user)}`)).groups).toEqual([own])
})

test('the second factor of a user is asked for, unless the provider asks itself', async () => {
  const id = guidOf(
    await world.quoin.manage('POST', '/_system/authentication-groups', {
      ...{ name: `Factor ${world.run} ${world.count()}`, scopes: [], second_factor_days: 0 },
    }),
  )
  await change({ groups: [id] })
  someone()
  const browser = openBrowser()
  const { url } = await browser.visit(start())
  expect([url.pathname, url.searchParams.get('next')]).toEqual(['/login/code', '/docs'])
  expect(await userIn(browser)).toBeUndefined()
  await change({ trusts_factor: true })
  const trusted = openBrowser()
  expect((await trusted.visit(start())).url.pathname).toBe('/docs')
})

test('a domain that requires the provider takes no passwords, but those of administrators', async () => {
  const add = async (scopes: readonly string[]) => {
    const username = `u${world.count()}-${world.run}`
    const body = {
      username,
      email: `${username}@acme.test`,
      password: userPassword,
      custom_scopes: [...scopes],
    }
    await world.quoin.manage('POST', '/users', body)
    return { username, password: userPassword }
  }
  const [plain, boss] = [await add([]), await add(['*'])]
  const signIn = async (body: JsonObject) => (await world.quoin.send('POST', '/auth/signin', { body })).status
  expect(await signIn(plain)).toBe(200)
  await change({ required_domains: ['acme.test'] })
  expect([await signIn(plain), await signIn(boss)]).toEqual([403, 200])
  // A wrong password says nothing of the domain.
  expect(await signIn({ ...plain, password: 'a wrong password' })).toBe(401)
})

test('a user and an administrator see and end the accounts that sign in the user', async () => {
  const subject = someone()
  const email = `${subject}@acme.test`
  const browser = openBrowser()
  await browser.visit(start())
  const guid = guidOf(await userIn(browser))
  const as = `v${world.count()}-${world.run}`
  await world.quoin.addUser(as, ['users_view'])
  const listed = await world.quoin.send('GET', `/users/${guid}/accounts`, { as })
  expect([listed.status, listed.body]).toMatchObject([
    200,
    [{ provider: 'acme', title: 'Acme', subject, email }],
  ])
  const account = guidOf(objectsOf(listed.body)[0])
  const path = `/users/${guid}/accounts/${account}`
  expect((await world.quoin.send('DELETE', path, { as })).status).toBe(403)
  const token = browser.cookie(new URL(world.site).host, 'access_token')
  const headers = { authorization: `Bearer ${token}` }
  const own = await world.quoin.send('GET', '/users/me/accounts', { headers })
  expect(own.body).toEqual(listed.body)
  // The user has no password.
  expect((await world.quoin.send('DELETE', `/users/me/accounts/${account}`, { headers })).status).toBe(409)
  // The address of one who has left goes to the next at Acme.
  someone({ email })
  expect(await refusal(openBrowser())).toContain('signs in with another account of Acme')
  await world.quoin.manage('DELETE', path)
  expect(await userIn(browser)).toBeUndefined()
  const audit = objectsOf(await world.quoin.manage('POST', '/_system/auditlogs', { limit: 20 }))
  expect(audit.map(({ category, action }) => `${category} ${action}`)).toContain('provider_accounts deleted')
})

test('a provider gives only groups whose scopes its manager holds, and has no address without TLS', async () => {
  const username = `m${world.count()}-${world.run}`
  await world.quoin.addUser(username, ['signin_providers_update', 'signin_providers_view'])
  const path = `/_system/signin-providers/${world.provider}`
  const as = username
  expect((await world.quoin.send('GET', path, { as })).status).toBe(200)
  const boss = { name: `Boss ${world.run} ${world.counted()}`, scopes: ['*'] }
  const groups = [guidOf(await world.quoin.manage('POST', '/_system/authentication-groups', boss))]
  expect((await world.quoin.send('PUT', path, { as, body: { groups } })).status).toBe(403)
  for (const issuer of [
    'http://acme.test',
    'https://a:b@acme.test',
    'https://acme.test/.well-known/openid-configuration',
  ]) {
    const body = { issuer }
    expect((await world.quoin.send('PUT', path, { as: 'admin', body })).body).toMatchObject({
      fields: ['issuer'],
    })
  }
  const body = { groups_expression: 'claim.groups' }
  expect((await world.quoin.send('PUT', path, { as: 'admin', body })).body).toMatchObject({
    fields: ['groups_expression'],
  })
})

test('GitHub, which has no OpenID Connect: the verified primary address counts', async () => {
  const asked: string[] = []
  let emails: JsonObject[] = []
  const id = 1_000_000 + (Date.now() % 1_000_000)
  world.answerAsGitHub = (request, response) => {
    const url = new URL(request.url ?? '', 'http://local')
    asked.push(`${url.pathname} ${request.headers.authorization ?? ''}`.trim())
    response.setHeader('content-type', 'application/json')
    if (url.pathname === '/login/oauth/access_token')
      response.end(
        JSON.stringify({ access_token: 'gho_x', token_type: 'bearer', scope: 'read:user,user:email' }),
      )
    else
      response.end(
        JSON.stringify(url.pathname === '/api/v3/user' ? { id, login: 'octo', name: 'Octo' } : emails),
      )
  }
  await world.quoin.manage('POST', '/_system/signin-providers', {
    ...{
      name: `github-${world.run}`,
      title: 'GitHub',
      kind: 'github',
      issuer: world.github.url,
      client_id: 'x',
      secret: 'acme_client',
    },
    ...{ scopes: 'read:user user:email', create_users: true },
  })
  const browser = openBrowser()
  const atGitHub = (of = browser) =>
    of.visit(`${world.site}/_signin/github-${world.run}`, ({ port }) => port === String(world.github.port))
  const callback = ({ searchParams }: URL) =>
    `${world.site}/_signin/github-${world.run}/callback?code=c&state=${searchParams.get('state')}`
  const { url } = await atGitHub()
  expect([
    url.pathname,
    url.searchParams.get('scope'),
    url.searchParams.get('code_challenge_method'),
  ]).toEqual([...['/login/oauth/authorize', 'read:user user:email', 'S256']])
  emails = [
    { email: `other-${id}@acme.test`, primary: false, verified: true },
    { email: `octo-${id}@acme.test`, primary: true, verified: true },
  ]
  await browser.visit(callback(url))
  expect(await userIn(browser)).toMatchObject({ username: `octo-${id}@acme.test`, firstname: 'Octo' })
  expect(asked.slice(-2)).toEqual(['/api/v3/user Bearer gho_x', '/api/v3/user/emails Bearer gho_x'])
  // An account there outlives what its user was at Acme.
  await change({ required_domains: ['acme.test'] })
  const later = openBrowser()
  const { url: begun } = await atGitHub(later)
  expect(await refusal(later, callback(begun))).toBe('Sign in with Acme: your address requires it.')
})
