/** Wires between lanes are told at their ends, and storages are chosen in their blocks, by mouse and by keys. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { eventually, textsOf } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

const lane = (name: string) => ({
  [`${name}_get`]: { type: 'on_startup_register_uri_get', in: { uri: name }, scopes: ['*public'] },
  [`${name}_search`]: {
    type: 'function_search',
    in: {
      flow: `@${name}_get.flow`,
      storage: '@store.storage',
      limit: 3,
      offset: 0,
      where: '=doc.done == true',
    },
  },
  [`${name}_reply_of_the_lane`]: {
    type: 'httpconnection_set_json',
    title: `Reply with ${name}`,
    in: { flow: `@${name}_search.flow`, value: `@${name}_search.documents` },
  },
})
const names = ['apples', 'pears', 'plums', 'grapes']
const file = {
  name: 'Fruit',
  blocks: {
    store: { type: 'storage', fields: { storage: 'fruit' } },
    ...Object.assign({}, ...names.map(lane)),
    shared: {
      type: 'function_console_log',
      title: 'Note it',
      // By each lane, so that the last one is far from it: lanes that share a step are side by side.
      in: { flow: names.map((name) => `@${name}_reply_of_the_lane.flow`) },
    },
  },
}

let studio: StudioFixture
let page: Page
beforeAll(async () => {
  studio = await openStudio()
  for (const name of ['fruit', 'bread']) await studio.quoin.manage('POST', '/_system/storages', { name })
  const guid = await installBlueprint(studio.quoin.quoin.flows, file, { guid: '', username: 'admin' })
  page = await studio.open('admin', `blueprints/${guid}`, { viewport: { width: 1920, height: 1000 } })
  await titled('GET /apples').waitFor()
})
afterAll(() => studio?.close())

const titled = (title: string) => page.locator(`.react-flow__node-block[aria-label^="${title}, block"]`)
const chosen = (title: string) =>
  page.locator(`.react-flow__node-block.selected[aria-label^="${title}, block"]`)
const lanes = () => page.getByRole('navigation', { name: 'Lanes' })
const wires = () => page.locator('.react-flow__edge.wire-store').count()
const storageOf = (title: string) => titled(title).getByLabel('Storage of storage')

/** Texts that are wider or higher than their place. */
const cut = (texts: Locator) =>
  texts.evaluateAll((all) =>
    all
      .filter((one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)
      .map((one) => one.textContent),
  )

test('the name of a block is whole where its kind is cut, and so is what the palette says of each block', async () => {
  const name = page.getByText('apples_reply_of_the_lane', { exact: true })
  await name.waitFor()
  expect(await cut(name)).toEqual([])
  expect(await cut(name.locator('xpath=preceding-sibling::*'))).toEqual(['Reply with JSON · '])
  const options = page.getByRole('listbox', { name: 'Blocks' }).getByRole('option')
  expect(await options.count()).toBeGreaterThan(50)
  const words = options.locator('span').filter({ hasNot: page.locator('svg') })
  expect(await cut(words)).toEqual([])
  const signs = options.getByTitle(/^Gives \w+ \(\w+\): /)
  expect(await signs.count()).toBe(await options.locator('svg').count())
})

test('a long wire to another lane is a name at both ends, which leads to the other one', async () => {
  await lanes().getByRole('button', { name: 'GET /grapes', exact: true }).click()
  const search = page
    .locator('.react-flow__node-block[aria-label*="grapes_search"], .react-flow__node-block')
    .filter({ hasText: 'grapes_search' })
  const stub = search.getByRole('button', { name: 'storage comes from fruit' })
  await stub.waitFor()
  expect(await wires()).toBe(0)
  await expectNoProblem(page, 'stubs of wires')
  await stub.click()
  await chosen('fruit').waitFor()
  // Of what is selected all wires are drawn.
  await eventually(wires).toBeGreaterThan(0)
  const list = titled('fruit').getByRole('button', { name: /^storage goes to \d blocks$/ })
  await list.focus()
  await page.keyboard.press('Enter')
  const items = page.getByRole('menuitem')
  await eventually(async () => (await textsOf(items)()).length).toBeGreaterThan(1)
  await eventually(() => items.first().evaluate((one) => one === document.activeElement)).toBe(true)
  await items.last().press('Enter')
  await page.locator('.react-flow__node-block.selected').filter({ hasText: 'grapes_search' }).waitFor()
})

test('a step of another lane is named too, and by keys one comes there', async () => {
  const stub = titled('Reply with grapes').getByRole('button', { name: 'flow goes to Note it' })
  await stub.focus()
  await page.keyboard.press('Enter')
  await chosen('Note it').waitFor()
})

test('a storage is chosen in the row of its block, in place of the wire', async () => {
  await lanes().getByRole('button', { name: 'GET /grapes', exact: true }).click()
  await page
    .locator('.react-flow__node-block')
    .filter({ hasText: 'grapes_search' })
    .click({ position: { x: 90, y: 12 } })
  const panel = page.getByRole('complementary', { name: 'Properties' })
  await panel.getByRole('button', { name: 'Choose the storage of storage here' }).click()
  const field = panel.getByLabel('Value of storage')
  await eventually(() => field.inputValue()).toBe('fruit')
  await field.click()
  await eventually(textsOf(page.getByRole('option', { name: /^(fruit|bread)$/ }))).toEqual(
    expect.arrayContaining(['fruit']),
  )
  await page.keyboard.press('Escape')
  const row = page
    .locator('.react-flow__node-block')
    .filter({ hasText: 'grapes_search' })
    .getByLabel('Storage of storage')
  expect(await row.inputValue()).toBe('fruit')
  await row.focus()
  await eventually(textsOf(row.locator('option'))).toEqual(['none', 'fruit', 'bread'])
  await row.selectOption('bread')
  await eventually(() => field.inputValue()).toBe('bread')
  await page.keyboard.press('ControlOrMeta+z')
  await eventually(() => storageOf('Search fruit').count()).toBe(0)
  expect(studio.complaints()).toEqual([])
})
