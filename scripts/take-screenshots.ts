/**
 * Takes the pictures of the studio in `docs/screenshots`: `node scripts/take-screenshots.ts [name …]`. Starts a server with
 * sample content on a free port and in a folder of its own, and a browser; both are gone afterwards. The studio must be built.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { createBlueprint } from '../src/flows/blueprints/blueprint-records.ts'
import { installBlueprint } from '../src/flows/blueprints/install-blueprint.ts'
import { readOptions } from '../src/options/options.ts'
import { openQuoin } from '../src/quoin/quoin.ts'
import { guidOf } from '../src/storage/document-fields.ts'
import { openBrowser } from '../test/browser/open-browser.ts'
import { fillCluster, type StudioContent } from '../test/browser/studio-content.ts'
import { palettePng } from './palette-png.ts'

interface Content extends StudioContent {
  /** A blueprint without blocks. */
  readonly empty: string
  /** One with a request and its reply. */
  readonly greeting: string
}

interface Picture {
  /** `studio-<name>.png` */
  readonly name: string
  /** Below `/studio`. */
  readonly path: (content: Content) => string
  readonly look?: 'dark'
  /** What is done before the picture is taken. */
  readonly prepare?: (page: Page) => Promise<void>
  readonly signedOut?: true
}

/** Each is shown in a guide or in the README, as `test/house.test.ts` says. */
const pictures: readonly Picture[] = [
  { name: 'sign-in', path: () => '', signedOut: true },
  { name: 'application', path: () => 'blueprints/applications/harbour' },
  { name: 'draft', path: ({ draft }) => `blueprints/applications/drafts/${draft}` },
  { name: 'canvas', path: ({ tasks }) => `blueprints/${tasks}` },
  { name: 'empty-canvas', path: ({ empty }) => `blueprints/${empty}` },
  { name: 'fitting-blocks', path: ({ greeting }) => `blueprints/${greeting}`, prepare: dragIntoEmpty },
  { name: 'first-endpoint', path: ({ greeting }) => `blueprints/${greeting}?panel=try`, prepare: sendAnn },
  { name: 'outline', path: ({ tasks }) => `blueprints/${tasks}?view=outline`, prepare: firstRow },
  { name: 'try', path: ({ tasks }) => `blueprints/${tasks}?panel=try`, prepare: sendOne },
  { name: 'documents', path: ({ storage }) => `data/storages/${storage}?filter=status~is~open` },
  {
    name: 'document-history',
    path: ({ storage, document }) => `data/storages/${storage}/documents/${document}?tab=history`,
  },
  { name: 'field', path: () => 'data/fields?open=new' },
  { name: 'assets', path: () => 'assets' },
  { name: 'operate', path: () => 'operate' },
  { name: 'operate-dark', path: () => 'operate', look: 'dark' },
  { name: 'queues', path: () => 'operate/queues' },
  { name: 'waits', path: () => 'operate/waits', prepare: openWait },
  { name: 'secret', path: () => 'operate/secrets?open=new' },
  { name: 'connection', path: () => 'operate/connections?open=new' },
  { name: 'spaces', path: () => 'operate/spaces' },
  { name: 'groups', path: () => 'people/groups' },
  { name: 'account', path: () => 'account' },
  { name: 'run', path: ({ tasks }) => `blueprints/${tasks}`, prepare: showRun },
  // Last: what it stages would be in the others.
  { name: 'deploy', path: ({ tasks }) => `blueprints/${tasks}?view=outline`, prepare: changeAndDeploy },
]

async function dragIntoEmpty(page: Page): Promise<void> {
  const pin = page.locator('.react-flow__handle.source[data-handleid="flow"]').first()
  await pin.dragTo(page.locator('.react-flow__pane'), { targetPosition: { x: 560, y: 560 }, steps: 8 })
  await page.getByRole('dialog').getByRole('option').first().waitFor()
}

async function firstRow(page: Page): Promise<void> {
  await page.getByRole('treeitem').first().click()
}

async function changeAndDeploy(page: Page): Promise<void> {
  await page.getByRole('treeitem').filter({ hasText: 'GET /tasks' }).first().click()
  await page.getByLabel('Value of uri', { exact: true }).fill('tasks/all')
  await page.getByText('1 staged').waitFor()
  await page.keyboard.press('ControlOrMeta+Enter')
  await page.getByRole('dialog').locator('section').first().waitFor()
}

async function sendOne(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send GET' }).click()
  await page.getByRole('complementary', { name: 'Try it' }).getByText('200', { exact: true }).waitFor()
}

async function sendAnn(page: Page): Promise<void> {
  await page
    .getByRole('complementary', { name: 'Try it' })
    .getByLabel('Query', { exact: true })
    .fill('name=Ann')
  await sendOne(page)
}

