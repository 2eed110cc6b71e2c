/** Signing in by a browser: providers that are added in the studio, agents that are let in and shown out, and second factors. */
import { createHash } from 'node:crypto'
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guidOf, objectsOf, userPassword } from '../end-to-end/harness.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { clientId, clientSecret, type OidcServer, openOidcServer } from '../oidc-server.ts'
import { freePort } from '../postgres/postgres-server.ts'
import { axeProblems } from './axe-check.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

let studio: StudioFixture
let site = ''
beforeAll(async () => {
  const port = await freePort()
  site = `http://127.0.0.1:${port}`
  studio = await openStudio({
    QUOIN_CONFIRM_SECONDS: '300',
    ...{ QUOIN_PORT: String(port), QUOIN_HOST: '127.0.0.1', QUOIN_PUBLIC_URL: site },
    ...{ QUOIN_SECRETS_KEY: '0f'.repeat(32), QUOIN_ALLOWED_HOSTS: '127.0.0.1' },
  })
}, 240_000)
afterAll(() => studio?.close())

describe('agents by OAuth', () => {
  let program: LocalServer
  const came: string[] = []
  beforeAll(async () => {
    program = await startLocalServer((request, response) => {
      const { pathname, search } = new URL(request.url ?? '/', program.url)
      if (pathname === '/back') came.push(search)
      const [id, redirect] = [`${program.url}/client.json`, `${program.url}/back`]
      response.writeHead(200, { 'content-type': pathname === '/back' ? 'text/plain' : 'application/json' })
      const about = { client_id: id, client_name: 'Planner', redirect_uris: [redirect] }
      response.end(pathname === '/back' ? 'You can go on.' : JSON.stringify(about))
    })
  }, 120_000)
  afterAll(async () => {
    await program?.close()
  })

  test('an agent is let in by a browser, and shown out in the account', async () => {
    const name = `eve-${Date.now()}`
    const guid = await studio.quoin.addUser(name, ['drafts_view'])
    const page = await studio.open(undefined, 'account')
    const verifier = 'v'.repeat(43)
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id: `${program.url}/client.json`, state: 'one' },
      ...{ redirect_uri: `${program.url}/back`, code_challenge_method: 'S256' },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    })
    await page.goto(`${site}/_oauth/authorize?${query}`)
    await page.getByLabel('User name').fill(name)
    await page.getByLabel('Password').fill(userPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Let Planner in?' }).waitFor()
    expect(await page.getByLabel('Your password').count()).toBe(0)
    // An old session lets no agent in, of a user without a second factor either.
    studio.quoin.advance(6 * 60_000)
    await page.reload()
    await page.getByLabel('Your password').fill('a wrong password')
    expect(await page.locator('input[name=code]').count()).toBe(0)
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('Password or code is wrong.').waitFor()
    expect(came).toEqual([])
    await page.getByLabel('Your password').fill(userPassword)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('You can go on.').waitFor()
    const code = new URLSearchParams(came.at(-1)).get('code') ?? ''
    const fields = { grant_type: 'authorization_code', code, redirect_uri: `${program.url}/back` }
    const body = new URLSearchParams({
      ...fields,
      client_id: `${program.url}/client.json`,
      code_verifier: verifier,
    })
    expect((await fetch(`${site}/_oauth/token`, { method: 'POST', body })).status).toBe(200)

    const account = await studio.open(name, 'account')
    await account.getByRole('button', { name: 'End the agent Planner' }).waitFor()
    await account.getByRole('button', { name: 'End the agent Planner' }).click()
    await account.getByRole('dialog').getByRole('button', { name: 'End' }).click()
    await account.getByText('No agents.').waitFor()
    expect(await studio.quoin.quoin.access.agents.list(guid)).toEqual([])
  })
})

