/**
 * Passkeys in a real browser, with a device of Chromium's own, for an end user of pages and for a builder in the studio; sign-up above the rate, whose work a worker does;
 * and an invitation that is opened on a phone.
 */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isJsonObject } from '../../src/shared/json.ts'
import { guidOf, userPassword } from '../end-to-end/harness.ts'
import { type MailServer, openMailServer } from '../mail-server.ts'
import { freePort } from '../postgres/postgres-server.ts'
import { axeProblems } from './axe-check.ts'
import { eventually } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'
import { virtualAuthenticator } from './virtual-authenticator.ts'

let mails: MailServer
let studio: StudioFixture
let site: string
beforeAll(async () => {
  mails = await openMailServer()
  const port = await freePort()
  site = `http://localhost:${port}`
  studio = await openStudio({
    QUOIN_CONFIRM_SECONDS: '300',
    ...{ QUOIN_PORT: String(port), QUOIN_PUBLIC_URL: site, QUOIN_SIGN_UP: 'on', QUOIN_PROOF_ABOVE: '0' },
    ...{
      QUOIN_MAIL_URL: `smtp://127.0.0.1:${mails.port}?tls=off`,
      QUOIN_MAIL_FROM: 'Club <club@example.com>',
    },
  })
}, 120_000)
afterAll(async () => {
  await studio?.close()
  await mails?.close()
})

const MINUTE = 60_000
/** The device takes each offer at once: at an address with this word the browser makes none by itself. */
const WITHOUT_OFFER = 'without-offer'

async function offerNothing(page: Page): Promise<void> {
  await page.addInitScript(
    `if (location.search.includes('${WITHOUT_OFFER}')) PublicKeyCredential.isConditionalMediationAvailable = async () => false`,
  )
}

