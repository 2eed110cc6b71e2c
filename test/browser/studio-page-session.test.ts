/** One session for the studio and pages. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from './studio-eventually.ts'
import { administrator, openStudio, type StudioFixture } from './studio-fixture.ts'

let studio: StudioFixture
let page: Page
beforeAll(async () => {
  studio = await openStudio()
  await studio.quoin.install('Desk', {
    page: { type: 'state_page', in: { url: 'desk', title: 'Desk' }, scopes: ['*loggedin'] },
    h1: { type: 'state_h1', in: { text: 'Only for users' } },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@h1.state' } },
  })
  page = await studio.open(undefined, 'people')
}, 120_000)
afterAll(() => studio?.close())

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