describe('providers', () => {
  const run = Date.now().toString(36)
  let oidc: OidcServer
  beforeAll(async () => {
    oidc = await openOidcServer(site, 'acme')
    await studio.quoin.manage('POST', '/_system/secrets', { name: 'acme_client', value: clientSecret })
  }, 120_000)
  afterAll(async () => {
    await oidc?.close()
  })

  test('an administrator adds a provider, and a builder signs in with it', async () => {
    // Of a try before this one.
    const path = '/_system/signin-providers'
    for (const one of objectsOf(await studio.quoin.manage('POST', `${path}/search`, {})))
      await studio.quoin.manage('DELETE', `${path}/${guidOf(one)}`)
    const page = await studio.open('admin', 'people/providers')
    await page.getByText('No sign-in providers').waitFor()
    await page.getByRole('button', { name: 'New provider' }).click()
    const dialog = page.getByRole('dialog', { name: 'New provider' })
    const preset = dialog.getByRole('combobox', { name: 'Begin with' })
    // What is filled in is of this one.
    expect(await preset.inputValue()).toBe('Google')
    expect(await dialog.getByRole('textbox', { name: 'Issuer' }).inputValue()).toBe(
      'https://accounts.google.com',
    )
    await preset.click()
    await page.getByRole('option', { name: 'Keycloak' }).click()
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('acme')
    await dialog.getByText('/_signin/acme/callback').waitFor()
    await dialog.getByRole('textbox', { name: 'Title' }).fill('Acme')
    await dialog.getByRole('textbox', { name: 'Issuer' }).fill(oidc.issuer)
    await dialog.getByRole('textbox', { name: 'Client ID' }).fill(clientId)
    await dialog.getByRole('combobox', { name: 'Secret of the client' }).fill('acme_client')
    await dialog.getByRole('switch', { name: 'Create a user at the first sign-in' }).check()
    expect(await axeProblems(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'acme' }).waitFor()

    const subject = `bea-${run}`
    oidc.accounts.set(subject, { email: `${subject}@acme.test`, email_verified: true, given_name: 'Bea' })
    oidc.account = subject
    const other = await studio.open(undefined, 'account')
    await other.getByRole('link', { name: 'Sign in with Acme' }).waitFor()
    expect(await axeProblems(other)).toEqual([])
    await other.getByRole('link', { name: 'Sign in with Acme' }).click()
    await other.getByText(`You are signed in as ${subject}@acme.test`).waitFor()
    expect(new URL(other.url())).toMatchObject({ pathname: '/studio/account', hash: '' })
  })

  test('a provider of the settings is shown, and not changed or removed in the studio', async () => {
    const { providers } = studio.quoin.quoin.access
    const input = { name: 'company', title: 'Company', issuer: oidc.issuer, client_id: clientId }
    await providers.configure([{ ...input, domains: ['company.test'] }])
    const page = await studio.open('admin', 'people/providers')
    const row = page.getByRole('row').filter({ hasText: 'company' })
    await row.getByText('From the settings').waitFor()
    expect(await row.getByRole('button', { name: /Remove/ }).count()).toBe(0)
    await row.getByRole('link', { name: 'company' }).click()
    const dialog = page.getByRole('dialog', { name: 'company' })
    await dialog.getByText('Change or remove it there, and start the nodes again.').waitFor()
    await dialog.getByText('"company.test"').waitFor()
    expect(await dialog.locator('input, textarea, select').count()).toBe(0)
    expect(await axeProblems(page)).toEqual([])
    await providers.configure([])
  })

  let added: Promise<unknown> | undefined
  /** Once, also where a test is tried again. */
  function addLeave(): Promise<unknown> {
    added ??= studio.quoin.manage('POST', '/_system/signin-providers', {
      ...{ name: 'leave', title: 'Leave', issuer: oidc.issuer, client_id: clientId, secret: 'acme_client' },
      ...{ sign_out: true, create_users: true, scopes: 'openid email' },
    })
    return added
  }

  test('a user of a page signs out at the provider too, without a question', async () => {
    await addLeave()
    const page = await studio.open(undefined, 'account')
    const site = new URL(page.url()).origin
    const signIn = async (subject: string) => {
      oidc.accounts.set(subject, { email: `${subject}@acme.test`, email_verified: true })
      oidc.account = subject
      await page.goto(`${site}/_signin/leave?next=/password`)
      await page.waitForURL(`${site}/password`)
    }
    await signIn(`cleo-${run}`)
    await page.goto(`${site}/logout`)
    await page.locator('#form-signout').getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${site}/login`)
    expect(oidc.asked).toContain('/session/end/confirm')
    oidc.asked.length = 0
    await signIn(`dora-${run}`)
    // The provider did not know its user any longer.
    expect(oidc.asked.some((path) => path.startsWith('/interaction/'))).toBe(true)
  })

  test('without JavaScript the sign-out leads to the provider too', async () => {
    await addLeave()
    const subject = `elsa-${run}`
    oidc.accounts.set(subject, { email: `${subject}@acme.test`, email_verified: true })
    oidc.account = subject
    const page = await studio.open(undefined, '/login', { javaScriptEnabled: false })
    const site = new URL(page.url()).origin
    await page.goto(`${site}/_signin/leave?next=/password`)
    await page.goto(`${site}/logout`)
    await page.locator('#form-signout').getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL((url) => url.href.startsWith(`${oidc.issuer}/session/end?id_token_hint=`))
  })

  test('signing out of the studio leads to the provider, which asks again who signs in', async () => {
    await addLeave()
    const page = await studio.open(undefined, 'account')
    const site = new URL(page.url()).origin
    const signIn = async (subject: string) => {
      oidc.accounts.set(subject, { email: `${subject}@acme.test`, email_verified: true })
      oidc.account = subject
      await page.goto(`${site}/_signin/leave?next=/studio/account`)
      await page.getByText(`You are signed in as ${subject}@acme.test`).waitFor()
    }
    await signIn(`fay-${run}`)
    oidc.asked.length = 0
    await page.getByRole('button', { name: /, your account$/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL(`${site}/login`)
    expect(oidc.asked).toContain('/session/end/confirm')
    await signIn(`gus-${run}`)
    expect(oidc.asked.some((path) => path.startsWith('/interaction/'))).toBe(true)
    expect(studio.complaints()).toEqual([])
  })

  test('who has no password confirms an old session at the provider in another tab, and what was asked for goes on', async () => {
    await addLeave()
    const subject = `hal-${run}`
    oidc.accounts.set(subject, { email: `${subject}@acme.test`, email_verified: true })
    oidc.account = subject
    const page = await studio.open(undefined, 'account')
    await page.goto(`${new URL(page.url()).origin}/_signin/leave?next=/studio/account`)
    await page.getByText(`You are signed in as ${subject}@acme.test`).waitFor()
    studio.quoin.advance(6 * 60_000)
    oidc.lie = (claims) => ({ ...claims, auth_time: Math.floor(studio.quoin.now() / 1000) })
    await page.getByRole('button', { name: 'Add an authenticator app' }).click()
    const confirmation = page.locator('.sign-in-cover')
    await confirmation.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
    expect(await confirmation.getByLabel('Password').count()).toBe(0)
    expect(await axeProblems(page)).toEqual([])
    oidc.asked.length = 0
    const tab = page.context().waitForEvent('page')
    await confirmation.getByRole('link', { name: 'Sign in with Leave' }).click()
    await (await tab).getByText(`You are signed in as ${subject}@acme.test`).waitFor()
    expect(oidc.asked.some((path) => path.startsWith('/interaction/'))).toBe(true)
    const dialog = page.getByRole('dialog', { name: 'Add an authenticator app' })
    await dialog.getByRole('img', { name: 'QR code with the key' }).waitFor()
    expect(await confirmation.count()).toBe(0)
    oidc.lie = undefined
    expect(studio.complaints()).toEqual([])
  })
})

describe('second factors, for which time passes', () => {
  beforeAll(async () => {}, 120_000)

  const MINUTE = 60_000
  const codeOf = (secret: string) =>
    TOTP.generate({ secret: new TOTP({ secret }).secret, timestamp: studio.quoin.now() })

  test('a factor that is required from now on leads a signed-in builder to its set-up, and then to what was asked for', async () => {
    const name = `ray-${Date.now()}`
    const guid = await studio.quoin.addUser(name, [])
    const groups = '/_system/authentication-groups'
    const group = guidOf(await studio.quoin.manage('POST', groups, { name: `Staff of ${name}` }))
    await studio.quoin.manage('PUT', `/users/${guid}`, { groups: [group] })
    const page = await studio.open(name, 'account')
    const add = page.getByRole('button', { name: 'Add an authenticator app' })
    await add.waitFor()
    await studio.quoin.manage('PUT', `${groups}/${group}`, { second_factor_days: 0 })
    await add.click()
    const cover = page.locator('.sign-in-cover')
    await cover.getByLabel('Password').fill(userPassword)
    await cover.getByRole('button', { name: 'Sign in' }).click()
    await cover.getByText('Your account needs a second factor').waitFor()
    expect(await axeProblems(page)).toEqual([])
    const key = (await cover.getByText(/^Key: /).textContent()) ?? ''
    await cover.getByLabel('Code').fill(codeOf(key.replace('Key: ', '')))
    await cover.getByRole('button', { name: 'Continue' }).click()
    await cover.getByRole('button', { name: 'I have stored them' }).click()
    // The request that was refused is sent again.
    await page.getByRole('dialog', { name: 'Add an authenticator app' }).waitFor()
    expect(await cover.count()).toBe(0)
  })

  test('a builder adds an app after confirming an old session, signs in with a code, and is reset', async () => {
    const name = `dea-${Date.now()}`
    const guid = await studio.quoin.addUser(name, [])
    const page = await studio.open(name, 'account')
    const add = page.getByRole('button', { name: 'Add an authenticator app' })
    await add.waitFor()
    studio.quoin.advance(6 * MINUTE)
    await add.click()
    const confirmation = page.locator('.sign-in-cover')
    await confirmation.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
    expect(await axeProblems(page)).toEqual([])
    await confirmation.getByLabel('Password').fill('a wrong password')
    await confirmation.getByRole('button', { name: 'Confirm' }).click()
    await confirmation.getByText('password is wrong').waitFor()
    await confirmation.getByLabel('Password').fill(userPassword)
    await confirmation.getByRole('button', { name: 'Confirm' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add an authenticator app' })
    const secret = (await dialog.getByLabel('Key', { exact: true }).textContent()) ?? ''
    await dialog.getByRole('img', { name: 'QR code with the key' }).waitFor()
    expect(await axeProblems(page)).toEqual([])
    await dialog.getByRole('textbox', { name: 'Code' }).fill('000000')
    await dialog.getByRole('button', { name: 'Add an authenticator app' }).click()
    await dialog.getByText('code is wrong').first().waitFor()
    await dialog.getByRole('textbox', { name: 'Code' }).fill(codeOf(secret))
    await dialog.getByRole('button', { name: 'Add an authenticator app' }).click()
    const codes = page.getByRole('dialog', { name: 'Your recovery codes' })
    await codes.waitFor()
    expect(await codes.locator('code').count()).toBe(10)
    await codes.getByRole('button', { name: 'I have stored them' }).click()
    await page.getByText('10 recovery codes left').waitFor()

    studio.quoin.advance(MINUTE)
    const again = await studio.open(undefined, 'account')
    await again.getByLabel('User name or e-mail').fill(name)
    await again.getByLabel('Password').fill(userPassword)
    await again.getByRole('button', { name: 'Sign in' }).click()
    await again.getByLabel('Code').fill('000000')
    await again.getByRole('button', { name: 'Continue' }).click()
    await again.getByText('The code is wrong').waitFor()
    expect(await axeProblems(again)).toEqual([])
    await again.getByLabel('Code').fill(codeOf(secret))
    await again.getByRole('button', { name: 'Continue' }).click()
    await again.getByText('10 recovery codes left').waitFor()

    const admin = await studio.open('admin', `people/users/${guid}`)
    await admin.getByRole('button', { name: 'Reset second factor' }).click()
    const reset = admin.getByRole('dialog', { name: `Reset the second factor of ${name}?` })
    await reset.getByRole('button', { name: 'Reset second factor' }).click()
    await reset.waitFor({ state: 'hidden' })
    await admin.getByRole('button', { name: 'Reset second factor' }).waitFor({ state: 'hidden' })
    expect(studio.complaints()).toEqual([])
  })

  test('a group that requires a second factor has its user set one up in the sign-in form', async () => {
    const name = `eli-${Date.now()}`
    const guid = await studio.quoin.addUser(name, [])
    const groups = await studio.open('admin', 'people/groups')
    await groups.getByRole('button', { name: 'New group' }).click()
    const dialog = groups.getByRole('dialog', { name: 'New group' })
    await dialog.getByLabel('Name').fill(`Staff of ${name}`)
    await dialog.getByLabel('Second factor required after days').fill('0')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const found = await studio.quoin.manage('POST', '/_system/authentication-groups/search', {
      filters: { name: `Staff of ${name}` },
    })
    const [group] = JSON.parse(JSON.stringify(found))
    expect(group).toMatchObject({ second_factor_days: 0 })
    await studio.quoin.manage('PUT', `/users/${guid}`, { groups: [group._meta.guid] })
    const page = await studio.open(undefined, 'account')
    await page.getByLabel('User name or e-mail').fill(name)
    await page.getByLabel('Password').fill(userPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('img', { name: 'QR code with the key' }).waitFor()
    expect(await axeProblems(page)).toEqual([])
    const [, secret = ''] = /Key: ([A-Z2-7]+)/.exec((await page.locator('form').textContent()) ?? '') ?? []
    await page.getByLabel('Code').fill(codeOf(secret))
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'I have stored them' }).click()
    await page.getByText('10 recovery codes left').waitFor()
    expect(studio.complaints()).toEqual([])
  })

  test('what a group and a provider give, and to how many users, is said before they are saved', async () => {
    const name = `desk-${Date.now()}`
    const { manage } = studio.quoin
    const guid = guidOf(await manage('POST', '/_system/authentication-groups', { name, scopes: ['sales'] }))
    for (const is_active of [true, false]) {
      const user = await studio.quoin.addUser(`${name}-${is_active}`, [])
      await manage('PUT', `/users/${user}`, { groups: [guid], is_active })
    }
    const page = await studio.open('admin', `people/groups?open=${guid}`)
    await page.getByRole('switch', { name: 'Active' }).click()
    await page.getByText('The 1 active user of the group may no longer: sales.').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('switch', { name: 'Active' }).click()
    await page.getByText('What this changes').waitFor({ state: 'detached' })
    await page.goto('people/groups')
    await page.getByRole('button', { name: `Remove the group ${name}` }).click()
    await page.getByText('The 1 active user of the group may no longer, immediately: sales.').waitFor()
    await page.goto('people/providers?open=new')
    await page.getByRole('combobox', { name: 'Groups that the provider decides about' }).fill(name)
    await page.getByRole('option', { name }).click()
    expect(await page.getByText('What this changes').count()).toBe(0)
    await page.getByRole('switch', { name: 'Create a user at the first sign-in' }).click()
    await page.getByText('Each new user who signs in with it may from then on: sales.').waitFor()
    expect(studio.complaints()).toEqual([])
  })
})
