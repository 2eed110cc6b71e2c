/** A storage becomes an API by "Make API", and its block the flows that it stands for by "As blocks"; both serve the same. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectOf, objectsOf } from '../end-to-end/harness.ts'
import { eventually } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

let studio: StudioFixture
let page: Page
let storage: string

beforeAll(async () => {
  studio = await openStudio()
  const { quoin } = studio
  storage = guidOf(await quoin.manage('POST', '/_system/storages', { name: 'goods' }))
  for (const field of [
    { name: 'name', type: 'string', required: true },
    { name: 'price', type: 'number' },
    { name: 'sold', type: 'boolean' },
    { name: 'number', type: 'autonumber', required: true },
  ])
    await quoin.manage('POST', '/blueprintfields', { ...field, storage: 'goods' })
  page = await studio.open('admin', `data/storages/${storage}`)
}, 300_000)
afterAll(() => studio?.close())

const served = async () => {
  const created = await studio.ask('POST', '/goods', {
    as: 'admin',
    body: { name: 'Bolt', price: 2, number: 0 },
  })
  const refused = await studio.ask('POST', '/goods', { as: 'admin', body: { price: 2 } })
  const anonymous = await studio.ask('POST', '/goods', { body: { name: 'Bolt' } })
  const listed = await studio.ask('GET', '/goods?price=2&limit=1')
  // What is sent for it is replaced.
  expect(objectOf(created.body).number).toBeGreaterThan(0)
  return [created.status, refused.status, anonymous.status, listed.status, objectsOf(listed.body).length]
}

test('a storage with three fields becomes an API with a few clicks', async () => {
  await page.getByRole('button', { name: 'Make API' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address').waitFor()
  await settled(page)
  await expectNoProblem(page, 'Make API')
  await dialog.getByRole('combobox', { name: 'Filters' }).press('ArrowDown')
  await page.getByRole('option', { name: 'price' }).click()
  await page.keyboard.press('Tab')
  const readers = dialog.getByRole('radiogroup', { name: 'Who may see the documents' })
  await readers.getByText('Everyone').click()
  await dialog.getByRole('button', { name: 'Make and activate' }).click()
  await page.waitForURL(/\/blueprints\/[0-9a-f-]{36}/)
  await page.getByText('API: register resource').first().waitFor()
  expect(await served()).toEqual([201, 400, 404, 200, 1])
})

test('as blocks it serves the same', async () => {
  await page.locator('.react-flow__node').first().click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'As blocks' }).click()
  await eventually(async () => expect(await page.locator('.react-flow__node').count()).toBeGreaterThan(10))
  await settled(page)
  await expectNoProblem(page, 'As blocks')
  const blueprint = /blueprints\/([0-9a-f-]{36})/.exec(page.url())?.[1] ?? ''
  await eventually(async () => {
    const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
    expect(blocks.length).toBeGreaterThan(10)
  })
  await studio.quoin.manage('POST', `/blueprintactions/unsaved/${blueprint}`)
  await studio.quoin.manage('PUT', `/blueprints/update/set/active/${blueprint}`)
  const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
  expect(blocks.map(({ type }) => type)).not.toContain('on_startup_register_resource')
  expect(await served()).toEqual([201, 400, 404, 200, 1])
  expect(studio.complaints()).toEqual([])
})
