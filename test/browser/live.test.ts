/** What people do with a page: with the module, without JavaScript, and with the keyboard only. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { PageNode, PageView } from '../../src/shared/pages/page-content.ts'
import type { PageTable } from '../../src/shared/pages/page-table.ts'
import { defaultTemplate } from '../../src/shared/pages/page-template.ts'
import { customerTable, dashboard, formWithErrors, gallery } from './gallery-content.ts'
import type { Answer } from './gallery-server.ts'
import { type BrowserFixture, openBrowserFixture } from './open-fixture.ts'
import { eventually, textOf, textsOf } from './studio-eventually.ts'

let fixture: BrowserFixture
/** How often a page was asked for, and what is in the table. */
let asked: string[] = []
let revenue = 48_250
/** What one test answers in another way. */
let special: Answer = () => undefined

function tableFor({ searchParams }: URL): PageTable {
  const word = (searchParams.get('q') ?? '').toLowerCase()
  const sort = searchParams.get('sort')
  const rows = customerTable.rows
    .map((row, at) => (at === 0 ? { ...row, cells: row.cells.with(3, revenue) } : row))
    .filter(({ cells }) => String(cells[0]).toLowerCase().includes(word))
  const columns = customerTable.columns.map(({ sorted: _, ...column }) =>
    column.sortHref === `?sort=${sort}` ? { ...column, sorted: 'asc' as const } : column,
  )
  const { search } = customerTable
  return {
    ...customerTable,
    columns,
    rows: sort === 'amount' ? rows.toReversed() : rows,
    total: rows.length,
    ...(search && {
      search: {
        ...search,
        action: '/table',
        clearHref: '/table',
        inputs: search.inputs.map((input) =>
          input.free ? { ...input, value: searchParams.get('q') ?? '' } : input,
        ),
      },
    }),
  }
}

const emptyForm: PageNode = {
  ...(formWithErrors.kind === 'form' ? formWithErrors : { kind: 'form', id: 'x', block: 'x', content: [] }),
  action: '/form',
  errors: [],
}

/** A form and a table that follows. The forms of each have a one-time name of their own. */
function workPage(url: URL): Partial<PageView> {
  const table = tableFor(url)
  const actions = table.actions && {
    ...table.actions,
    action: '/work',
    hidden: [{ name: '_once', value: String(asked.length) }],
  }
  const search = table.search && { ...table.search, action: '/work' }
  const shown: PageTable = { ...table, ...(actions && { actions }), ...(search && { search }), live: true }
  const form = { ...emptyForm, action: '/work' } as PageNode
  return { title: 'Work', content: [form, shown], events: '/events' }
}

beforeAll(async () => {
  fixture = await openBrowserFixture(async (request) => {
    const { url, method, body } = request
    asked.push(`${method} ${url.pathname}${url.search}`)
    const other = await special(request)
    if (other) return other
    if (url.pathname === '/work' && method === 'GET') return workPage(url)
    if (url.pathname === '/table' && method === 'GET')
      return { title: 'Table', content: [{ kind: 'text', text: 'Above' }, tableFor(url)], events: '/events' }
    if (url.pathname === '/done')
      return { title: 'Done', content: [], notice: { tone: 'success', text: 'It was saved.' } }
    if (url.pathname === '/page') return { content: dashboard }
    if (url.pathname === '/gallery' && method === 'GET') return { content: gallery }
    if (url.pathname === '/form' && method === 'GET') return { title: 'Form', content: [emptyForm] }
    if (method !== 'POST') return undefined
    if (new URLSearchParams(body).get('name') === '')
      return { title: 'Form', content: [{ ...formWithErrors, action: '/form' } as PageNode] }
    return 'redirect'
  })
})
afterAll(() => fixture.close())
beforeEach(() => {
  asked = []
  revenue = 48_250
  special = () => undefined
})

/** The browser asks when this event is refused; its own question cannot be told apart from one that never came. */
const asksToLeave = (page: Page) => () =>
  page.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))")
