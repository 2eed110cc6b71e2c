/** Pages of a real Quoin in a real browser: the policy that it sends, signing in, a form that stores, a table that follows. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminPassword, openTestQuoin, type TestQuoin } from '../end-to-end/harness.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { axeProblems } from './axe-check.ts'
import { type SharedBrowser, shareBrowser } from './shared-browser.ts'
import { eventually } from './studio-eventually.ts'

const wines = {
  wines: { type: 'storage', fields: { storage: 'wines' } },
  page: { type: 'state_page', in: { url: 'wines', title: 'Wines' }, scopes: ['*loggedin'] },
  table: {
    type: 'state_advanced_datatable',
    in: {
      storage: '@wines.storage',
      caption: 'Wines',
      columns: [
        { field: 'name', sortable: true },
        { field: 'year', kind: 'number', sortable: true, filter: 'number' },
      ],
      actions: [{ name: 'drink', label: 'Drink', for: 'both', confirm: 'Drink all of it?', tone: 'danger' }],
    },
  },
  name: { type: 'state_input_dynamic', in: { field: 'name', label: 'Name', required: true } },
  year: {
    type: 'state_input_dynamic',
    in: { state: '@name.state', field: 'year', label: 'Year', type: 'number' },
  },
  form: {
    type: 'state_form',
    in: { state: '@table.state', form_id: 'add', content: '@year.state', submit_label: 'Add wine' },
  },
  show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
  fields: { type: 'mutations_set_bp_field_multiple', in: { object: '@form.values' } },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@form.submit', storage: '@wines.storage', mutations: '@fields.mutations' },
  },
  remove: {
    type: 'function_remove_document',
    in: { flow: '@table.row_action', storage: '@wines.storage', guid: '@table.guid' },
  },
}

/** A form whose flow leads to another site, as to one where one pays: by the block of pages and by a reply. */
const paying = (target: string) => ({
  page: { type: 'state_page', in: { url: 'pay' }, scopes: ['*public'] },
  form: { type: 'state_form', in: { form_id: 'pay', submit_label: 'Pay' } },
  other: {
    type: 'state_form',
    in: { state: '@form.state', form_id: 'other', submit_label: 'Pay otherwise' },
  },
  near: { type: 'state_form', in: { state: '@other.state', form_id: 'near', submit_label: 'Pay nearby' } },
  show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@near.state' } },
  // Only a header that a flow writes itself may leave out the protocol.
  header: {
    type: 'reply',
    in: {
      flow: '@near.submit',
      code: 303,
      headers: { location: target.slice('http:'.length) },
    },
  },
  go: { type: 'state_redirect', in: { flow: '@form.submit', url: target } },
  reply: { type: 'reply', in: { flow: '@other.submit', value: target }, fields: { kind: 'redirect' } },
})

let fixture: TestQuoin
let browser: SharedBrowser
let address: string
let elsewhere: LocalServer
beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  await fixture.install('Wines', wines)
  elsewhere = await startLocalServer((_request, reply) => {
    reply.setHeader('content-type', 'text/html').end('<title>Paid</title><p>Paid.')
  })
  await fixture.install('Paying', paying(`${elsewhere.url}/paid?by=card`))
  address = await fixture.quoin.server.listen()
  browser = await shareBrowser()
})
afterAll(async () => {
  await browser?.close()
  await fixture?.close()
  await elsewhere?.close()
})

async function visit(path: string, javaScriptEnabled = true): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ javaScriptEnabled, reducedMotion: 'reduce' })
  context.setDefaultTimeout(10_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    // That a page is not there, or was not taken, is what some of these are about.
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(address + path)
  return { page, complaints }
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('User name or e-mail').fill('admin')
  await page.getByLabel('Password').fill(adminPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Wines' }).first().waitFor()
}

test.each([true, false])('from signing in to signing out: JavaScript %j', async (javaScriptEnabled) => {
  const { page, complaints } = await visit('/wines', javaScriptEnabled)
  await page.waitForURL('**/login?*')
  await page.getByLabel('User name or e-mail').fill('admin')
  await page.getByLabel('Password').fill('a wrong password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('User name or password is wrong').first().waitFor()
  await eventually(() => page.getByLabel('User name or e-mail').inputValue()).toBe('admin')
  await eventually(() => page.getByLabel('Password').inputValue()).toBe('')
  await signIn(page)

  await page.getByRole('button', { name: 'Add wine' }).click()
  await page.locator('.summary:focus').waitFor()
  const name = `Barolo ${javaScriptEnabled}`
  await page.locator('#add-name').fill(name)
  await page.locator('#add-year').fill('2015')
  await page.getByRole('button', { name: 'Add wine' }).click()
  await page.getByRole('rowheader', { name }).waitFor()

  await page.getByRole('row', { name }).getByRole('button', { name: 'Drink' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Drink' }).click()
  await page.getByRole('rowheader', { name }).waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are signed out').waitFor()
  await page.goto(`${address}/wines`)
  await page.waitForURL('**/login?*')
  expect(complaints).toEqual([])
  await page.context().close()
})

test('a document of another user appears without an action', async () => {
  const { page, complaints } = await visit('/wines')
  const events = page.waitForResponse((reply) => reply.request().resourceType() === 'eventsource')
  await signIn(page)
  await events
  expect(await page.getByRole('rowheader', { name: 'Merlot' }).count()).toBe(0)
  const other = await visit('/wines', false)
  await signIn(other.page)
  await other.page.locator('#add-name').fill('Merlot')
  await other.page.getByRole('button', { name: 'Add wine' }).click()
  await page.getByRole('rowheader', { name: 'Merlot' }).waitFor()
  expect(complaints).toEqual([])
  await other.page.context().close()
  await page.context().close()
})

test('the built-in pages, and one of a blueprint, are accessible', async () => {
  await fixture.install('Orders', {
    ask: { type: 'on_startup_register_uri_post', in: { uri: 'orders' }, scopes: ['*public'] },
    approval: {
      type: 'wait_for_approval',
      in: { flow: '@ask.flow', title: 'Order of 20 barrels', text: 'For the spring.', scopes: '=["buyers"]' },
    },
    reply: { type: 'reply', in: { flow: '@approval.now', value: 1 } },
    yes: { type: 'function_return', in: { flow: '@approval.approved', value: 1 } },
  })
  for (let orders = 0; orders < 3; orders += 1)
    expect((await fixture.send('POST', '/orders')).status).toBe(200)
  const { page, complaints } = await visit('/wines')
  await signIn(page)
  for (const path of ['/', '/password', '/nothing-here', '/wines', '/login']) {
    if (path === '/login') await page.context().clearCookies()
    await page.goto(address + path)
    expect([path, await axeProblems(page)]).toEqual([path, []])
  }
  expect(complaints).toEqual([])
  await page.context().close()
}, 120_000)

test.each([
  ['Pay', true],
  ['Pay', false],
  ['Pay otherwise', true],
  ['Pay otherwise', false],
  ['Pay nearby', true],
])('%s leads to another site, with scripts: %j', async (button, scripts) => {
  const { page, complaints } = await visit('/pay', scripts)
  await page.getByRole('button', { name: button, exact: true }).click()
  await page.waitForURL(`${elsewhere.url}/paid?by=card`)
  expect(await page.textContent('body')).toContain('Paid.')
  expect(complaints).toEqual([])
  await page.context().close()
})
