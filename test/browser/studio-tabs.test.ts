/** One session over the tabs of a browser, and shortcuts of one character that can be switched off. */
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { guidOf } from '../end-to-end/harness.ts'
import { axeProblems } from './axe-check.ts'
import { eventually, press } from './studio-eventually.ts'
import { administrator, goWithin, studioOfSuite } from './studio-fixture.ts'

const studio = studioOfSuite()
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
  await signIn(page)
  await showsUsers(tab).waitFor()
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
  await page.getByLabel('Password', { exact: true }).fill(administrator.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
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
