/** A builder pins the reply of another server to its block, tries with it, and unpins it. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { axeProblems } from './axe-check.ts'
import { eventually, textOf } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

let asked = 0
let outside: LocalServer
let studio: StudioFixture
let page: Page
let blueprint = ''

beforeAll(async () => {
  outside = await startLocalServer((_request, response) => {
    asked += 1
    response.end(`reply ${asked}`)
  })
  studio = await openStudio({ QUOIN_ALLOWED_HOSTS: `127.0.0.1:${outside.port}` })
  const blocks = {
    get: { type: 'on_startup_register_uri_get', title: 'Stock', in: { uri: 'stock' }, scopes: ['*public'] },
    ask: { type: 'http_request', title: 'Ask', in: { flow: '@get.flow', url: outside.url } },
    told: { type: 'reply', title: 'Told', in: { flow: '@ask.flow', value: '@ask.body' } },
  }
  blueprint = await installBlueprint(
    studio.quoin.quoin.flows,
    { name: 'Stock', blocks, layout: { get: [0, 0], ask: [300, 0], told: [600, 0] } },
    { guid: '', username: 'builder' },
  )
  await studio.quoin.manage('PUT', `/blueprints/${blueprint}/tracing`, { on: true })
  page = await studio.open('admin', `blueprints/${blueprint}?panel=runs`, {
    viewport: { width: 1500, height: 900 },
  })
}, 240_000)
afterAll(async () => {
  await studio?.close()
  await outside?.close()
})

const block = (title: string): Locator =>
  page.locator(`.react-flow__node-block[aria-label^="${title}, block"]`)
const mark = () => block('Ask').getByRole('button', { name: 'pinned, unpin the reply' })
const send = async () => {
  expect((await studio.ask('GET', '/stock')).status).toBe(200)
}
const runs = () => page.getByRole('list', { name: 'Runs' }).getByRole('button')
async function menuOf(title: string): Promise<Locator> {
  await block(title).click({ button: 'right', position: { x: 60, y: 12 } })
  return page.getByRole('menu')
}
/** The newest run is the first. */
async function show(nth: number): Promise<void> {
  await page
    .getByRole('button', { name: 'All runs' })
    .click({ timeout: 2_000 })
    .catch(() => undefined)
  await runs().nth(nth).click()
  await page.getByRole('button', { name: 'Run again and compare' }).waitFor()
}
const runAgain = () => page.getByRole('button', { name: 'Run again and compare' }).click()
const compared = () => page.getByRole('region', { name: 'Compared with the run before' })

test('a reply is pinned from a shown run, on blocks outside only', async () => {
  await send()
  await send()
  await eventually(() => runs().count()).toBe(2)
  await show(1)
  expect(await (await menuOf('Told')).getByText(/[Pp]in the reply/).count()).toBe(0)
  await page.keyboard.press('Escape')
  await (await menuOf('Ask')).getByText('Pin the reply of this run').click()
  await mark().waitFor()
  await eventually(textOf(mark())).toContain('pinned')
})

test('the next try of the canvas uses it, and sends no request', async () => {
  await show(0)
  await page.getByText('1 reply is pinned').waitFor()
  await runAgain()
  await compared().getByText('reply 1').first().waitFor()
  expect(asked).toBe(2)
  await block('Ask').getByText('Pinned reply').waitFor()
})

test('what is deployed does not use it', async () => {
  await send()
  expect(asked).toBe(3)
  await eventually(async () => (await studio.ask('GET', '/stock')).body).toBe('reply 4')
  await page.getByText('Deployed', { exact: true }).click()
  await runAgain()
  await page.getByText('Same reply').waitFor()
})

test.each(['light', 'dark'] as const)('it is accessible and kept over a reload: %s', async (colorScheme) => {
  await page.emulateMedia({ colorScheme })
  await page.reload()
  await mark().waitFor()
  expect(await axeProblems(page)).toEqual([])
})

test('one click unpins it', async () => {
  await mark().click()
  await eventually(() => mark().count()).toBe(0)
  await page.reload()
  await block('Ask').waitFor()
  expect(await mark().count()).toBe(0)
  expect(studio.complaints()).toEqual([])
})
