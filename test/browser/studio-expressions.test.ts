/** Expressions in the studio: written with completion, checked while they are typed, renamed, and as text with values. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { axeProblems } from './axe-check.ts'
import { type StudioCanvas, studioCanvas } from './studio-canvas.ts'
import { eventually, press, textsOf } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

const greeting = {
  get: {
    type: 'on_startup_register_uri_get',
    title: 'Greet',
    in: { uri: 'greet/{name}' },
    scopes: ['*public'],
  },
  price: { type: 'number_default', title: 'Price', in: { value: 20 } },
  reply: { type: 'httpconnection_set_json', title: 'Reply', in: { flow: '@get.flow' } },
}
const layout = { get: [0, 0], price: [0, 200], reply: [330, 0] }

let studio: StudioFixture
let page: Page
let canvas: StudioCanvas
let blueprint = ''
const guids = new Map<string, string>()
beforeAll(async () => {
  studio = await openStudio()
  const { flows } = studio.quoin.quoin
  blueprint = await installBlueprint(
    flows,
    { name: 'Greetings', blocks: greeting, layout },
    { guid: '', username: 'builder' },
  )
  for (const block of await stored()) guids.set(block.title, block.guid)
  page = await studio.open('admin', `blueprints/${blueprint}`)
  canvas = studioCanvas(page)
}, 240_000)
afterAll(() => studio?.close())

const guidOf = (title: string) => guids.get(title) ?? ''

interface StoredBlock {
  readonly guid: string
  readonly title: string
  readonly in_pins: readonly { readonly id: string; readonly expression?: string; readonly value?: unknown }[]
}

/** The blocks with what is staged, as any client reads them. */
async function stored(): Promise<StoredBlock[]> {
  const { body } = await studio.ask('GET', `/blueprints/${blueprint}/blocks`, { as: 'admin' })
  const records = Array.isArray(body) ? body : []
  return records.map((record) => {
    const { _meta: meta, unsaved, ...content } = JSON.parse(JSON.stringify(record))
    return { ...content, ...unsaved, guid: meta.guid }
  })
}

const pin = async (title: string, id: string) =>
  (await stored()).find(({ guid }) => guid === guidOf(title))?.in_pins.find((one) => one.id === id)
const template = `\`Hello \${params.name}, \${price.number}.\``
const expressionOf = (title: string, id: string) => async () => (await pin(title, id))?.expression
const group = (name: string): Locator => page.getByRole('group', { name: new RegExp(`^${name}, `) })
const field = () => page.getByRole('textbox', { name: 'Expression of value' })
const options = () => page.locator('.cm-tooltip-autocomplete').getByRole('option')

