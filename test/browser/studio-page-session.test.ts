/** Pages and who may use them: built by keys, signed in to once, and opened to groups; one session over the tabs of a browser. */
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { guidOf } from '../end-to-end/harness.ts'
import { axeProblems } from './axe-check.ts'
import { eventually, press, press as pressIn } from './studio-eventually.ts'
import { administrator, goWithin, studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'
import { pointerEvents, type StudioOutline, studioOutline, watchPointer } from './studio-outline.ts'

const studio = studioOfSuite()

describe('a first page is built and deployed without a mouse: every step is a key', () => {
  let page: Page
  let outline: StudioOutline
  beforeAll(async () => {
    page = await studio.open(undefined, 'blueprints')
    await watchPointer(page)
    // A load from an empty page is followed by moves of a mouse that Chromium makes up.
    await page.reload()
    outline = studioOutline(page)
  })

  const press = (key: string) => pressIn(page, key)
  const focusedOn = (name: string | RegExp) => eventually(outline.focused).toMatch(name)

  test('signing in, and on to an empty outline', async () => {
    await focusedOn('User name or e-mail')
    await page.keyboard.type(administrator.username)
    await press('Tab')
    await page.keyboard.type(administrator.password)
    await press('Enter')
    await page.getByText('No blueprints yet').waitFor()
    await press('n')
    await focusedOn(/^Name/)
    await page.keyboard.type('Welcome page')
    await press('Enter')
    await page.getByText('Start with a trigger').waitFor()
    await press('o')
    await page.getByRole('tree').waitFor()
  })

  test('a page with a line of text is deployed and read', async () => {
    await outline.add('page')
    await outline.write('hello')
    await outline.add('show page')
    await outline.goTo(/Show page/, /pin state/)
    await outline.add('text')
    await outline.write('Good morning')
    await press('ControlOrMeta+Enter')
    await focusedOn(/^Save, deploy and activate/)
    await press('Enter')
    await page.getByText('Active, version 1').waitFor()
    const reply = await fetch(`${studio.address}/hello`, {
      headers: { authorization: `Bearer ${await studio.quoin.tokenOf('admin')}`, accept: 'text/html' },
    })
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('Good morning')])
    expect(await pointerEvents(page)).toBe(0)
    expect(studio.complaints()).toEqual([])
  }, 120_000)
})

