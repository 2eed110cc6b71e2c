/** What docs/grid.md promises: a storage with three fields becomes a documented API and pages, in the clicks and keys that it says. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PacedHand, pacedHand } from './paced-hand.ts'
import { eventually } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

let studio: StudioFixture
let guide: string
let page: Page
let hand: PacedHand
beforeAll(async () => {
  guide = await readFile(new URL('../../docs/grid.md', import.meta.url), 'utf8')
  studio = await openStudio()
  page = await studio.open('admin', 'blueprints')
  hand = pacedHand(page)
}, 300_000)
afterAll(() => studio?.close())

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
  const made = await studio.ask('POST', '/goods', { as: 'admin', body: { name: 'Bolt', cost: 2, ok: true } })
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