/** All that follows on the page is fetched now, as when the page is seen again. */
const refresh = (page: Page) => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
/** What came before this has been shown, or left. */
const settle = (page: Page) => page.evaluate("fetch('/picture.svg').then((reply) => reply.text())")
const firstRow = (page: Page) => page.locator('#customers tbody tr').first()
/** Its table changes when the server says so. The connection may not stand yet: it is told again until it heard. */
async function hears(page: Page): Promise<void> {
  revenue = 99_999
  await expect
    .poll(
      () => {
        fixture.server.send('event: changed\ndata: {"table":"customers"}\n\n')
        return page.textContent('#customers tbody tr')
      },
      { interval: 400, timeout: 20_000 },
    )
    .toContain('99,999')
}
const posts = () => asked.filter((line) => line.startsWith('POST'))
const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement?.id || document.activeElement?.className || ""')

test.each([true, false])(
  'a form shows what is wrong, with the focus on it, and keeps what was typed: JavaScript %j',
  async (javaScriptEnabled) => {
    const { page } = await fixture.visit('/form', { javaScriptEnabled })
    await page.fill('#f-name', '')
    await page.fill('#f-amount', '77')
    await page.click('text=Save customer')
    await page.waitForSelector('.summary')
    await eventually(() => page.textContent('.summary')).toContain('Check 2 entries')
    await eventually(() => focused(page)).toBe('summary')
    await eventually(() => page.getAttribute('#f-name', 'aria-describedby')).toBe('f-name-error')
    await eventually(() => page.getAttribute('#f-name', 'aria-invalid')).toBe('true')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await eventually(() => focused(page)).toBe('f-name')
    expect(posts()).toEqual(['POST /form'])
    await page.context().close()
  },
)

test.each([true, false])(
  'a form that fits leads to where the server says, and Back leads back: JavaScript %j',
  async (javaScriptEnabled) => {
    const { page, complaints } = await fixture.visit('/form', { javaScriptEnabled })
    await page.fill('#f-name', 'Ashdown')
    await page.click('text=Save customer')
    await page.waitForURL('**/done')
    await eventually(() => page.textContent('.alert.success')).toContain('It was saved.')
    await eventually(() => page.title()).toContain('Done')
    const sent = new URLSearchParams(fixture.server.posted.at(-1))
    expect([sent.get('name'), sent.get('_token'), sent.get('_click'), sent.getAll('interests')]).toEqual([
      'Ashdown',
      'token',
      'save',
      ['paper'],
    ])
    // The page that says so is fetched once: it would not say it twice.
    expect(asked.filter((line) => line === 'GET /done')).toHaveLength(1)
    await page.goBack()
    await page.waitForSelector('#f-name')
    expect(complaints).toEqual([])
    await page.context().close()
  },
)

test('a form is sent once, however often its button is clicked', async () => {
  const { page } = await fixture.visit('/form')
  await page.fill('#f-name', 'Ashdown')
  await page.evaluate(`{
    const button = [...document.querySelectorAll('button')].find((one) => one.textContent === 'Save customer')
    button.click(); button.click(); button.click()
  }`)
  await page.waitForURL('**/done')
  expect(posts()).toHaveLength(1)
  await page.context().close()
})

test('leaving a form with changes asks first, leaving one without does not', async () => {
  const { page } = await fixture.visit('/form')
  await eventually(asksToLeave(page)).toBe(false)
  await page.fill('#f-name', 'half a na')
  await eventually(asksToLeave(page)).toBe(true)
  await page.fill('#f-name', '')
  await page.click('text=Save customer')
  await page.waitForSelector('.summary')
  // What was refused is not saved either.
  await eventually(asksToLeave(page)).toBe(true)
  await page.fill('#f-name', 'a whole name')
  await page.click('text=Save customer')
  await page.waitForURL('**/done')
  await eventually(asksToLeave(page)).toBe(false)
  await page.context().close()
})

test.each([true, false])('what cannot be undone is asked first: JavaScript %j', async (javaScriptEnabled) => {
  const { page } = await fixture.visit('/table', { javaScriptEnabled })
  const row = page.locator('#customers tbody tr').first()
  await row.getByRole('button', { name: 'Delete' }).click()
  const question = page.getByRole('dialog')
  await eventually(textOf(question)).toContain('Delete this customer')
  await question.getByRole('button', { name: 'Cancel' }).click()
  await eventually(() => question.count()).toBe(0)
  expect(posts()).toEqual([])
  await row.getByRole('button', { name: 'Delete' }).click()
  await question.getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL('**/done')
  expect(new URLSearchParams(fixture.server.posted.at(-1)).get('_row')).toBe('delete c0')
  await page.context().close()
})