describe('one session for the studio and pages', () => {
  let page: Page
  beforeAll(async () => {
    await studio.quoin.install('Desk', {
      page: { type: 'state_page', in: { url: 'desk', title: 'Desk' }, scopes: ['*loggedin'] },
      h1: { type: 'state_h1', in: { text: 'Only for users' } },
      show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@h1.state' } },
    })
    page = await studio.open(undefined, 'people')
  })

  const desk = () => `${studio.address}/desk`
  const cookieOf = async () =>
    (await page.context().cookies()).find(({ name }) => name === 'access_token')?.value ?? ''
  const stored = () => page.evaluate<string | null>("sessionStorage.getItem('quoin.token')")
  async function beside(address: string): Promise<Page> {
    const tab = await page.context().newPage()
    await tab.goto(address)
    return tab
  }

  async function signIn(): Promise<void> {
    await page.getByLabel('User name or e-mail').fill(administrator.username)
    await page.getByLabel('Password', { exact: true }).fill(administrator.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Users', exact: true }).waitFor()
    await eventually(async () => (await cookieOf()) === ((await stored()) ?? 'nothing')).toBe(true)
  }

  test('a page asks an anonymous visitor to sign in, and a user of the studio not', async () => {
    const before = await beside(desk())
    await before.getByRole('button', { name: 'Sign in' }).waitFor()
    await signIn()
    await before.goto(desk())
    await before.getByRole('heading', { name: 'Only for users' }).waitFor()
    expect(before.url()).toBe(desk())
    await before.close()
  })

  test('no script reads the session of pages', async () => {
    const tab = await beside(desk())
    expect(await tab.evaluate('document.cookie')).not.toContain('access_token')
    await tab.close()
  })

  test('signing out of the studio signs out of pages', async () => {
    await page.getByRole('button', { name: /your account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Quoin' }).waitFor()
    await eventually(cookieOf).toBe('')
    const tab = await beside(desk())
    await tab.getByRole('button', { name: 'Sign in' }).waitFor()
    await tab.close()
  })

  test('signing out on a page signs out of the studio', async () => {
    await signIn()
    const tab = await beside(`${studio.address}/logout`)
    await tab.getByRole('main').getByRole('button', { name: 'Sign out' }).click()
    await tab.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in to Quoin' }).waitFor()
  })

  test('another user who signs in on a page ends the session of the studio, and keeps the page when the studio is opened', async () => {
    const { quoin } = studio
    await quoin.manage('POST', '/users', { username: 'bob', password: 'correct horse battery', active: true })
    await signIn()
    const tab = await beside(`${studio.address}/login`)
    await tab.getByLabel('User name').fill('bob')
    await tab.getByLabel('Password').fill('correct horse battery')
    await tab.getByRole('main').getByRole('button', { name: 'Sign in' }).click()
    await eventually(cookieOf).not.toBe((await stored()) ?? '')
    const bobs = await cookieOf()
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in to Quoin' }).waitFor()
    // A tab of the studio with a session of its own, in the same browser.
    const token = JSON.stringify(await quoin.tokenOf('admin'))
    await page.evaluate(`sessionStorage.setItem('quoin.token', ${token})`)
    const shared = page.waitForResponse((response) => response.url().endsWith('/auth/pages'))
    await page.reload()
    expect(await (await shared).json()).toEqual({ shared: false })
    expect(await cookieOf()).toBe(bobs)
  })

  test('the browser has complained of nothing', () => {
    expect(studio.complaints()).toEqual([])
  })
})

describe('who may use a storage is chosen by groups', () => {
  let page: Page
  beforeAll(async () => {
    page = await studio.open('admin', 'people/groups?open=new')
  })

  /** A second try has groups and a storage of its own. */
  let tries = 0
  let storage = ''
  let blueprint = ''

  const dialog = () => page.getByRole('dialog')
  const who = (label: string, choice: string) =>
    dialog().getByRole('radiogroup', { name: label }).getByText(choice, { exact: true }).click()
  /** Of the pages that were made last. */
  const triggers = async () => {
    const found = await studio.quoin.manage('POST', '/blueprintactions/search', {
      filters: { type: ['state_page', 'on_startup_register_resource'] },
      sort: [{ '_meta.cms': 'asc' }],
    })
    return JSON.parse(JSON.stringify(found)).filter((one: JsonObject) => one.blueprint_guid === blueprint)
  }
  const scopesOfPages = async () =>
    (await triggers()).flatMap((one: { type: string; scopes: string[]; unsaved?: { scopes?: string[] } }) =>
      one.type === 'state_page' ? [one.unsaved?.scopes ?? one.scopes] : [],
    )
  const groups = () => studio.quoin.manage('POST', '/_system/authentication-groups/search', {})

  test('after a scope was typed, nothing lies over Create', async () => {
    const group = `Mail${++tries}`
    if (tries > 1) await page.goto('people/groups?open=new')
    await dialog().waitFor()
    await dialog().getByRole('textbox', { name: 'Name' }).fill(group)
    await dialog().getByRole('combobox', { name: 'Scopes' }).fill('mail_read')
    await page.keyboard.press('Enter')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect(await groups()).toContainEqual(expect.objectContaining({ name: group, scopes: ['mail_read'] }))
  })

  test('made pages ask for the scopes that the chosen groups are given', async () => {
    const { manage } = studio.quoin
    storage = `contracts_${++tries}`
    const [group, office] = [`Sales${tries}`, `Office${tries}`]
    await manage('POST', '/_system/storages', { name: storage })
    await manage('POST', '/blueprintfields', { name: 'title', type: 'string', storage })
    await manage('POST', '/_system/authentication-groups', { name: group, scopes: ['mail_read'] })
    await manage('POST', '/_system/authentication-groups', { name: office, scopes: [] })
    // Loaded again: the list of groups is not read twice in one second.
    await page.goto('data')
    await page.getByRole('link', { name: storage, exact: true }).first().click()
    await page.getByRole('button', { name: 'Make pages' }).click()
    await who('Who may see the documents', 'These groups')
    await dialog()
      .getByRole('combobox', { name: 'Who may see the documents: groups' })
      .fill(group.toLowerCase())
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await dialog().getByText(`${storage}_read and ${storage}_write`).waitFor()
    await settled(page)
    await expectNoProblem(page, 'the dialog that makes pages')
    await dialog().getByRole('button', { name: 'Make and activate' }).click()
    await page.waitForURL(/\/blueprints\/[0-9a-f-]{36}/)
    blueprint = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    const read = [`${storage}_read`, `${storage}_write`]
    const write = [`${storage}_write`]
    expect(await scopesOfPages()).toEqual([read, write, read, write])
    expect(await groups()).toContainEqual(
      expect.objectContaining({ name: group, scopes: ['mail_read', ...read] }),
    )
    expect(await groups()).toContainEqual(expect.objectContaining({ name: office, scopes: [] }))
  })

  test('one place changes all pages, and says what counts at the next deploy', async () => {
    // What a first try has staged.
    await studio.quoin.manage('DELETE', `/blueprintactions/unsaved/${blueprint}`)
    await goWithin(page, 'data')
    await page.getByRole('link', { name: storage, exact: true }).first().click()
    await page.getByRole('button', { name: `More about ${storage}` }).click()
    await page.getByRole('menuitem', { name: 'Who may use it' }).click()
    await dialog().getByText(`/${storage}/new`).waitFor()
    await who('Who may see the documents', 'Signed-in users')
    await eventually(() => dialog().getByText('more users').count()).toBe(2)
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().getByText('in use when these blueprints are deployed').waitFor()
    await settled(page)
    await expectNoProblem(page, 'who may use a storage')
    const write = [`${storage}_write`]
    expect(await scopesOfPages()).toEqual([['*loggedin'], write, ['*loggedin'], write])
    expect(studio.complaints()).toEqual([])
  })

  test('before a choice nothing is marked, also where pages admit different users', async () => {
    const { _meta } = (await triggers()).find((one: { type: string }) => one.type === 'state_page')
    await studio.quoin.manage('PUT', `/blueprintactions/${_meta.guid}`, { scopes: ['mail_read'] })
    await page.goto(`${studio.address}/studio/data`)
    await page.getByRole('button', { name: `More about ${storage}` }).click()
    await page.getByRole('menuitem', { name: 'Who may use it' }).click()
    await dialog().getByText('They admit different users now.').waitFor()
    expect(
      await dialog()
        .getByText(/(?:more|fewer|other) users/)
        .count(),
    ).toBe(0)
    await who('Who may see the documents', 'Signed-in users')
    await dialog()
      .getByText(/(?:more|other) users/)
      .first()
      .waitFor()
  })

  test('a group that is there from the start is copied, with its scopes', async () => {
    const name = `Readers ${Date.now()}`
    await page.goto('people/groups')
    await page.getByRole('button', { name: 'Copy the group viewer' }).click()
    const dialog = page.getByRole('dialog', { name: 'New group' })
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Copy of viewer')
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('button', { name: `Copy the group ${name}` }).waitFor()
    const scopesOf = (one: string) =>
      JSON.parse(JSON.stringify(all)).find((group: { name: string }) => group.name === one)?.scopes
    const all = await groups()
    expect(scopesOf('viewer')).toContain('storages_view')
    expect(scopesOf(name)).toEqual(scopesOf('viewer'))
  })

  test('granting a group says what it adds, and one screen says what a user may do and why', async () => {
    const name = `ida-${Date.now()}`
    const guid = await studio.quoin.addUser(name, ['orders'])
    await studio.quoin.manage('POST', '/_system/storages', { name: `deals-${guid.slice(-12)}` })
    await studio.quoin.install(`Orders ${guid.slice(-12)}`, {
      open: { type: 'on_startup_register_uri_get', in: { uri: `orders-${guid}` }, scopes: ['orders'] },
      open_reply: { type: 'httpconnection_set_json', in: { flow: '@open.flow', value: 1 } },
      shut: { type: 'on_startup_register_uri_get', in: { uri: `shut-${guid}` }, scopes: ['boss'] },
      shut_reply: { type: 'httpconnection_set_json', in: { flow: '@shut.flow', value: 1 } },
    })
    await page.goto(`people/users/${guid}`)
    await page.getByRole('combobox', { name: 'Groups' }).click()
    await page.getByRole('option', { name: 'viewer' }).click()
    const change = page.getByRole('alert').filter({ hasText: 'What this changes' })
    await change.getByText(/The user may from then on: .*view storages/).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('option', { name: 'viewer' }).waitFor({ state: 'detached' })
    await expectNoProblem(page, 'what a group adds')
    await page.getByRole('button', { name: 'Save' }).click()
    await change.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'What may this user do?' }).click()
    await page.getByRole('heading', { name: `What ${name} may do` }).waitFor()
    const row = (words: string) => page.getByRole('row').filter({ hasText: words })
    await row('view storages').getByText('the group viewer').waitFor()
    await page.getByLabel('Search addresses and storages').first().fill(guid)
    await row(`orders-${guid}`).getByText('orders from the user itself.').waitFor()
    await row(`shut-${guid}`).getByText('The user holds none of boss.').waitFor()
    await expectNoProblem(page, 'what a user may do')
  })
})

describe('one session over the tabs of a browser, and shortcuts of one character that can be switched off', () => {
  let page: Page
  let storage: string
  beforeAll(async () => {
    storage = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'goods' }))
  })

  beforeEach(async () => {
    page = await studio.open(undefined, 'people')
  })

  const beside = async (path: string) => {
    const tab = await page.context().newPage()
    await tab.goto(path)
    return tab
  }
  const asksToSignIn = (tab: Page) => tab.getByRole('heading', { name: 'Sign in to Quoin' })
  const showsUsers = (tab: Page) => tab.getByRole('heading', { name: 'Users', exact: true })

  async function signIn(tab: Page): Promise<void> {
    await tab.getByLabel('User name or e-mail').fill(administrator.username)
    await tab.getByLabel('Password', { exact: true }).fill(administrator.password)
    await tab.getByRole('button', { name: 'Sign in' }).click()
    await showsUsers(tab).waitFor()
  }

  async function endSession(tab: Page): Promise<void> {
    const token = await tab.evaluate("sessionStorage.getItem('quoin.token')")
    await fetch(`${studio.address}/api/v1/auth/signout`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
  }

  test('a second tab is not signed in when the first one is not', async () => {
    await asksToSignIn(page).waitFor()
    const tab = await beside('people')
    await asksToSignIn(tab).waitFor()
    expect(await tab.evaluate("sessionStorage.getItem('quoin.token')")).toBeNull()
  })

  test('a browser of its own knows nothing of the session', async () => {
    await signIn(page)
    const other = await studio.open(undefined, 'people')
    await asksToSignIn(other).waitFor()
  })

  test('a new tab is signed in, without staying signed in', async () => {
    await signIn(page)
    const tab = await beside('people')
    await showsUsers(tab).waitFor()
    expect(await tab.evaluate("localStorage.getItem('quoin.token')")).toBeNull()
  })

  test('signing in in one tab signs in the other that waits for it, and signing out counts in both', async () => {
    const tab = await beside('people')
    await asksToSignIn(tab).waitFor()
    await page.getByLabel('Stay signed in on this machine').check()
    await signIn(page)
    await showsUsers(tab).waitFor()
    expect(await page.evaluate("localStorage.getItem('quoin.token')")).toMatch(/./)
    await tab.getByRole('button', { name: /your account/ }).click()
    await tab.getByRole('menuitem', { name: 'Sign out' }).click()
    await asksToSignIn(page).waitFor()
    await asksToSignIn(tab).waitFor()
  })

  test('a tab of another user stays signed in when the first signs out', async () => {
    await signIn(page)
    const tab = await beside('people')
    await showsUsers(tab).waitFor()
    await tab.evaluate(
      `sessionStorage.setItem('quoin.token', ${JSON.stringify(await studio.quoin.tokenOf('admin'))})`,
    )
    await tab.reload()
    await showsUsers(tab).waitFor()
    await page.getByRole('button', { name: /your account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await asksToSignIn(page).waitFor()
    await tab.getByRole('link', { name: 'Groups' }).first().click()
    await tab.getByRole('heading', { name: 'Groups', exact: true }).waitFor()
  })

  test('a session that ends while its user types loses nothing: the same user signs in over it and goes on', async () => {
    await signIn(page)
    await goWithin(page, 'data/fields?open=new')
    const dialog = page.getByRole('dialog')
    const name = dialog.getByRole('textbox', { name: /^Name/ }).first()
    await name.fill('typed_before')
    // The session ends on the server; the next request of the page finds out.
    await endSession(page)
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Your session has expired').waitFor()
    await page.keyboard.press('Escape')
    expect(await axeProblems(page)).toEqual([])
    await eventually(() => page.getByLabel('User name or e-mail').inputValue()).toBe(administrator.username)
    await eventually(() =>
      page.getByLabel('Password', { exact: true }).evaluate((one) => one.matches(':focus')),
    ).toBe(true)
    // Who that is cannot be asked at first: an answer that does not come is no other user.
    await page.route('**/users/me', (route) => route.fulfill({ status: 503 }), { times: 2 })
    await page.getByLabel('Password', { exact: true }).fill(administrator.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('What you typed is sent as soon as').waitFor()
    // What was sent is sent again by itself.
    await page.getByText('typed_before').first().waitFor()
    await dialog.waitFor({ state: 'detached' })
    const fields = await studio.ask('POST', '/blueprintfields/search', { as: 'admin', body: {} })
    expect(JSON.stringify(fields.body)).toContain('typed_before')
  })

  test('a file that is imported or uploaded when the session has ended is sent again behind the sign-in', async () => {
    await signIn(page)
    await goWithin(page, `data/storages/${storage}`)
    await page.getByRole('button', { name: 'Import' }).click()
    const dialog = page.getByRole('dialog', { name: 'Import documents' })
    const again = async () => {
      await page.getByText('Your session has expired').waitFor()
      await page.getByLabel('Password', { exact: true }).fill(administrator.password)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    const text = (name: string, content: string) => ({ name, mimeType: '', buffer: Buffer.from(content) })
    await endSession(page)
    await dialog.locator('input[type=file]').setInputFiles(text('goods.csv', 'title\nFirst\n'))
    await again()
    await dialog.getByRole('cell', { name: 'First' }).waitFor()
    await endSession(page)
    await dialog.getByRole('button', { name: 'Import' }).click()
    await again()
    await dialog.getByText('1 document imported.').waitFor()
    await goWithin(page, 'assets')
    await endSession(page)
    await page.locator('input[type=file]').setInputFiles(text('a.txt', 'a'))
    await again()
    await page.getByText('a.txt uploaded').waitFor()
  })

  test('what one user typed is not sent as another, who gets a studio of their own', async () => {
    await studio.quoin.addUser('bea', ['*'])
    await signIn(page)
    await goWithin(page, 'data/fields?open=new')
    await page.getByRole('dialog').getByRole('textbox', { name: /^Name/ }).first().fill('typed_by_admin')
    await endSession(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    await page.getByText('Your session has expired').waitFor()
    const token = await studio.quoin.tokenOf('bea')
    const context = page.context()
    await context.route('**/api/v1/auth/signin', (route) => route.fulfill({ json: { access_token: token } }))
    await page.getByLabel('User name or e-mail').fill('bea')
    await page.getByLabel('Password', { exact: true }).fill('any')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: /^BE, your account/ }).waitFor()
    const fields = await studio.ask('POST', '/blueprintfields/search', { as: 'admin', body: {} })
    expect(JSON.stringify(fields.body)).not.toContain('typed_by_admin')
  })

  test('shortcuts of one character stop when they are switched off; those with Ctrl go on', async () => {
    await signIn(page)
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    const letters = page.getByRole('switch', { name: 'Shortcuts of one character' })
    await press(page, '?')
    await dialog.getByText('Go to Blueprints').waitFor()
    await letters.focus()
    await page.keyboard.press('Space')
    await eventually(() => dialog.getByText('Go to Blueprints').count()).toBe(0)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await press(page, '?')
    await press(page, 'g')
    await page.keyboard.press('b')
    await press(page, 'Control+k')
    await page.getByRole('dialog').waitFor()
    expect(await dialog.count()).toBe(0)
    expect(new URL(page.url()).pathname).toBe('/studio/people')
    await page.keyboard.press('Escape')
    // Kept over a reload, and switched on again where no key is needed.
    await page.goto('account')
    await letters.waitFor()
    expect(await letters.isChecked()).toBe(false)
    expect(await axeProblems(page)).toEqual([])
    await letters.focus()
    await page.keyboard.press('Space')
    await page.getByRole('heading', { name: 'Your account' }).click()
    await press(page, '?')
    await dialog.waitFor()
  })
})
