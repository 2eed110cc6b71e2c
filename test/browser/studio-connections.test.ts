/** Connections in the studio: made, tried, changed and removed by a person, and offered to pins that take one. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { axeProblems } from './axe-check.ts'
import { studioCanvas } from './studio-canvas.ts'
import { eventually, textOf, textsOf } from './studio-eventually.ts'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'

const ordersApi = {
  openapi: '3.0.3',
  info: { title: 'Orders', version: '2' },
  webhooks: { paid: {} },
  paths: {
    '/orders/{id}': {
      get: {
        operationId: 'getOrder',
        summary: 'One order',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'state', in: 'query', schema: { type: 'string', enum: ['open', 'paid'] } },
        ],
        responses: { 200: { description: 'It' }, 404: { description: 'There is none' } },
      },
    },
  },
}

let studio: StudioFixture
let shop: LocalServer
let page: Page
let blueprint = ''
const asked: string[] = []
beforeAll(async () => {
  shop = await startLocalServer((request, response) => {
    asked.push(`${request.url} ${request.headers['x-key']}`)
    if (request.url === '/openapi.json') {
      response.end(JSON.stringify(ordersApi))
      return
    }
    if (request.url === '/pay') {
      response.writeHead(422, { 'content-type': 'application/json', 'x-request-id': 'r-17' })
      response.end('{"error":"amount must be integer cents"}')
      return
    }
    response.writeHead(request.headers['x-key'] === 'sk_live' ? 200 : 401).end('private')
  })
  studio = await openStudio({ QUOIN_SECRETS_KEY: '0f'.repeat(32), QUOIN_ALLOWED_HOSTS: '127.0.0.1' })
  await studio.quoin.manage('POST', '/_system/secrets', { name: 'SHOP_KEY', value: 'sk_live' })
  blueprint = await studio.quoin.install('Asks', {
    take: { type: 'on_startup_register_uri_get', in: { uri: 'asks' }, scopes: ['*public'] },
    reply: { type: 'reply', in: { flow: '@ask.flow', value: '=1' } },
    // On top of the others.
    ask: { type: 'http_request', title: 'Ask', in: { flow: '@take.flow', url: 'orders' } },
  })
  await studio.quoin.install('Payments', {
    pay: { type: 'on_startup_register_uri_post', in: { uri: 'pay' }, scopes: ['*public'] },
    send: {
      type: 'http_request',
      title: 'Send it',
      in: { flow: '@pay.flow', url: `${shop.url}/pay`, method: 'POST' },
      fields: { must_succeed: true },
    },
  })
  page = await studio.open('admin', 'operate/connections')
}, 240_000)
afterAll(async () => {
  await studio?.close()
  await shop?.close()
})

const stored = async () =>
  objectsOf(await studio.quoin.manage('POST', '/_system/connections/search', {})).map(
    ({ name, base_url, auth, headers, description }) => ({ name, base_url, auth, headers, description }),
  )
const dialog = () => page.getByRole('dialog')
const rows = () => page.getByRole('main').getByRole('row')

test('without connections the screen says how one is used', async () => {
  await page.getByText('No connections').waitFor()
  expect(await axeProblems(page)).toEqual([])
})

test('a connection is made; what does not fit is said in the dialog', async () => {
  await page.getByRole('button', { name: 'New connection' }).click()
  await dialog().getByRole('textbox', { name: /^Name/ }).fill('SHOP')
  await dialog().getByLabel('Base address').fill('ftp://shop.example')
  await dialog().getByRole('button', { name: 'Create' }).click()
  await dialog().getByRole('alert').waitFor()
  expect(await stored()).toEqual([])
  await dialog().getByLabel('Base address').fill(`${shop.url}/v1`)
  await dialog().getByRole('combobox', { name: 'Sign-in' }).click()
  await page.getByRole('option', { name: 'Header' }).click()
  await dialog().getByPlaceholder('x-api-key').fill('x-key')
  await dialog()
    .getByLabel(/^Secret/)
    .click()
  await page.getByRole('option', { name: 'SHOP_KEY' }).click()
  expect(await axeProblems(page)).toEqual([])
  await dialog().getByRole('button', { name: 'Create' }).click()
  await eventually(textOf(rows())).toMatch(/SHOP.*\/v1.*Header.*SHOP_KEY.* by admin/)
  const auth = { kind: 'header', header: 'x-key', secret: 'SHOP_KEY' }
  expect(await stored()).toEqual([
    { name: 'SHOP', base_url: `${shop.url}/v1`, auth, headers: {}, description: '' },
  ])
})

test('it is tried as it is stored, and the status is shown', async () => {
  await page.getByRole('link', { name: 'SHOP' }).click()
  const button = dialog().getByRole('button', { name: 'Try' })
  await dialog().getByLabel('Try a path').fill('orders')
  await button.click()
  await eventually(textOf(dialog().getByRole('status').first())).toMatch(/^Status 200 in \d+ ms\.$/)
  expect(asked).toEqual(['/v1/orders sk_live'])
  expect(await axeProblems(page)).toEqual([])
  await dialog().getByLabel('Try a path').fill('../admin')
  await button.click()
  await eventually(textOf(dialog().getByRole('status').first())).toMatch(/must not lead out/)
  await dialog().getByLabel('Base address').fill('https://elsewhere.example')
  await eventually(() => button.isDisabled()).toBe(true)
  expect(asked).toHaveLength(1)
})

test('it changes: another sign-in takes the former one away', async () => {
  await dialog().getByLabel('Base address').fill(`${shop.url}/v2`)
  await dialog().getByRole('combobox', { name: 'Sign-in' }).click()
  await page.getByRole('option', { name: 'None' }).click()
  await dialog().getByLabel('Headers').fill('{ "x-shop": "7" }')
  await dialog().getByLabel('Description').fill('Our shop')
  await dialog().getByRole('button', { name: 'Save' }).click()
  await eventually(textOf(rows())).toMatch(/Our shop.*\/v2.*None/)
  expect(await stored()).toEqual([
    {
      ...{ name: 'SHOP', base_url: `${shop.url}/v2`, auth: { kind: 'none' } },
      ...{ headers: { 'x-shop': '7' }, description: 'Our shop' },
    },
  ])
})

test('its OpenAPI document is fetched, and an operation of it becomes a block', async () => {
  await page.getByRole('link', { name: 'SHOP' }).click()
  const status = dialog().getByRole('status').last()
  await dialog().getByLabel('OpenAPI document').fill('http://127.0.0.2:9/openapi.json')
  await dialog().getByRole('button', { name: 'Fetch' }).click()
  await eventually(textOf(status)).toMatch(/private address/)
  await dialog().getByLabel('OpenAPI document').fill(`${shop.url}/openapi.json`)
  await dialog().getByRole('button', { name: 'Fetch' }).click()
  await eventually(textOf(status)).toBe('Orders 2: one operation in the palette.')
  await dialog().getByText('One part is left out').click()
  await dialog().getByText('1 webhooks').waitFor()
  expect(await axeProblems(page)).toEqual([])
  await page.keyboard.press('Escape')
  const editor = await studio.open('admin', `blueprints/${blueprint}`)
  const palette = editor.getByRole('combobox', { name: 'Search blocks' })
  await palette.fill('order')
  const operations = editor.getByRole('group', { name: 'Operations of other APIs' })
  await eventually(textsOf(operations.getByRole('option'))).toEqual([
    expect.stringContaining('GET /orders/{id} · SHOP'),
  ])
  await operations.getByRole('option').click()
  await editor.getByRole('group', { name: 'id, line' }).waitFor()
  await editor.getByRole('group', { name: 'state, value' }).waitFor()
  const added = async () =>
    (await studio.quoin.documents(systemStorages.blocks)).filter(({ type }) => type === 'call_operation')
  await eventually(added).toMatchObject([
    {
      fields: { operation: { id: 'getOrder', path: '/orders/{id}' } },
      in_pins: [{ id: 'connection', value: 'SHOP' }],
    },
  ])
  await editor.context().close()
})

test('a pin that takes a connection offers names, and takes no expression', async () => {
  const editor = await studio.open('admin', `blueprints/${blueprint}`)
  const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
  await studioCanvas(editor).choose(guidOf(blocks.find(({ title }) => title === 'Ask')))
  await editor.getByLabel('Value of connection').first().click()
  // The palette is a list of options too.
  await eventually(textsOf(editor.getByRole('option', { name: 'SHOP', exact: true }))).toEqual(['SHOP'])
  const pin = editor.getByRole('group', { name: 'connection, http_connection' })
  expect(await pin.getByRole('button').count()).toBe(0)
  await editor.context().close()
})

test('it is removed when that is confirmed', async () => {
  await page.getByRole('button', { name: 'Remove SHOP' }).click()
  await dialog().getByText('fail from then on').waitFor()
  expect(await stored()).toHaveLength(1)
  await dialog().getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No connections').waitFor()
  expect(await stored()).toEqual([])
  expect(studio.complaints()).toEqual([])
})

test('what another server replied is on the block and in the step, its body before its headers', async () => {
  const { status, body } = await studio.ask('POST', '/pay', { body: {} })
  expect([status, JSON.stringify(body)]).toEqual([503, expect.not.stringContaining('cents')])
  await goWithin(page, 'operate')
  await page
    .getByRole('row', { name: /POST.*\bpay\b/ })
    .getByRole('link', { name: 'Run' })
    .click()
  const block = page.locator('.react-flow__node-block.selected[aria-label^="Send it, block"]')
  await eventually(textOf(block)).toMatch(/422code\{error\}body/)
  const steps = page.getByRole('region', { name: 'Steps' })
  await eventually(textOf(steps)).toMatch(/code\s*422.*amount must be integer cents.*x-request-id/s)
})
