/** Unplanned use of pages: expired sessions, two windows, going back, tables with 50 columns. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminPassword, openTestQuoin, type TestQuoin } from '../end-to-end/harness.ts'
import { type SharedBrowser, shareBrowser } from './shared-browser.ts'
import { eventually } from './studio-eventually.ts'

const blocks = {
  notes: { type: 'storage', fields: { storage: 'notes' } },
  page: { type: 'state_page', in: { url: 'notes', title: 'Notes' }, scopes: ['*loggedin'] },
  table: {
    type: 'state_advanced_datatable',
    in: { storage: '@notes.storage', table_id: 'notes', columns: ['title', 'words'] },
  },
  title: { type: 'state_input_dynamic', in: { field: 'title', label: 'Title', required: true } },
  words: {
    type: 'state_input_dynamic',
    in: { state: '@title.state', field: 'words', label: 'Words', type: 'area' },
  },
  file: {
    type: 'state_input_dynamic',
    in: { state: '@words.state', field: 'file', label: 'File', type: 'file' },
  },
  form: {
    type: 'state_form',
    in: { state: '@table.state', form_id: 'add', content: '@file.state', submit_label: 'Add note' },
  },
  show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@form.state' } },
  fields: { type: 'mutations_set_bp_field_multiple', in: { object: '@form.values' } },
  create: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@form.submit', storage: '@notes.storage', mutations: '@fields.mutations' },
  },
  wide_page: { type: 'state_page', in: { url: 'wide', title: 'Wide' }, scopes: ['*public'] },
  wide_table: {
    type: 'state_advanced_datatable',
    in: {
      storage: '@notes.storage',
      table_id: 'wide',
      columns: Array.from({ length: 50 }, (_, at) => ({ field: `f${at}`, sortable: true, filter: 'text' })),
    },
  },
  wide_show: { type: 'state_render_page', in: { flow: '@wide_page.flow', state: '@wide_table.state' } },
}

let fixture: TestQuoin
let browser: SharedBrowser
let address: string
beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  await fixture.install('Notes', blocks)
  address = await fixture.quoin.server.listen()
  browser = await shareBrowser()
})
afterAll(async () => {
  await browser?.close()
  await fixture?.close()
})

/** Signed in. */
async function open(javaScriptEnabled: boolean): Promise<Page> {
  const context = await browser.newContext({ javaScriptEnabled, reducedMotion: 'reduce', baseURL: address })
  context.setDefaultTimeout(15_000)
  await context.addCookies([
    { name: 'access_token', value: await fixture.tokenOf('admin'), url: address, httpOnly: true },
  ])
  const page = await context.newPage()
  await page.goto('/notes')
  return page
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('User name or e-mail').fill('admin')
  await page.getByLabel('Password').fill(adminPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Add note' }).waitFor()
}

async function fill(page: Page, title: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Title' }).fill(title)
  await page.getByRole('textbox', { name: 'Words' }).fill(`Words of ${title} <b>&"'</b>`)
}

const send = (page: Page) => page.getByRole('button', { name: 'Add note' }).click()
const titles = async () => (await fixture.documents('notes')).map(({ title }) => title)

test.each([true, false])(
  'the same form in two windows: each is taken, JavaScript %j',
  async (js) => {
    const page = await open(js)
    const other = await page.context().newPage()
    await other.goto('/notes')
    await fill(page, `first ${js}`)
    await fill(other, `second ${js}`)
    await send(page)
    await page.getByRole('rowheader', { name: `first ${js}` }).waitFor()
    await send(other)
    await other.getByRole('rowheader', { name: `second ${js}` }).waitFor()
    expect(await titles()).toEqual(expect.arrayContaining([`first ${js}`, `second ${js}`]))
    await page.context().close()
  },
  60_000,
)

test.each([true, false])(
  'going back after sending, forward and reloading makes no second one: JavaScript %j',
  async (js) => {
    const page = await open(js)
    await fill(page, `back ${js}`)
    await send(page)
    await page.getByRole('rowheader', { name: `back ${js}` }).waitFor()
    await page.goBack().catch(() => undefined)
    await page.goForward().catch(() => undefined)
    await page.reload()
    await page.getByRole('rowheader', { name: `back ${js}` }).waitFor()
    expect((await titles()).filter((title) => title === `back ${js}`)).toHaveLength(1)
    await page.context().close()
  },
  60_000,
)

test.each([true, false])(
  'who is signed out meanwhile is asked to sign in, and nothing is stored: JavaScript %j',
  async (js) => {
    const page = await open(js)
    await fill(page, `late ${js}`)
    await page.context().clearCookies()
    await send(page)
    await page.getByLabel('User name or e-mail').waitFor()
    expect(await titles()).not.toContain(`late ${js}`)
    await signIn(page)
    await eventually(() => new URL(page.url()).pathname).toBe('/notes')
    await page.context().close()
  },
  60_000,
)

test('a table of as many columns as there may be, sorted and filtered by its last one', async () => {
  const context = await browser.newContext({ baseURL: address, viewport: { width: 390, height: 800 } })
  const page = await context.newPage()
  const reply = await page.goto('/wide?wide.sort=-f49&wide.is.f48=x')
  expect(reply?.status()).toBe(200)
  expect(
    Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth')),
  ).toBeLessThanOrEqual(0)
  await context.close()
}, 60_000)