test('sorting and searching replace the table only, and stand in the address', async () => {
  const { page, complaints } = await fixture.visit('/table')
  await page.evaluate('document.querySelector("main p").textContent = "Still here"')
  await page.click('a.sort:has-text("Revenue")')
  await page.waitForURL('**/table?sort=amount')
  await eventually(() => page.getAttribute('th:has-text("Revenue")', 'aria-sort')).toBe('ascending')
  await page.locator('#customers-search').pressSequentially('har')
  await page.waitForURL('**/table?*q=har*')
  await eventually(() => page.locator('#customers tbody tr').count()).toBe(1)
  await eventually(() => focused(page)).toBe('customers-search')
  await eventually(() => page.inputValue('#customers-search')).toBe('har')
  await eventually(() => page.textContent('main p')).toBe('Still here')
  // What was typed letter by letter is one step of the history.
  await page.goBack()
  await page.waitForURL(/\/table$/)
  await eventually(() => page.locator('#customers tbody tr').count()).toBe(8)
  expect(complaints).toEqual([])
  await page.context().close()
})

test('without JavaScript sorting, searching, filters and choosing rows work as links and forms', async () => {
  const { page } = await fixture.visit('/table', { javaScriptEnabled: false })
  await page.click('a.sort:has-text("E-mail")')
  await page.waitForURL('**/table?sort=email')
  await page.fill('#customers-search', 'caf')
  await page.click('[aria-label="Search"]')
  await page.waitForURL('**/table?*q=caf*')
  await eventually(() => page.locator('#customers tbody tr').count()).toBe(1)
  await page.click('summary:has-text("Filters")')
  await eventually(() => page.locator('#customers-state').isVisible()).toBe(true)
  await page.goto(`${fixture.server.address}/table`)
  await page.check('#customers-c1')
  await page.check('#customers-c2')
  await page.click('.bulk button:has-text("Archive")')
  await page.waitForURL('**/done')
  const sent = new URLSearchParams(fixture.server.posted.at(-1))
  expect([sent.getAll('_rows'), sent.get('_bulk')]).toEqual([['c1', 'c2'], 'archive'])
  await page.context().close()
})

test('rows are counted as they are chosen, all at once too', async () => {
  const { page } = await fixture.visit('/table')
  await eventually(() => page.locator('.bulk').isVisible()).toBe(false)
  await page.check('#customers-c1')
  await eventually(() => page.textContent('.bulk')).toContain('1 row selected')
  await page.check('#customers-all')
  await eventually(() => page.textContent('.bulk')).toContain('8 rows selected')
  await page.uncheck('#customers-all')
  await eventually(() => page.locator('.bulk').isVisible()).toBe(false)
  await page.context().close()
})

test('a table changes when the server says so; what is chosen and typed stays', async () => {
  const { page } = await fixture.visit('/table')
  await page.waitForLoadState('load')
  await page.check('#customers-c2')
  await hears(page)
  await eventually(() => page.isChecked('#customers-c2')).toBe(true)
  await page.context().close()
}, 40_000)

test('tabs are gone through with the arrows, and the keyboard reaches what is in them', async () => {
  const { page } = await fixture.visit('/gallery')
  const tabs = page.getByRole('tab')
  await eventually(textsOf(tabs)).toEqual(['Notes', 'Terms', 'Code'])
  await tabs.first().focus()
  await page.keyboard.press('ArrowRight')
  await eventually(textOf(page.getByRole('tabpanel'))).toContain('Payment within 14 days')
  await page.keyboard.press('End')
  await eventually(() => tabs.nth(2).getAttribute('aria-selected')).toBe('true')
  await page.keyboard.press('ArrowRight')
  await eventually(() => tabs.first().getAttribute('aria-selected')).toBe('true')
  await page.context().close()
})