async function showRun(page: Page): Promise<void> {
  const run = await page.evaluate(async () => {
    const headers = {
      authorization: `Bearer ${sessionStorage.getItem('quoin.token')}`,
      'content-type': 'application/json',
      'x-quoin-trace': '1',
    }
    const body = JSON.stringify({ title: 'Buy milk', status: 'open' })
    const reply = await fetch('/api/v1/tasks', { method: 'POST', headers, body })
    return reply.headers.get('x-quoin-run')
  })
  await page.goto(`${page.url()}?panel=runs&run=${run}`)
  await page
    .getByText(/^\d+ steps$/)
    .first()
    .waitFor()
  await page.keyboard.press('f')
}

async function openWait(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Order of Ada' }).click()
  await page.getByRole('dialog').getByText('Waits for').waitFor()
}

const viewport = { width: 1280, height: 800 }

async function take(browser: Browser, address: string, token: string, content: Content, one: Picture) {
  const context = await browser.newContext({
    baseURL: `${address}/studio/`,
    viewport,
    colorScheme: one.look === 'dark' ? 'dark' : 'light',
    reducedMotion: 'reduce',
  })
  if (!one.signedOut)
    await context.addInitScript(`sessionStorage.setItem('quoin.token', ${JSON.stringify(token)})`)
  const page = await context.newPage()
  await page.goto(one.path(content))
  await page.getByRole('heading').first().waitFor()
  // Pictures may wait for a moment, which tests must not: bars, tables and the small map have settled then. The editor
  // asks for news so often that the network is never idle.
  await page.waitForTimeout(1000)
  await one.prepare?.(page)
  await page.waitForTimeout(700)
  const png = palettePng(await page.screenshot())
  await writeFile(fileURLToPath(new URL(`studio-${one.name}.png`, folder)), png)
  await context.close()
}

/** Two writes for the picture of a document's history. */
async function changeWithHistory(address: string, token: string, { storage, document }: StudioContent) {
  const path = `${address}/api/v1/_system/storages/${storage}`
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const put = (to: string, body: object) => fetch(to, { method: 'PUT', headers, body: JSON.stringify(body) })
  await put(path, { history: true })
  await put(`${path}/documents/${document}`, { status: 'open' })
  await put(`${path}/documents/${document}`, { status: 'done' })
}

const greeting = {
  name: 'Greeting',
  blocks: {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'greeting' }, scopes: ['*public'] },
    reply: {
      type: 'httpconnection_set_json',
      in: { flow: '@get.flow', value: '={ hello: params.name ?? "world" }' },
    },
  },
  layout: { get: [0, 0], reply: [330, 30] },
}

/** A run that waits for a person. */
const orders = {
  name: 'Orders',
  blocks: {
    post: { type: 'on_startup_register_uri_post', in: { uri: 'approved-orders' }, scopes: ['*public'] },
    ask: {
      type: 'wait_for_approval',
      in: {
        flow: '@post.flow',
        title: 'Order of Ada',
        text: 'Above the limit. Please look at it.',
        fields: '={ Customer: "Ada", Price: 5000 }',
        scopes: ['orders_approve'],
        for: '3d',
      },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@ask.now', value: '="waiting"' } },
  },
  layout: { post: [0, 0], ask: [330, 0], reply: [660, 0] },
}

const folder = new URL('../docs/screenshots/', import.meta.url)
const chosen = process.argv.slice(2)
const password = 'a password for pictures'
const directory = await mkdtemp(join(tmpdir(), 'quoin-pictures-'))
const quoin = await openQuoin(
  readOptions({
    QUOIN_DATA: directory,
    QUOIN_PORT: '0',
    QUOIN_ADMIN_PASSWORD: password,
    QUOIN_LOG_LEVEL: 'silent',
    QUOIN_RATE_LIMIT: '0',
    // It takes longer than a sign-in counts as new.
    QUOIN_CONFIRM_SECONDS: '0',
    QUOIN_NODE: 'quoin-1',
  }),
  { clock: Date.now, random: (bytes) => void crypto.getRandomValues(bytes), synchronous: 'OFF' },
)
const browser = await openBrowser()
try {
  const address = await quoin.server.listen()
  const signIn = { username: 'admin', password, ip: '127.0.0.1' }
  const { access_token: token } = await quoin.access.signIn(signIn)
  const by = { guid: '', username: 'admin' }
  const empty = await createBlueprint(quoin.flows.records, quoin.flows.random, { name: 'Greeting' }, by)
  const filled = await fillCluster(address, token)
  await changeWithHistory(address, token, filled)
  const content: Content = {
    ...filled,
    empty: guidOf(empty),
    greeting: await installBlueprint(quoin.flows, greeting, by),
  }
  await installBlueprint(quoin.flows, orders, by)
  await fetch(`${address}/api/v1/approved-orders`, { method: 'POST' })
  for (const one of pictures)
    if (chosen.length === 0 || chosen.includes(one.name)) {
      await take(browser, address, token, content, one)
      console.log(`studio-${one.name}.png`)
    }
} finally {
  await browser.close()
  await quoin.close()
  await rm(directory, { recursive: true, force: true })
}
