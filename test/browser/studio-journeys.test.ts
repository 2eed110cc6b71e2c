/** What docs/grid.md and docs/canvas.md promise: a storage becomes an API, pages, a chart and a card, in the clicks and keys that they say. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { type PacedHand, pacedHand } from './paced-hand.ts'
import { eventually } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

const studio = studioOfSuite()
let page: Page
beforeAll(async () => {
  page = await studio.open('admin', 'nowhere')
}, 240_000)

describe('a storage with three fields becomes a documented API and pages', () => {
  let guide: string
  let hand: PacedHand
  beforeAll(async () => {
    guide = await readFile(new URL('../../docs/grid.md', import.meta.url), 'utf8')
    await page.setViewportSize({ width: 1280, height: 800 })
    await goWithin(page, 'blueprints')
    hand = pacedHand(page)
  }, 300_000)

  async function field(name: string, kind?: string): Promise<void> {
    const input = page.getByLabel('New field')
    await eventually(() => input.evaluate((one) => one === document.activeElement)).toBe(true)
    await hand.type(name, kind === undefined ? 'Enter' : undefined)
    if (kind !== undefined) {
      await hand.click(page.getByRole('combobox', { name: 'Type' }))
      await hand.click(page.getByRole('option', { name: kind, exact: true }))
      await hand.click(page.getByRole('button', { name: 'Add', exact: true }))
    }
    await page.getByRole('table').getByText(name, { exact: true }).waitFor()
  }

  test('from nothing to an API', async () => {
    await hand.click(page.getByRole('link', { name: 'Data' }))
    await hand.click(page.getByRole('button', { name: 'New storage' }))
    await page.getByRole('dialog').getByLabel('Name').waitFor()
    await hand.type('goods', 'Enter')
    await field('name')
    await field('cost', 'Number')
    await field('ok', 'Yes or no')
    await hand.click(page.getByRole('button', { name: 'Make API' }))
    await hand.click(page.getByRole('button', { name: 'Make and activate' }))
    await page.waitForURL(/\/blueprints\/[0-9a-f-]{36}/)
    const made = await studio.ask('POST', '/goods', {
      as: 'admin',
      body: { name: 'Bolt', cost: 2, ok: true },
    })
    expect(made.status).toBe(201)
    expect((await studio.ask('POST', '/goods', { as: 'admin', body: { cost: 'x' } })).status).toBe(400)
    // Nothing is public that was not chosen to be.
    expect((await studio.ask('GET', '/goods')).status).toBe(404)
    const { body } = await studio.ask('GET', '/openapi.json', { as: 'admin' })
    expect(body).toHaveProperty(['paths', '/api/v1/goods', 'post'])
    const cost = ['components', 'schemas', 'GoodsDocument', 'properties', 'cost']
    expect(body).toHaveProperty(cost, { type: ['number', 'null'] })
    const storages = await studio.quoin.manage('POST', '/_system/storages/search', {})
    expect(storages).toMatchObject([{ name: 'goods', history: true }])

    expect(hand.clicks).toBeLessThanOrEqual(12)
    expect(hand.seconds).toBeLessThan(60)
    expect(guide).toContain(hand.said())
    expect(studio.complaints()).toEqual([])
  }, 120_000)

  test('and on to pages, which are tried', async () => {
    await hand.click(page.getByRole('link', { name: 'Data' }))
    await hand.click(page.getByRole('link', { name: 'goods', exact: true }).first())
    await hand.click(page.getByRole('button', { name: 'Make pages' }))
    await hand.click(page.getByRole('button', { name: 'Make and activate' }))
    await page.waitForURL(/\/blueprints\/[0-9a-f-]{36}/)
    const token = await studio.quoin.tokenOf('admin')
    await page
      .context()
      .addCookies([{ name: 'access_token', value: token, url: studio.address, httpOnly: true }])
    await page.goto(`${studio.address}/goods`)
    await hand.click(page.getByRole('link', { name: 'New', exact: true }))
    await hand.click(page.getByLabel('Name'))
    await hand.type('Nut')
    await hand.click(page.getByRole('main').getByRole('button').last())
    await page.getByText('Nut').first().waitFor()
    expect(hand.seconds).toBeLessThan(180)
    expect(guide).toContain(hand.said())
    const stored = await studio.ask('GET', '/goods', { as: 'admin' })
    expect(JSON.stringify(stored.body)).toContain('Nut')
    expect(studio.complaints()).toEqual([])
  }, 120_000)
})

describe('a list page with a chart by month and a card with the sum', () => {
  /** Seconds that a person reads a screen or a dialog which is new. */
  const READ = 3

  let guide: string
  let hand: PacedHand
  beforeAll(async () => {
    guide = await readFile(new URL('../../docs/canvas.md', import.meta.url), 'utf8')
    const { quoin } = studio
    const storage = 'contracts'
    await quoin.manage('POST', '/_system/storages', { name: storage })
    const fields = [
      { name: 'title', type: 'string' },
      { name: 'start', type: 'day' },
      { name: 'amount', type: 'decimal', validation_rules: { currency: 'EUR' } },
    ]
    for (const [order, field] of fields.entries())
      await quoin.manage('POST', '/blueprintfields', { ...field, storage, order })
    const contracts = [
      ['2026-01-10', 1000],
      ['2026-01-20', 500],
      ['2026-03-01', 144.5],
    ] as const
    for (const [start, amount] of contracts)
      await quoin.manage('POST', `/_system/storages/${storage}/documents`, {
        title: `From ${start}`,
        start,
        amount,
      })
    // What is before ends on a page of the cluster.
    await page.goto('data')
    hand = pacedHand(page)
  }, 300_000)

  const dialog = () => page.getByRole('dialog')
  const title = (text: string) => dialog().getByText(text, { exact: true })
  let screens = 0
  /** A person reads it. */
  const read = async (text: string) => {
    await title(text).waitFor()
    screens += 1
  }

  /** The page part of the type behind the block that is selected. */
  async function addPart(type: string): Promise<void> {
    await hand.click(page.getByRole('button', { name: 'Add a block after state' }))
    await eventually(() =>
      dialog()
        .getByRole('combobox')
        .evaluate((one) => one === document.activeElement),
    ).toBe(true)
    await hand.type(type, 'Enter')
  }

  test('pages of a storage, with a chart by month and a card with the sum', async () => {
    await hand.click(page.getByRole('link', { name: 'contracts', exact: true }).first())
    await hand.click(page.getByRole('button', { name: 'Make pages' }))
    await read('Make pages for contracts')
    await hand.click(page.getByRole('button', { name: 'Make and activate' }))
    await page.waitForURL(/\/blueprints\/[0-9a-f-]{36}/)
    screens += 1
    await hand.click(page.locator('.react-flow__node-block[aria-label^="Button"]').first())
    await addPart('chart')
    await read('What the chart shows')
    await dialog().getByText('Columns: month, sum_amount').waitFor()
    await settled(page)
    await expectNoProblem(page, 'the dialog of a chart')
    await hand.type('', 'Enter')
    await dialog().waitFor({ state: 'detached' })
    await addPart('card')
    await read('What the card shows')
    await dialog().getByText('Columns: sum_amount').waitFor()
    await hand.type('', 'Enter')
    await dialog().waitFor({ state: 'detached' })
    await hand.click(page.getByRole('button', { name: 'Deploy', exact: true }))
    screens += 1
    await hand.click(dialog().getByRole('button', { name: 'Save and deploy' }))
    await page.getByText('Active, version 2').waitFor()
  }, 120_000)

  test('visitors see them: bars with months, amounts in the currency of the field, and the table below', async () => {
    const token = await studio.quoin.tokenOf('admin')
    const reply = await fetch(`${studio.address}/contracts`, { headers: { cookie: `access_token=${token}` } })
    const html = await reply.text()
    expect(html).toContain('Sum of amount by month')
    expect(html).toContain('2026-01')
    expect(html).toContain('€1,500.00')
    expect(html).toContain('<p class="figure">€1,644.50</p>')
    expect(html).toContain('From 2026-03-01')
    expect(studio.complaints()).toEqual([])
  })

  test('at the pace of a person, with three seconds to read each new screen, it takes less than 90 s', () => {
    expect(guide).toContain(hand.said())
    expect(hand.seconds + READ * screens).toBeLessThan(90)
  })
})