test.each([true, false])('a modal opens and closes: JavaScript %j', async (javaScriptEnabled) => {
  const { page } = await fixture.visit('/gallery', { javaScriptEnabled })
  await page.getByRole('button', { name: 'Add a note' }).click()
  const dialog = page.getByRole('dialog', { name: 'New note' })
  await eventually(() => dialog.isVisible()).toBe(true)
  if (javaScriptEnabled) await eventually(() => page.locator('dialog:modal').count()).toBe(1)
  await dialog.getByLabel('Note').fill('Call Ann')
  await page.keyboard.press('Escape')
  await eventually(() => page.locator('#note').isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Add a note' }).click()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await eventually(() => page.locator('#note').isVisible()).toBe(false)
  await page.context().close()
})

test('the keyboard reaches everything that the mouse does, and sees where it is', async () => {
  const { page } = await fixture.visit('/table')
  await page.keyboard.press('Tab')
  await eventually(() => page.textContent(':focus')).toBe('Skip to content')
  await page.keyboard.press('Enter')
  await eventually(() => page.url()).toContain('#')
  await page.keyboard.press('Tab')
  await eventually(() => focused(page)).toBe('customers-search')
  const reached = new Set<string>()
  for (let presses = 0; presses < 80; presses += 1) {
    const [name, outline] = await page.evaluate<[string | undefined, string]>(
      `document.activeElement === document.body ? [] : [document.activeElement.textContent || document.activeElement.getAttribute('aria-label') || document.activeElement.id, getComputedStyle(document.activeElement).outlineStyle]`,
    )
    // After the last one comes the browser itself.
    if (name === undefined || name === 'Skip to content') break
    reached.add(name.trim())
    expect([name, outline]).not.toEqual([name, 'none'])
    await page.keyboard.press('Tab')
  }
  for (const name of [
    'Filters1',
    'Columns',
    'Export CSV',
    'Customer',
    'Archive',
    'Delete',
    'Ashdown & Sons',
    '12,500',
    'Next',
  ])
    expect([...reached]).toContain(name)
  await page.context().close()
})

test('a form that cannot be taken stays as it is and says why, whatever the page looks like', async () => {
  const template = { name: 't', settings: defaultTemplate, css: '/picture.svg', js: undefined }
  const busy: readonly PageNode[] = [
    { kind: 'heading', level: 1, text: 'Too busy' },
    { kind: 'text', text: 'Try again in a minute.' },
    { kind: 'link', label: 'Start', href: '/' },
  ]
  special = ({ method, url }) => {
    if (url.pathname !== '/form') return undefined
    if (method === 'GET') return { title: 'Form', content: [emptyForm], template }
    if (posts().length === 1) return { status: 503, title: 'Too busy', content: busy, noIndex: true }
    if (posts().length === 2)
      return { status: 422, content: [{ ...formWithErrors, action: '/form' } as PageNode] }
    return undefined
  }
  const { page } = await fixture.visit('/form')
  await page.fill('#f-name', 'Ashdown')
  await page.click('text=Save customer')
  await eventually(() => page.textContent('form .summary')).toBe('Too busyTry again in a minute.')
  await eventually(() => focused(page)).toBe('refused')
  expect(await page.inputValue('#f-name')).toBe('Ashdown')
  await eventually(asksToLeave(page)).toBe(true)
  await page.click('text=Save customer')
  await eventually(() => page.textContent('.summary')).toContain('Check 2 entries')
  expect(asked).toEqual(['GET /form', 'POST /form', 'POST /form'])
  await page.context().close()
})

test('an action of a row is sent once, whatever happens to its table meanwhile', async () => {
  const table = Promise.withResolvers<undefined>()
  const sent = Promise.withResolvers<undefined>()
  const { page } = await fixture.visit('/work')
  special = ({ method, url }) => (method === 'POST' ? sent.promise : url.search ? undefined : table.promise)
  await refresh(page)
  await eventually(() => asked.length).toBe(2)
  const archive = () => firstRow(page).getByRole('button', { name: 'Archive' }).click()
  await archive()
  await eventually(posts).toHaveLength(1)
  const fetched = page.waitForResponse('**/work')
  table.resolve(undefined)
  await (await fetched).finished()
  await settle(page)
  expect(await page.locator('form button[aria-busy=true]').count()).toBe(1)
  await archive()
  // The visitor's own wish is followed all the same.
  await page.click('a.sort:has-text("Revenue")')
  await page.waitForURL('**/work?sort=amount')
  await eventually(() => page.getAttribute('th:has-text("Revenue")', 'aria-sort')).toBe('ascending')
  await archive()
  sent.resolve(undefined)
  await page.waitForURL('**/done')
  expect(posts()).toHaveLength(1)
  await page.context().close()
})

test('an action of a row whose reply was lost is the same action when it is sent again', async () => {
  const { page } = await fixture.visit('/work')
  special = ({ method }) => (method === 'POST' ? 'lost' : undefined)
  const archive = () => firstRow(page).getByRole('button', { name: 'Archive' }).click()
  await archive()
  await eventually(() => page.textContent('#notice')).toContain('Could not send')
  revenue = 99_999
  await refresh(page)
  await eventually(textOf(firstRow(page))).toContain('99,999')
  special = () => undefined
  await archive()
  await page.waitForURL('**/done')
  const [first, second] = fixture.server.posted.slice(-2)
  expect(second).toBe(first)
  await page.context().close()
})

test('what is typed stays when another form is sent, and when one goes back to another view of a table', async () => {
  const { page, complaints } = await fixture.visit('/work')
  special = ({ method, url }) => (method === 'POST' && posts().length === 1 ? workPage(url) : undefined)
  await page.fill('#f-name', 'half a na')
  revenue = 99_999
  const archive = () => firstRow(page).getByRole('button', { name: 'Archive' }).click()
  await archive()
  await eventually(textOf(firstRow(page))).toContain('99,999')
  expect(await page.inputValue('#f-name')).toBe('half a na')
  await page.click('a.sort:has-text("Revenue")')
  await page.waitForURL('**/work?sort=amount')
  await page.goBack()
  await eventually(() => page.getAttribute('th:has-text("Revenue")', 'aria-sort')).toBe(null)
  expect([await page.inputValue('#f-name'), complaints]).toEqual(['half a na', []])
  // Where the form is not on the next page, its visitor decides; this one stays.
  await archive()
  await eventually(() => complaints.join()).toMatch(/^dialog: You have changes/)
  expect([await page.inputValue('#f-name'), new URL(page.url()).pathname]).toEqual(['half a na', '/work'])
  await page.context().close()
})

test('going back and forward shows the page of the address, and asks where something is typed', async () => {
  const { page, complaints } = await fixture.visit('/form')
  await page.fill('#f-name', 'Ashdown')
  await page.click('text=Save customer')
  await page.waitForURL('**/done')
  const slow = Promise.withResolvers<undefined>()
  special = () => slow.promise
  const form = page.waitForResponse('**/form')
  await page.evaluate('history.back()')
  await eventually(() => asked.at(-1)).toBe('GET /form')
  await page.evaluate('history.forward()')
  await page.waitForURL('**/done')
  slow.resolve(undefined)
  await (await form).finished()
  await settle(page)
  expect(await page.title()).toContain('Done')
  await page.goBack()
  await page.fill('#f-name', 'half a na')
  await page.evaluate('history.forward()')
  await eventually(() => complaints.join()).toMatch(/^dialog: You have changes/)
  await page.waitForURL('**/form')
  expect(await page.inputValue('#f-name')).toBe('half a na')
  await page.context().close()
})

test('a refresh that no one asked for waits for filters, searches and questions, and leaves the focus', async () => {
  const { page } = await fixture.visit('/work')
  await page.click('summary:has-text("Filters")')
  await page.fill('#customers-amount_from', '5')
  revenue = 77_777
  await refresh(page)
  await page.keyboard.press('Escape')
  await eventually(textOf(firstRow(page))).toContain('77,777')
  expect(await page.inputValue('#customers-amount_from')).toBe('5')

  const slow = Promise.withResolvers<undefined>()
  special = ({ url }) => (url.searchParams.has('q') ? slow.promise : undefined)
  await page.fill('#customers-search', 'ash')
  await eventually(() => asked.at(-1)).toContain('q=ash')
  await refresh(page)
  slow.resolve(undefined)
  await page.waitForURL('**/work?*q=ash*')
  await eventually(() => page.locator('#customers tbody tr').count()).toBe(1)

  const late = Promise.withResolvers<undefined>()
  const before = asked.length
  special = () => (asked.length === before + 1 ? late.promise : undefined)
  revenue = 99_999
  const reply = page.waitForResponse('**/work?*')
  await refresh(page)
  await eventually(() => asked.length).toBe(before + 1)
  await firstRow(page).getByRole('button', { name: 'Delete' }).click()
  late.resolve(undefined)
  await (await reply).finished()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await eventually(textOf(firstRow(page))).toContain('99,999')
  await eventually(() => page.evaluate('document.activeElement.getAttribute("popovertarget")')).toBe(
    'customers.c0.delete',
  )
  await page.context().close()
}, 40_000)

test('a page whose stream was refused listens again', async () => {
  fixture.server.refusals.push(503, 502)
  const { page } = await fixture.visit('/work')
  await hears(page)
  await page.context().close()
}, 40_000)
