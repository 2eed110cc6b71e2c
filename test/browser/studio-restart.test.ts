/** The server restarts in the middle of a journey: what is typed meanwhile is stored when it is back, and the journey goes on. */
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

test('what is typed while the server is away is stored when it is back', async () => {
  await value().fill('before')
  await eventually(stored).toContain('"before"')
  const { port } = new URL(address)
  await quoin.close()
  await value().fill('typed while it was away')
  await start(port)
  await eventually(stored).toContain('"typed while it was away"')
  expect(await value().inputValue()).toBe('typed while it was away')
})

test('the journey goes on: it is deployed, and answers', async () => {
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Save and deploy' }).click()
  await page.getByText('Active, version 2').waitFor()
  expect(await (await fetch(`${address}/api/v1/greet`)).text()).toContain('typed while it was away')
})
