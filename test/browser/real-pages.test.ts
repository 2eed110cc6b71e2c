/** Pages of a real Quoin in a real browser: the policy that it sends, signing in, forms, a table that follows, and use that was not planned. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminPassword, openTestQuoin, type TestQuoin } from '../end-to-end/harness.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { axeProblems } from './axe-check.ts'
import { type SharedBrowser, shareBrowser } from './shared-browser.ts'
import { eventually } from './studio-eventually.ts'

let fixture: TestQuoin
let browser: SharedBrowser
let address: string
beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  address = await fixture.quoin.server.listen()
  browser = await shareBrowser()
})
afterAll(async () => {
  await browser?.close()
  await fixture?.close()
})

describe('as planned', () => {
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
        actions: [
          { name: 'drink', label: 'Drink', for: 'both', confirm: 'Drink all of it?', tone: 'danger' },
        ],
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

  let elsewhere: LocalServer
  beforeAll(async () => {
    await fixture.install('Wines', wines)
    elsewhere = await startLocalServer((_request, reply) => {
      reply.setHeader('content-type', 'text/html').end('<title>Paid</title><p>Paid.')
    })
    await fixture.install('Paying', paying(`${elsewhere.url}/paid?by=card`))
  })
  afterAll(async () => {
    await elsewhere?.close()
  })

  async function visit(
    path: string,
    javaScriptEnabled = true,
  ): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser.newContext({ javaScriptEnabled, reducedMotion: 'reduce' })
    context.setDefaultTimeout(10_000)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => {
      // That a page is not there, or was not taken, is what some of these are about.
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text()))
        complaints.push(message.text())
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
        in: {
          flow: '@ask.flow',
          title: 'Order of 20 barrels',
          text: 'For the spring.',
          scopes: '=["buyers"]',
        },
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
})

describe('unplanned: expired sessions, two windows, going back, tables with 50 columns', () => {
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

  beforeAll(async () => {
    await fixture.install('Notes', blocks)
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
})
