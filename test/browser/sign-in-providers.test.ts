/** A provider that is added in the studio, and signs a builder in there. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { clientId, clientSecret, type OidcServer, openOidcServer } from '../oidc-server.ts'
import { freePort } from '../postgres/postgres-server.ts'
import { axeProblems } from './axe-check.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

const run = Date.now().toString(36)
let studio: StudioFixture
let oidc: OidcServer
beforeAll(async () => {
  const port = await freePort()
  const site = `http://127.0.0.1:${port}`
  oidc = await openOidcServer(site, 'acme')
  studio = await openStudio({
    ...{ QUOIN_PORT: String(port), QUOIN_PUBLIC_URL: site, QUOIN_SECRETS_KEY: '0f'.repeat(32) },
    QUOIN_ALLOWED_HOSTS: `127.0.0.1:${oidc.port}`,
  })
  await studio.quoin.manage('POST', '/_system/secrets', { name: 'acme_client', value: clientSecret })
}, 120_000)
afterAll(async () => {
  await studio?.close()
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
