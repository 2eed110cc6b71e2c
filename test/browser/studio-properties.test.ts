/** What pins hold: lists as rows, whose fields come from a storage, and expressions with completion, checks and values. */
import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { guidOf as guidIn, objectOf, objectsOf } from '../end-to-end/harness.ts'
import { axeProblems } from './axe-check.ts'
import { type StudioCanvas, studioCanvas } from './studio-canvas.ts'
import { eventually, press, textsOf } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

const studio = studioOfSuite()
let page: Page
beforeAll(async () => {
  page = await studio.open('admin', 'nowhere')
}, 240_000)

describe('lists in blocks are rows', () => {
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

  let blueprint: string
  beforeAll(async () => {
    await studio.quoin.manage('POST', '/_system/storages', { name: 'goods' })
    for (const field of [
      { name: 'name', type: 'string' },
      { name: 'price', type: 'decimal' },
      { name: 'state', type: 'string' },
    ])
      await studio.quoin.manage('POST', '/blueprintfields', { ...field, storage: 'goods' })
    blueprint = await installBlueprint(studio.quoin.quoin.flows, file, { guid: '', username: 'admin' })
    await page.setViewportSize({ width: 1920, height: 1100 })
    await goWithin(page, `blueprints/${blueprint}`)
    await titled('Page /stock').first().waitFor()
  }, 120_000)

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
})

describe('expressions', () => {
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

  let canvas: StudioCanvas
  let blueprint = ''
  const guids = new Map<string, string>()
  beforeAll(async () => {
    const { flows } = studio.quoin.quoin
    blueprint = await installBlueprint(
      flows,
      { name: 'Greetings', blocks: greeting, layout },
      { guid: '', username: 'builder' },
    )
    for (const block of await stored()) guids.set(block.title, block.guid)
    await page.setViewportSize({ width: 1280, height: 800 })
    await goWithin(page, `blueprints/${blueprint}`)
    canvas = studioCanvas(page)
  }, 240_000)

  const guidOf = (title: string) => guids.get(title) ?? ''

  interface StoredBlock {
    readonly guid: string
    readonly title: string
    readonly in_pins: readonly {
      readonly id: string
      readonly expression?: string
      readonly value?: unknown
    }[]
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
    // A chip is opened, closed as it was, and narrowed to a part, which takes its place.
    const search = page.getByLabel('Search values')
    const chip = text.locator('.cm-chip')
    await chip.click()
    await eventually(() => search.inputValue()).toBe('params.')
    await press(page, 'Escape')
    await search.waitFor({ state: 'hidden' })
    expect(await chip.allTextContents()).toEqual(['params'])
    await chip.click()
    await eventually(() => search.evaluate((one) => one === document.activeElement)).toBe(true)
    await page.keyboard.type('name')
    const values = page.getByRole('listbox', { name: 'Values' }).getByRole('option')
    await eventually(() => values.allTextContents()).toEqual([expect.stringMatching(/^params\.name/)])
    await values.click()
    await eventually(() => chip.allTextContents()).toEqual(['params.name'])
    await page.keyboard.type('!')
    await eventually(expressionOf('Reply', 'value')).toBe(
      template.replace(/\{.*\}/, '{params.name}').replace('}.', '}!.'),
    )
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
    await says(
      page.getByRole('dialog', { name: 'Search and commands' }).getByRole('textbox'),
      'Nothing found.',
    )
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

  test('what is typed before the editor is loaded is in it then', async () => {
    const get = { ...greeting.get, in: { uri: 'slow/{name}' } }
    const late = { type: 'httpconnection_set_json', title: 'Late', in: { flow: '@reply.flow' } }
    const slow = await studio.quoin.install('Slow', { ...greeting, get, late })
    const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${slow}/blocks`))
    const typed = async () => {
      const { body } = await studio.ask('GET', `/blueprints/${slow}/blocks`, { as: 'admin' })
      return JSON.stringify(body)
    }
    for (const [block, button, label, text, stored] of [
      ['Reply', 'fx: expression for value', 'Expression of value', 'price.number', 'price.number'],
      ['Late', 'Text with values for value', 'Text of value', 'vote big', '`vote big`'],
    ] as const) {
      const guid = guidIn(blocks.find(({ title }) => title === block))
      const fresh = await studio.open('admin', 'nowhere')
      const loaded = Promise.withResolvers<void>()
      await fresh.route('**/code-field-*.js', async (route) => {
        await loaded.promise
        await route.continue()
      })
      await goWithin(fresh, `blueprints/${slow}?block=${guid}`)
      await fresh.getByRole('button', { name: button }).click()
      await fresh.keyboard.type(text)
      expect(await fresh.locator('.cm-content').count()).toBe(0)
      loaded.resolve()
      await fresh.locator('.cm-content').waitFor()
      await eventually(textsOf(fresh.getByRole('textbox', { name: label }))).toEqual([text])
      await eventually(typed).toContain(`"expression":"${stored}"`)
      await fresh.close()
    }
  })
})
