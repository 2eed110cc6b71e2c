/** The server restarts in the middle of a journey: the page says so, nothing that was typed is lost, and the journey goes on. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { readOptions } from '../../src/options/options.ts'
import { openQuoin, type Quoin } from '../../src/quoin/quoin.ts'
import { adminPassword } from '../end-to-end/harness.ts'
import { type SharedBrowser, shareBrowser } from './shared-browser.ts'
import { eventually } from './studio-eventually.ts'
import { goWithin } from './studio-fixture.ts'

let directory: string
let quoin: Quoin
let address: string
let token: string
let blueprint: string
let browser: SharedBrowser
let page: Page

/** On the port of before. */
async function start(port = '0'): Promise<void> {
  const settings = { QUOIN_PORT: port, QUOIN_EXAMPLES: '0', QUOIN_LOG_LEVEL: 'silent', QUOIN_RATE_LIMIT: '0' }
  quoin = await openQuoin(
    readOptions({ ...settings, QUOIN_DATA: directory, QUOIN_ADMIN_PASSWORD: adminPassword }),
    {
      clock: Date.now,
      random: (bytes) => void crypto.getRandomValues(bytes),
      passwordCost: { memory: 64, passes: 1, parallelism: 1 },
    },
  )
  address = await quoin.server.listen()
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-restart-'))
  await start()
  const signedIn = await quoin.access.signIn({ username: 'admin', password: adminPassword, ip: '127.0.0.1' })
  token = signedIn.access_token
  const blocks = {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'greet' }, scopes: ['*public'] },
    reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: 'first' } },
  }
  const file = { name: 'Greetings', blocks, layout: { get: [0, 0], reply: [330, 0] } }
  blueprint = await installBlueprint(quoin.flows, file, { guid: '', username: 'admin' })
  browser = await shareBrowser()
  const context = await browser.newContext({ baseURL: `${address}/studio/`, reducedMotion: 'reduce' })
  await context.addInitScript(`sessionStorage.setItem('quoin.token', ${JSON.stringify(token)})`)
  context.setDefaultTimeout(20_000)
  page = await context.newPage()
  const reply = (await blocksOf()).find(({ type }) => type === 'httpconnection_set_json')
  await page.goto(`blueprints/${blueprint}?block=${reply?._meta.guid}`)
}, 240_000)

afterAll(async () => {
  await browser?.close()
  await quoin?.close()
  await rm(directory, { recursive: true, force: true })
})

interface Block {
  readonly type: string
  readonly _meta: { readonly guid: string }
}

async function blocksOf(): Promise<readonly Block[]> {
  const reply = await fetch(`${address}/api/v1/blueprints/${blueprint}/blocks`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const blocks: readonly Block[] = await reply.json()
  return blocks
}

const stored = async () => JSON.stringify(await blocksOf())
const value = () => page.getByLabel('Value of value', { exact: true })

const dialog = () => page.getByRole('dialog')
const away = 'The server does not answer.'

async function whileAway(act: () => Promise<void>): Promise<void> {
  const { port } = new URL(address)
  await quoin.close()
  try {
    await act()
  } finally {
    await start(port)
  }
}

test('what is typed while the server is away is stored when it is back', async () => {
  await value().fill('before')
  await eventually(stored).toContain('"before"')
  await whileAway(async () => {
    await value().fill('typed while it was away')
    await page.getByRole('alert').waitFor()
  })
  await eventually(stored).toContain('"typed while it was away"')
  expect(await value().inputValue()).toBe('typed while it was away')
})

test('the journey goes on: it is deployed, and answers', async () => {
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  const deploy = dialog().getByRole('button', { name: 'Save and deploy' })
  await deploy.and(page.locator(':enabled')).waitFor()
  await whileAway(async () => {
    await deploy.click()
    await page.getByText(away).first().waitFor()
  })
  await deploy.click()
  await page.getByText('Active, version 2').waitFor()
  expect(await (await fetch(`${address}/api/v1/greet`)).text()).toContain('typed while it was away')
})

test('a request of Try it is sent again', async () => {
  await page.getByRole('button', { name: 'Try it' }).click()
  const panel = page.getByRole('complementary', { name: 'Try it' })
  const query = panel.getByLabel('Query', { exact: true })
  await query.fill('name=Ann')
  await whileAway(async () => {
    await panel.getByRole('button', { name: 'Send GET' }).click()
    await page.getByText(away).first().waitFor()
  })
  expect(await query.inputValue()).toBe('name=Ann')
  await panel.getByRole('button', { name: 'Send GET' }).click()
  await panel.getByText('200', { exact: true }).waitFor()
})

test.each<[string, string, Readonly<Record<string, string>>]>([
  ['a collection', 'data', { Name: 'goods' }],
  ['the secret of a webhook', 'operate/secrets', { Name: 'PAY_KEY', Value: 'whsec_1' }],
  ['an alert', 'operate/alerts', { Name: 'dead', Webhook: 'https://example.com/dead' }],
  ['a group', 'people/groups', { Name: 'Desk' }],
])('%s: the same button goes on when the server is back', async (_what, path, typed) => {
  await goWithin(page, path)
  await page.getByRole('button', { name: /^New / }).click()
  const field = (label: string) => dialog().getByLabel(new RegExp(`^${label}( \\*)?$`))
  for (const [label, text] of Object.entries(typed)) await field(label).fill(text)
  const create = dialog().locator('button[type=submit]')
  await whileAway(async () => {
    await create.click()
    await dialog().getByText(away).waitFor()
  })
  for (const [label, text] of Object.entries(typed)) expect(await field(label).inputValue()).toBe(text)
  await create.click()
  await dialog().waitFor({ state: 'detached' })
})

test('a file is imported, and a cell of it changed, when the server is back', async () => {
  await goWithin(page, 'data')
  await page.getByRole('link', { name: 'goods' }).click()
  await page.getByRole('button', { name: 'Import' }).click()
  const chooser = page.waitForEvent('filechooser')
  await dialog().locator('button', { hasText: 'Choose a file' }).click()
  const buffer = Buffer.from('title\nFirst\n')
  await whileAway(async () => {
    await (await chooser).setFiles({ name: 'goods.csv', mimeType: '', buffer })
    await dialog().getByText(away).first().waitFor()
    // The file is not to blame.
    expect(await dialog().getByRole('alert').textContent()).toContain('The preview could not be loaded')
  })
  await dialog().getByRole('button', { name: 'Try again' }).click()
  await dialog().getByRole('cell', { name: 'First' }).waitFor()
  const begin = dialog().getByRole('button', { name: 'Import' })
  await whileAway(async () => {
    await begin.click()
    await dialog().getByText(away).first().waitFor()
  })
  await begin.click()
  await dialog().getByText('1 document imported.').waitFor()
  await dialog().getByRole('button', { name: 'Close' }).last().click()
  const cell = page.locator('[data-row="0"] [data-column="0"]')
  await cell.filter({ hasText: 'First' }).click()
  await whileAway(async () => {
    await page.keyboard.type('Second')
    await page.keyboard.press('Enter')
    await cell.getByText(away).waitFor({ state: 'attached' })
  })
  expect(await cell.textContent()).toContain('Second')
  await cell.click()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await cell.getByText(away).waitFor({ state: 'detached' })
  expect(await cell.textContent()).toBe('Second')
})
