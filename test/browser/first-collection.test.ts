/** What docs/grid.md promises: a storage with three fields becomes a documented API in a few clicks, at a person's pace in a minute. */
import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from './studio-eventually.ts'
import { openStudio, type StudioRoom } from './studio-room.ts'

let studio: StudioRoom
let page: Page
let [clicks, keys] = [0, 0]
beforeAll(async () => {
  studio = await openStudio()
  page = await studio.open('admin', 'blueprints')
}, 300_000)
afterAll(() => studio?.close())

async function click(target: Locator): Promise<void> {
  clicks += 1
  await target.click()
}

/** With Enter at the end, unless a click follows. */
async function type(words: string, end: 'Enter' | 'Click'): Promise<void> {
  keys += words.length + (end === 'Enter' ? 1 : 0)
  await page.keyboard.type(words)
  if (end === 'Enter') await page.keyboard.press('Enter')
}

async function field(name: string, kind?: string): Promise<void> {
  const input = page.getByLabel('New field')
  await eventually(() => input.evaluate((one) => one === document.activeElement)).toBe(true)
  await type(name, kind === undefined ? 'Enter' : 'Click')
  if (kind !== undefined) {
    await click(page.getByRole('combobox', { name: 'Type' }))
    await click(page.getByRole('option', { name: kind, exact: true }))
    await click(page.getByRole('button', { name: 'Add', exact: true }))
  }
  await page.getByRole('table').getByText(name, { exact: true }).waitFor()
}

test('from nothing to an API', async () => {
  const began = performance.now()
  await click(page.getByRole('link', { name: 'Data' }))
  await click(page.getByRole('button', { name: 'New storage' }))
  await page.getByRole('dialog').getByLabel('Name').waitFor()
  await type('goods', 'Enter')
  await field('name')
  await field('cost', 'Number')
  await field('ok', 'Yes or no')
  await click(page.getByRole('button', { name: 'Make API' }))
  await click(page.getByRole('button', { name: 'Make and activate' }))
  await page.waitForURL(/\/blueprints\/[0-9a-f-]{36}/)
  const seconds = (performance.now() - began) / 1000
  const made = await studio.ask('POST', '/goods', { as: 'admin', body: { name: 'Bolt', cost: 2, ok: true } })
  expect(made.status).toBe(201)
  expect((await studio.ask('POST', '/goods', { as: 'admin', body: { cost: 'x' } })).status).toBe(400)
  const { body } = await studio.ask('GET', '/openapi.json', { as: 'admin' })
  expect(body).toHaveProperty(['paths', '/api/v1/goods', 'post'])
  const cost = ['components', 'schemas', 'GoodsDocument', 'properties', 'cost']
  expect(body).toHaveProperty(cost, { type: ['number', 'null'] })
  const storages = await studio.quoin.manage('POST', '/_system/storages/search', {})
  expect(storages).toMatchObject([{ name: 'goods', history: true }])

  expect(clicks).toBeLessThanOrEqual(12)
  const pace = clicks + keys * 0.2
  expect(pace + seconds).toBeLessThan(60)
  const guide = await readFile(new URL('../../docs/grid.md', import.meta.url), 'utf8')
  expect(guide).toContain(`${clicks} clicks and ${keys} keys: ${pace.toFixed(1)} s`)
  expect(studio.complaints()).toEqual([])
}, 120_000)
