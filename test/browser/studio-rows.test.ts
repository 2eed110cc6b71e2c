/** Lists in blocks as rows: columns, inputs and links are added, changed, moved and removed, and the fields of a storage added at once. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { objectOf, objectsOf } from '../end-to-end/harness.ts'
import { eventually } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

const file = {
  name: 'Goods',
  blocks: {
    page: { type: 'state_page', in: { url: 'stock' }, scopes: ['*public'] },
    table: {
      type: 'state_advanced_datatable',
      in: { storage: 'goods', columns: ['name', { field: 'state', options: ['new', 'used'] }] },
    },
    form: { type: 'state_form', in: { state: '@table.state', form_id: 'new', storage: 'goods' } },
    links: {
      type: 'state_navigation',
      in: { state: '@form.state', links: [{ label: 'Start', href: '/' }] },
    },
    shown: { type: 'state_render_page', in: { flow: '@page.flow', state: '@links.state' } },
    post: {
      type: 'on_startup_register_uri_post',
      in: { uri: 'goods' },
      fields: { schema: [{ name: 'amount', type: 'number', min: 1, choices: [1, 2] }] },
    },
  },
}

let studio: StudioFixture
let page: Page
let blueprint: string
beforeAll(async () => {
  studio = await openStudio()
  await studio.quoin.manage('POST', '/_system/storages', { name: 'goods' })
  for (const field of [
    { name: 'name', type: 'string' },
    { name: 'price', type: 'decimal' },
    { name: 'state', type: 'string' },
  ])
    await studio.quoin.manage('POST', '/blueprintfields', { ...field, storage: 'goods' })
  blueprint = await installBlueprint(studio.quoin.quoin.flows, file, { guid: '', username: 'admin' })
  page = await studio.open('admin', `blueprints/${blueprint}`, { viewport: { width: 1920, height: 1100 } })
  await titled('Page /stock').first().waitFor()
}, 120_000)
afterAll(() => studio?.close())

const titled = (title: string) => page.locator(`.react-flow__node-block[aria-label^="${title}"]`)
const pin = (name: string) => page.getByRole('group', { name: new RegExp(`^${name}, array`) })
const mainOf = (rows: Locator) =>
  rows
    .getByRole('listitem')
    .locator('input[aria-label*=", row "]')
    .evaluateAll((all) => all.map((one) => (one instanceof HTMLInputElement ? one.value : '')))

async function choose(title: string): Promise<void> {
  await page.getByRole('button', { name: 'Fit View' }).click()
  await titled(title)
    .first()
    .click({ position: { x: 60, y: 12 } })
}

/** What the panel has stored of the block of a type: the value of its pin, or of its setting. */
async function stored(type: string, name: string): Promise<unknown> {
  const found = await studio.quoin.manage('POST', '/blueprintactions/search', {
    filters: { blueprint_guid: blueprint },
  })
  const block = objectsOf(found).find((one) => one.type === type) ?? {}
  const content = { ...block, ...objectOf(block.unsaved ?? {}) }
  const pins = objectsOf(content.in_pins ?? [])
  return pins.find(({ id }) => id === name)?.value ?? objectOf(content.fields ?? {})[name]
}
const columns = () => stored('state_advanced_datatable', 'columns')

test('columns are shown as rows, and changed one by one', async () => {
  await choose('Table of goods')
  const rows = pin('columns')
  await eventually(() => mainOf(rows)).toEqual(['name', 'state'])
  await rows.getByRole('button', { name: 'Add the other fields of goods' }).click()
  await eventually(() => mainOf(rows)).toEqual(['name', 'state', 'price'])
  await rows.getByRole('button', { name: 'Move price up' }).click()
  await rows.getByRole('button', { name: 'Remove name' }).click()
  await eventually(() => mainOf(rows)).toEqual(['price', 'state'])
  await rows.getByRole('button', { name: 'More about state' }).click()
  await rows.getByLabel('Label').fill('Condition')
  await rows.getByLabel('Sortable').check({ force: true })
  // What no field is for, the options, stays.
  const state = { field: 'state', options: ['new', 'used'], label: 'Condition', sortable: true }
  await eventually(columns).toEqual(['price', state])
  await expectNoProblem(page, 'rows of columns')
})

test('a column is calculated: its expression is checked and completed', async () => {
  const rows = pin('columns')
  const field = page.getByRole('textbox', { name: 'Expression of format of state' })
  await field.fill('params.a')
  await rows.getByText('There is no name params.').waitFor()
  await field.fill('doc.pr')
  await page.getByRole('option', { name: /^price/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.type(' * 1.19')
  await page.keyboard.press('Enter')
  await eventually(columns).toMatchObject(['price', { field: 'state', format: '=doc.price * 1.19' }])
  await expectNoProblem(page, 'a calculated column')
  await field.fill('')
  await page.keyboard.press('Enter')
  await eventually(async () => JSON.stringify(await columns()).includes('format')).toBe(false)
})

test('what rows cannot show stays JSON, and comes back as rows', async () => {
  const rows = pin('columns')
  await rows.getByRole('button', { name: 'Edit columns as JSON' }).click()
  const json = page.getByLabel('Value of columns')
  await json.fill('[1]')
  await eventually(columns).toEqual([1])
  expect(await rows.getByRole('list').count()).toBe(0)
  await json.fill('["name"]')
  await rows.getByRole('button', { name: 'Edit columns as rows' }).click()
  await eventually(() => mainOf(rows)).toEqual(['name'])
})

test('the inputs of a form come from its storage in one step', async () => {
  await choose('Form new')
  const rows = pin('inputs')
  await rows.getByRole('button', { name: 'Add the fields of goods' }).click()
  await eventually(() => stored('state_form', 'inputs')).toEqual(['name', 'price', 'state'])
})

test('a link is added by keys alone', async () => {
  await choose('Navigation')
  const rows = pin('links')
  await rows.getByRole('button', { name: 'Add a row' }).focus()
  await page.keyboard.press('Enter')
  await rows.getByLabel('label, row 2').focus()
  await page.keyboard.type('Stock')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await rows.getByLabel('Href').focus()
  await page.keyboard.type('/stock')
  await page.keyboard.press('Tab')
  await eventually(() => stored('state_navigation', 'links')).toEqual([
    { label: 'Start', href: '/' },
    { label: 'Stock', href: '/stock' },
  ])
})

test('the schema of an endpoint is rows too', async () => {
  await choose('POST /goods')
  const rows = page.getByRole('list', { name: 'Schema' })
  await rows.getByRole('button', { name: 'More about amount' }).click()
  await rows.getByLabel('Required').check({ force: true })
  await eventually(() => stored('on_startup_register_uri_post', 'schema')).toEqual([
    { name: 'amount', type: 'number', min: 1, choices: [1, 2], required: true },
  ])
  // A number is stored as one.
  await rows.getByLabel('Min', { exact: true }).fill('5')
  await eventually(() => stored('on_startup_register_uri_post', 'schema')).toEqual([
    { name: 'amount', type: 'number', min: 5, choices: [1, 2], required: true },
  ])
  await expectNoProblem(page, 'rows of a schema')
  expect(studio.complaints()).toEqual([])
})