test('an end user adds a passkey on a page, and signs in with it, alone and behind the password', async () => {
  const name = `fay-${Date.now()}`
  await studio.quoin.addUser(name, [])
  const page = await studio.open(undefined, `${site}/login?next=/password/passkeys`)
  const device = await virtualAuthenticator(page)
  await offerNothing(page)
  const signIn = async () => {
    await page.getByLabel('User name or e-mail').fill(name)
    await page.getByLabel('Password').fill(userPassword)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }
  await signIn()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Laptop')
  expect(await axeProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
  expect(await device.credentials()).toHaveLength(1)
  await page.getByRole('link', { name: 'I have stored them' }).click()
  await page.getByText('Laptop: added').waitFor()

  // The browser offers it with the names that it fills in: this device chooses it by itself.
  await page.context().clearCookies()
  await page.goto(`${site}/login?next=/password/passkeys`)
  await page.getByText(/Laptop: added .*, last used/).waitFor()
  await page.context().clearCookies()
  await page.goto(`${site}/login?${WITHOUT_OFFER}&next=/password/passkeys`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).waitFor()

  studio.quoin.advance(6 * MINUTE)
  await page.reload()
  await page.getByText('Confirm that it is you').waitFor()
  expect(await axeProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByRole('heading', { name: 'Rename or remove a passkey' }).waitFor()
  await page.getByLabel('Passkey', { exact: true }).selectOption({ label: 'Laptop' })
  await page.getByLabel('What to do').selectOption({ label: 'Rename it' })
  await page.getByLabel('New name').fill('Desk')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Desk: added').waitFor()

  await page.context().clearCookies()
  await page.goto(`${site}/login?${WITHOUT_OFFER}&next=/password/passkeys`)
  await signIn()
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor()
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByLabel('Passkey', { exact: true }).selectOption({ label: 'Desk' })
  await page.getByLabel('What to do').selectOption({ label: 'Remove it' })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('The passkey is removed.').waitFor()
  // The device has it still: the server knows no user for it.
  await page.context().clearCookies()
  await page.goto(`${site}/login?${WITHOUT_OFFER}`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText('The passkey was not accepted').waitFor()
  expect(studio.complaints()).toEqual([])
})

test('a builder adds a passkey in the studio, signs in with it, and confirms an old session', async () => {
  const name = `hal-${Date.now()}`
  await studio.quoin.addUser(name, [])
  const page = await studio.open(undefined, `${site}/studio/account`)
  const device = await virtualAuthenticator(page)
  await offerNothing(page)
  const signIn = async () => {
    await page.getByLabel('User name or e-mail').fill(name)
    await page.getByLabel('Password').fill(userPassword)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }
  await signIn()
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a passkey' })
  await dialog.getByLabel('Name').fill('Laptop')
  expect(await axeProblems(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('button', { name: 'I have stored them' }).click()
  const row = page.getByRole('row', { name: /Laptop/ })
  await row.waitFor()
  expect(await device.credentials()).toHaveLength(1)

  // The browser offers it with the names: this device takes it.
  await page.evaluate('sessionStorage.clear(); localStorage.clear()')
  await page.goto(`${site}/studio/account`)
  await row.waitFor()
  await page.evaluate('sessionStorage.clear(); localStorage.clear()')
  await page.goto(`${site}/studio/account?${WITHOUT_OFFER}`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor()
  expect(await axeProblems(page)).toEqual([])
  await signIn()
  await page.getByRole('button', { name: 'Use a passkey' }).click()
  await row.waitFor()

  studio.quoin.advance(6 * MINUTE)
  await row.getByRole('button', { name: 'Actions for Laptop' }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await page.getByRole('dialog', { name: 'Remove Laptop?' }).getByRole('button', { name: 'Remove' }).click()
  const confirmation = page.locator('.sign-in-cover')
  await confirmation.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
  expect(await axeProblems(page)).toEqual([])
  await confirmation.getByRole('button', { name: 'Use a passkey' }).click()
  await row.waitFor({ state: 'detached' })
  expect(studio.complaints()).toEqual([])
})

/** A user of a group that requires a second factor at once. */
async function forcedUser(name: string): Promise<void> {
  const guid = await studio.quoin.addUser(name, [])
  const group = await studio.quoin.manage('POST', '/_system/authentication-groups', {
    ...{ name: `Staff of ${name}`, scopes: [], second_factor_days: 0 },
  })
  if (!isJsonObject(group)) throw new Error('There is no group.')
  await studio.quoin.manage('PUT', `/users/${guid}`, { groups: [guidOf(group)] })
}

test.each([
  ['on a page', '/login?next=/password/passkeys', /Laptop: added/],
  ['in the studio', '/studio/account', 'Laptop'],
])('%s a sign-in that has to set up a factor takes a passkey', async (place, path, shown) => {
  const name = `ivy-${Date.now()}`
  await forcedUser(name)
  const page = await studio.open(undefined, `${site}${path}`)
  const device = await virtualAuthenticator(page)
  await page.getByLabel('User name or e-mail').fill(name)
  await page.getByLabel('Password').fill(userPassword)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('Or set up a passkey in place of the app.').waitFor()
  expect(await axeProblems(page)).toEqual([])
  const field = place === 'on a page' ? 'Name' : 'Name of the passkey'
  await page.getByRole('textbox', { name: field, exact: true }).fill('Laptop')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
  expect(await device.credentials()).toHaveLength(1)
  if (place === 'on a page') await page.getByRole('link', { name: 'I have stored them' }).click()
  else await page.getByRole('button', { name: 'I have stored them' }).click()
  await page.getByText(shown).waitFor()
  expect(studio.complaints()).toEqual([])
})

test('at an IP address there is no button, and the page of the account says where passkeys work', async () => {
  const name = `gus-${Date.now()}`
  await studio.quoin.addUser(name, [])
  const page = await studio.open(undefined, `${studio.address}/login?next=/password/passkeys`)
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0)
  await page.getByLabel('User name or e-mail').fill(name)
  await page.getByLabel('Password').fill(userPassword)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByText('Passkeys work at localhost only').waitFor()
  expect(studio.complaints()).toEqual([])
})

describe('sign-up above the rate', () => {
  test('a visitor signs up and sees nothing of the work; a refused address gets another challenge', async () => {
    const page = await studio.open(undefined, `${site}/login/new`)
    const challenge = () => page.locator('form[data-proof]').getAttribute('data-proof')
    const first = await challenge()
    expect(await page.getByText('That needs JavaScript').isVisible()).toBe(false)
    const solved: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST')
        solved.push(new URLSearchParams(request.postData() ?? '').get('_proof') ?? '')
    })
    await page.getByLabel('E-mail').fill('no address')
    // The work is done while the form is filled in.
    await page.locator('input[name="_proof"]:not([value=""])').waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Send the link' }).click()
    await page.locator('[data-summary]').waitFor()
    expect(await axeProblems(page)).toEqual([])
    expect(await challenge()).not.toBe(first)
    // Sent before the work is done.
    await page.evaluate("document.querySelector('input[name=email]').value = 'fay@example.com'")
    await page.evaluate("document.querySelector('form[data-proof]').requestSubmit()")
    await page.getByText('A mail with a link is on its way').waitFor()
    expect(solved).toHaveLength(2)
    expect(solved[0]?.startsWith(`${first}.`)).toBe(true)
    expect(studio.complaints()).toEqual([])
  })

  test('without JavaScript the page says what is missing, and the form is refused', async () => {
    const page = await studio.open(undefined, `${site}/login/new`, { javaScriptEnabled: false })
    await page.getByText('That needs JavaScript').waitFor()
    await page.getByLabel('E-mail').fill('gus@example.com')
    await page.getByLabel('E-mail').press('Enter')
    await page.getByText('your browser has to do some work').waitFor()
  })
})

test('who is invited sets a password on a phone, decides what waits there, and is never led to the studio', async () => {
  const scopes = ['orders_approve']
  await studio.quoin.install('Orders', {
    list: { type: 'state_page', in: { url: 'orders', title: 'Orders' }, scopes },
    show: { type: 'state_render_page', in: { flow: '@list.flow', state: '@head.state' } },
    head: { type: 'state_h1', in: { text: 'Orders' } },
    ask: { type: 'on_startup_register_uri_post', in: { uri: 'orders' }, scopes: ['*public'] },
    approval: { type: 'wait_for_approval', in: { flow: '@ask.flow', title: 'Order of Ada', scopes } },
    reply: { type: 'reply', in: { flow: '@approval.now', value: '=1' } },
    yes: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@approval.approved', storage: 'decided', set: '={ by: approval.by.username }' },
    },
  })
  await studio.quoin.send('POST', '/orders', { body: {} })
  const email = `ida-${Date.now()}@example.com`
  await studio.quoin.manage('POST', '/users/invite', { email, custom_scopes: scopes })
  const mail = () => mails.taken.find(({ to }) => to.includes(email))
  await eventually(() => mail() !== undefined).toBe(true)
  const text = (mail()?.body ?? '').replace(/=\r\n/g, '').replaceAll('=3D', '=')
  const [link = ''] = /http:\/\/localhost:\d+\/password\/set\?link=ql_[\w-]{43}/.exec(text) ?? []

  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
  const page = await studio.open(undefined, link, phone)
  const seen: string[] = []
  page.on('framenavigated', (frame) => seen.push(new URL(frame.url()).pathname))
  const [first, again] = [
    page.getByLabel('New password').first(),
    page.locator('input[type=password]').nth(1),
  ]
  await first.fill('a fresh password of mine')
  await again.fill('a fresh password of mine')
  await page.locator('main form button[type=submit]').first().click()
  await page.waitForURL(/\/login/)
  expect(await page.getByLabel('User name or e-mail').inputValue()).toBe(email)
  await page.getByLabel('Password', { exact: true }).fill('a fresh password of mine')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('link', { name: 'Orders', exact: true }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/')
  expect(await axeProblems(page)).toEqual([])
  await page.getByRole('link', { name: /Order of Ada/ }).click()
  await page.getByRole('button', { name: 'Approve' }).click()
  await eventually(async () => (await studio.quoin.documents('decided')).length).toBe(1)
  await page.goto(site)
  await page.getByRole('link', { name: 'Orders', exact: true }).waitFor()
  expect(await page.getByText('Order of Ada').count()).toBe(0)
  const width = await page.evaluate<number>('document.documentElement.scrollWidth')
  expect(width, 'nothing is wider than the phone').toBeLessThanOrEqual(390)
  expect(seen.filter((path) => path.startsWith('/studio'))).toEqual([])
})
