/** What flows use of other servers, in the studio: connections and secrets, made, changed, removed and offered to pins, and pinned replies. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { axeProblems } from './axe-check.ts'
import { studioCanvas } from './studio-canvas.ts'
import { eventually, textOf, textsOf } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'

const studio = studioOfSuite({ QUOIN_SECRETS_KEY: '0f'.repeat(32), QUOIN_ALLOWED_HOSTS: '127.0.0.1' })

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

let page: Page
beforeAll(async () => {
  page = await studio.open('admin', 'nowhere')
}, 240_000)

describe('connections', () => {
  let shop: LocalServer
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
    await page.setViewportSize({ width: 1280, height: 800 })
    await goWithin(page, 'operate/connections')
  }, 240_000)
  afterAll(async () => {
    for (const secret of objectsOf(await studio.quoin.manage('POST', '/_system/secrets/search', {})))
      await studio.quoin.manage('DELETE', `/_system/secrets/${guidOf(secret)}`)
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
    await status.getByRole('link', { name: 'QUOIN_ALLOWED_HOSTS' }).waitFor()
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
    expect(await textsOf(pin.getByRole('button'))()).toEqual(['New connection …'])
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
})

describe('secrets, which are never shown', () => {
  let blueprint = ''
  beforeAll(async () => {
    blueprint = await studio.quoin.install('Signed', {
      take: { type: 'on_startup_register_uri_post', in: { uri: 'signed' }, scopes: ['*public'] },
      reply: { type: 'reply', in: { flow: '@check.valid', value: '=1' } },
      // On top of the others.
      check: {
        type: 'check_signature',
        title: 'Check',
        in: { flow: '@take.flow', secret: 'STRIPE' },
        fields: { sender: 'stripe' },
      },
    })
    await page.setViewportSize({ width: 1280, height: 800 })
    await goWithin(page, 'operate/secrets')
  }, 240_000)

  const secrets = () => studio.quoin.quoin.flows.secrets
  const dialog = () => page.getByRole('dialog')
  const rows = () => page.getByRole('main').getByRole('row')

  test('without secrets the screen says how one is used', async () => {
    await page.getByText('No secrets').waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  test('a secret is set; the list shows who uses it and not its value', async () => {
    await page.getByRole('button', { name: 'New secret' }).click()
    await dialog().getByLabel('Name').fill('a-b')
    await dialog()
      .getByRole('textbox', { name: /^Value/ })
      .fill('sk_live_first')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await dialog().getByRole('alert').waitFor()
    expect(secrets().names()).toEqual([])
    await dialog().getByLabel('Name').fill('STRIPE')
    expect(await axeProblems(page)).toEqual([])
    await dialog().getByRole('button', { name: 'Create' }).click()
    await eventually(textOf(rows())).toMatch(/STRIPE.*Signed.* by admin/)
    expect(secrets().open('STRIPE')).toEqual({ value: 'sk_live_first' })
    expect(await page.content()).not.toContain('sk_live')
  })

  test('its description changes without its value, and its value without being shown', async () => {
    await page.getByRole('link', { name: 'STRIPE' }).click()
    await dialog().getByLabel('Description').fill('Payments')
    expect(
      await dialog()
        .getByRole('textbox', { name: /^New value/ })
        .inputValue(),
    ).toBe('')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await eventually(textOf(rows())).toMatch(/Payments/)
    expect(secrets().open('STRIPE')).toEqual({ value: 'sk_live_first' })
    await page.getByRole('link', { name: 'STRIPE' }).click()
    await dialog()
      .getByRole('textbox', { name: /^New value/ })
      .fill('sk_live_second')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect(secrets().open('STRIPE')).toEqual({ value: 'sk_live_second' })
  })

  test('a pin that takes a secret offers names, and takes no expression', async () => {
    const editor = await studio.open('admin', `blueprints/${blueprint}`)
    const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
    await studioCanvas(editor).choose(guidOf(blocks.find(({ title }) => title === 'Check')))
    const field = editor.getByLabel('Value of former_secret').first()
    await field.click()
    // The palette is a list of options too.
    await eventually(textsOf(editor.getByRole('option', { name: 'STRIPE', exact: true }))).toEqual(['STRIPE'])
    const pin = editor.getByRole('group', { name: 'former_secret, secret' })
    expect(await textsOf(pin.getByRole('button'))()).toEqual(['New secret …'])
    await editor.context().close()
  })

  test('a secret that is missing is made from the pin that names it, and the problem goes away', async () => {
    const missing = await studio.quoin.install('Missing', {
      take: { type: 'on_startup_register_uri_post', in: { uri: 'missing' }, scopes: ['*public'] },
      reply: { type: 'reply', in: { flow: '@check.valid', value: '=1' } },
      check: {
        type: 'check_signature',
        title: 'Check',
        in: { flow: '@take.flow', secret: 'HOOK_KEY', former_secret: 'OLD_KEY' },
        fields: { sender: 'stripe' },
      },
    })
    const editor = await studio.open('admin', `blueprints/${missing}`)
    const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${missing}/blocks`))
    await studioCanvas(editor).choose(guidOf(blocks.find(({ title }) => title === 'Check')))
    await editor.getByText('There is no secret HOOK_KEY').first().waitFor()
    await editor.getByRole('button', { name: 'New secret HOOK_KEY …' }).first().click()
    const form = editor.getByRole('dialog')
    await form.getByRole('textbox', { name: /^Value/ }).fill('whsec_1')
    expect(await form.getByLabel('Name').inputValue()).toBe('HOOK_KEY')
    await form.getByRole('button', { name: 'Create' }).click()
    await form.waitFor({ state: 'detached' })
    await editor.getByText('There is no secret HOOK_KEY').first().waitFor({ state: 'detached' })
    expect(await editor.getByRole('button', { name: 'New secret HOOK_KEY …' }).count()).toBe(0)
    // In another tab.
    await studio.quoin.manage('POST', '/_system/secrets', { name: 'OLD_KEY', value: 'whsec_0' })
    await editor.evaluate(() => window.dispatchEvent(new Event('focus')))
    await editor.getByText('There is no secret OLD_KEY').first().waitFor({ state: 'detached' })
    // The server signs what is tried.
    await editor.getByRole('button', { name: 'Try it' }).click()
    const panel = editor.getByRole('complementary', { name: 'Try it' })
    await panel.getByRole('button', { name: 'Send POST' }).click()
    await panel.getByText('200', { exact: true }).waitFor()
    await panel.getByRole('switch', { name: 'Sign the request' }).uncheck()
    await panel.getByRole('button', { name: 'Send POST' }).click()
    await panel.getByText('401', { exact: true }).waitFor()
    await editor.context().close()
    for (const record of objectsOf(await studio.quoin.manage('POST', '/_system/secrets/search', {})))
      if (record.name !== 'STRIPE') await studio.quoin.manage('DELETE', `/_system/secrets/${guidOf(record)}`)
  })

  test('a connection is made at the pin that names it, and the pin has the name that it got', async () => {
    const calling = await studio.quoin.install('Calling', {
      take: { type: 'on_startup_register_uri_post', in: { uri: 'calling' }, scopes: ['*public'] },
      ask: { type: 'http_request', title: 'Ask', in: { flow: '@take.flow', url: 'https://bank.example/' } },
    })
    const editor = await studio.open('admin', `blueprints/${calling}`)
    const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${calling}/blocks`))
    await studioCanvas(editor).choose(guidOf(blocks.find(({ title }) => title === 'Ask')))
    await editor.getByRole('button', { name: 'New connection …' }).click()
    const form = editor.getByRole('dialog')
    await form.getByLabel('Name').fill('bank')
    await form.getByLabel(/^Base address/).fill('https://bank.example')
    await form.getByRole('button', { name: 'Create' }).click()
    await form.waitFor({ state: 'detached' })
    const pins = async () =>
      JSON.stringify(objectsOf(await studio.quoin.manage('GET', `/blueprints/${calling}/blocks`)))
    await eventually(pins).toContain('"id":"connection","value":"bank"')
    await eventually(() => editor.getByRole('button', { name: /^New connection/ }).count()).toBe(0)
    await editor.context().close()
  })

  test('hosts are set in the dialog, and the list shows where a secret may be sent', async () => {
    await page.getByRole('link', { name: 'STRIPE' }).click()
    await dialog().getByPlaceholder('api.example.com').fill('api.stripe.com')
    await page.keyboard.press('Enter')
    expect(await axeProblems(page)).toEqual([])
    await dialog().getByRole('button', { name: 'Save' }).click()
    await eventually(textOf(rows())).toMatch(/STRIPE.*api\.stripe\.com/)
    await page.getByRole('link', { name: 'STRIPE' }).click()
    await dialog().getByRole('checkbox', { name: 'Any server' }).check()
    await dialog().getByRole('button', { name: 'Save' }).click()
    await eventually(textOf(rows())).toMatch(/STRIPE.*Any server/)
    // It is in the address: a page that is loaded again shows it again.
    await dialog().waitFor({ state: 'detached' })
  })

  test('it is removed when that is confirmed, which says who uses it', async () => {
    const sender = {
      name: 'shop',
      base_url: 'https://api.stripe.com',
      auth: { kind: 'bearer', secret: 'STRIPE' },
    }
    await studio.ask('POST', '/_system/connections', { as: 'admin', body: sender })
    await page.reload()
    await eventually(textOf(rows())).toMatch(/STRIPE.*Signed.*, the connection shop/)
    await page.getByRole('button', { name: 'Remove STRIPE' }).click()
    await dialog()
      .getByText(/Used by Signed.*, the connection shop/)
      .waitFor()
    expect(secrets().names()).toEqual(['STRIPE'])
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No secrets').waitFor()
    expect(secrets().names()).toEqual([])
    expect(studio.complaints()).toEqual([])
  })
})

describe('the reply of another server is pinned to its block', () => {
  let asked = 0
  let outside: LocalServer
  let blueprint = ''

  beforeAll(async () => {
    outside = await startLocalServer((_request, response) => {
      asked += 1
      response.end(`reply ${asked}`)
    })
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
    await page.setViewportSize({ width: 1500, height: 900 })
    await goWithin(page, `blueprints/${blueprint}?panel=runs`)
  }, 240_000)
  afterAll(async () => {
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

  test.each(['light', 'dark'] as const)(
    'it is accessible and kept over a reload: %s',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme })
      await page.reload()
      await mark().waitFor()
      expect(await axeProblems(page)).toEqual([])
    },
  )

  test('one click unpins it', async () => {
    await mark().click()
    await eventually(() => mark().count()).toBe(0)
    await page.reload()
    await block('Ask').waitFor()
    expect(await mark().count()).toBe(0)
    expect(studio.complaints()).toEqual([])
  })
})