test('= makes a value an expression, which is completed by name, pin and method', async () => {
  await canvas.choose(guidOf('Reply'))
  await page.getByLabel('Value of value').fill('=')
  await field().waitFor()
  await eventually(() => field().evaluate((element) => element === document.activeElement)).toBe(true)
  await page.keyboard.type('pri')
  await eventually(textsOf(options())).toContainEqual(expect.stringMatching(/^pricePrice/))
  await press(page, 'Enter')
  await eventually(textsOf(options())).toEqual([expect.stringMatching(/^number/)])
  await press(page, 'Tab')
  await page.keyboard.type(' * rou')
  await eventually(textsOf(options())).toContainEqual(expect.stringMatching(/^round\(value, digits\?\)/))
  await page
    .locator('.cm-completionInfo')
    .getByText(/^round\(.* → /)
    .waitFor()
  await press(page, 'Enter')
  await page.keyboard.type('2.6')
  await eventually(textsOf(field())).toEqual(['price.number * round(2.6)'])
  await eventually(expressionOf('Reply', 'value')).toBe('price.number * round(2.6)')
})

test('what is wrong is said while it is typed', async () => {
  await press(page, 'End')
  await page.keyboard.type(' +')
  await group('value').getByText('The expression is not finished.').waitFor()
  expect(await field().getAttribute('aria-invalid')).toBe('true')
  await page.keyboard.type(' pri')
  await options().first().waitFor()
  expect(await axeProblems(page)).toEqual([])
  // Escape closes the list, and the keyboard stays in the field.
  await press(page, 'Escape')
  await options().first().waitFor({ state: 'detached' })
  expect(await field().evaluate((element) => element === document.activeElement)).toBe(true)
  await page.keyboard.insertText('se.number')
  await group('value').getByText('There is no name prise. Did you mean price?').waitFor()
  expect(await axeProblems(page)).toEqual([])
  await field().press('ControlOrMeta+a')
  await page.keyboard.insertText('price.number * round(2.6)')
  await eventually(() => field().getAttribute('aria-invalid')).toBe('false')
  await press(page, 'Tab')
  expect(await field().evaluate((element) => element === document.activeElement)).toBe(false)
})

test('the block is drawn with its expression and a reference to what it reads', async () => {
  await eventually(textsOf(canvas.block(guidOf('Reply')))).toEqual([
    expect.stringContaining('= price.number'),
  ])
  const reference = page.locator('.react-flow__edge.wire-reference')
  await eventually(() => reference.count()).toBe(1)
  await canvas.choose(guidOf('Greet'))
  await eventually(() => reference.count()).toBe(0)
})

test('a block that is renamed is renamed in expressions, and undo takes back one change', async () => {
  await canvas.choose(guidOf('Price'))
  const name = page.getByLabel('Name in expressions')
  await name.fill('get')
  await press(page, 'Enter')
  await page.getByText('Another block is named get. Choose another name.').waitFor()
  await name.fill('amount')
  await press(page, 'Enter')
  await eventually(textsOf(canvas.block(guidOf('Reply')))).toEqual([
    expect.stringContaining('= amount.number'),
  ])
  await canvas.choose(guidOf('Reply'))
  await eventually(textsOf(field())).toEqual(['amount.number * round(2.6)'])
  await canvas.page.locator('.react-flow__pane').click({ position: { x: 20, y: 400 } })
  await press(page, 'ControlOrMeta+z')
  await eventually(textsOf(canvas.block(guidOf('Reply')))).toEqual([
    expect.stringContaining('= price.number'),
  ])
  await press(page, 'ControlOrMeta+z')
  await eventually(textsOf(canvas.block(guidOf('Reply')))).not.toEqual([expect.stringContaining('price')])
})

test('text with values is written without code, and replies what it says', async () => {
  await canvas.choose(guidOf('Reply'))
  await page.getByRole('button', { name: 'Text with values for value' }).click()
  const text = page.getByRole('textbox', { name: 'Text of value' })
  await text.waitFor()
  await page.keyboard.type('Hello ')
  await page.getByRole('button', { name: 'Insert value into value' }).click()
  await page.getByLabel('Search values').fill('params')
  await page
    .getByRole('option', { name: /^params/ })
    .first()
    .click()
  await page.keyboard.type('.')
  await eventually(expressionOf('Reply', 'value')).toBe(template.replace(/\{.*\}/, '{params}'))
  await page.getByRole('button', { name: 'fx: expression for value' }).click()
  await field().press('ControlOrMeta+a')
  await page.keyboard.insertText(template)
  await eventually(expressionOf('Reply', 'value')).toBe(template)
  await canvas.choose(guidOf('Greet'))
  await canvas.choose(guidOf('Reply'))
  await eventually(textsOf(text.locator('.cm-chip'))).toEqual(['params.name', 'price.number'])
  await press(page, 'ControlOrMeta+s')
  const { status } = await studio.ask('PUT', `/blueprints/update/set/active/${blueprint}`, {
    as: 'admin',
    body: {},
  })
  expect(status).toBe(200)
  expect((await studio.ask('GET', '/greet/Ann')).body).toBe('Hello Ann, 20.')
})

test('a search that finds nothing says so outside of the list, which is gone', async () => {
  const says = async (search: Locator, message: string) => {
    await search.fill('zzz nothing')
    await page.getByText(message).waitFor()
    expect(await page.getByRole('listbox').getByText(message).count()).toBe(0)
    expect(await axeProblems(page)).toEqual([])
  }
  await page.getByRole('button', { name: 'Insert value into value' }).click()
  await says(page.getByLabel('Search values'), 'No value fits. Try another word.')
  await press(page, 'Escape')
  const blocks = page.getByRole('combobox', { name: 'Search blocks' })
  await says(blocks, 'No block fits. Try another word.')
  await blocks.fill('')
  await press(page, 'ControlOrMeta+f')
  await says(page.getByRole('combobox', { name: 'Find blocks' }), 'No block of this blueprint has that.')
  await press(page, 'Escape')
  await press(page, 'ControlOrMeta+k')
  await says(page.getByRole('dialog', { name: 'Search and commands' }).getByRole('textbox'), 'Nothing found.')
  await press(page, 'Escape')
})

test('under an expression are the values of the last traced run', async () => {
  await studio.ask('PUT', `/blueprints/${blueprint}/tracing`, { as: 'admin', body: { on: true } })
  await studio.ask('GET', '/greet/Zoe')
  await page.reload()
  await canvas.choose(guidOf('Reply'))
  const values = page.getByLabel('Values of the last run')
  await eventually(textsOf(values.locator('div'))).toEqual(expect.arrayContaining(['params.name"Zoe"']))
  expect(studio.complaints()).toEqual([])
})
