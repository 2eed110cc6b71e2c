/** A blueprint that is opened is read at once, pins are used from near and from afar, and steps become a function. Documents that are not as they were read are not written over. */

import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import tasksFile from '../../examples/tasks/blueprints/tasks.json' with { type: 'json' }
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import type { BlockContent } from '../../src/shared/blueprint.ts'
import { guidOf } from '../end-to-end/harness.ts'
import { studioCanvas } from './studio-canvas.ts'
import { eventually, textsOf } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

const studio = studioOfSuite()
let page: Page
beforeAll(async () => {
  page = await studio.open('admin', 'nowhere')
}, 240_000)

describe('steps become a function: one gesture, one step of undo, and the endpoint answers the same', () => {
  const file = {
    name: 'Welcome',
    blocks: {
      get: { type: 'on_startup_register_uri_get', in: { uri: 'welcome/{name}' }, scopes: ['*public'] },
      log: { type: 'function_console_log', in: { flow: '@get.flow', value: '=params.name' } },
      trim: { type: 'httpconnection_get_params', in: { connection: '@get.connection', field: 'name' } },
      note: { type: 'function_console_log', in: { flow: '@log.flow', value: '=trim.value' } },
      answer: {
        type: 'httpconnection_set_json',
        in: { flow: '@note.flow', value: '=({ hello: params.name })' },
      },
    },
  }

  beforeAll(async () => {
    const guid = await installBlueprint(studio.quoin.quoin.flows, file, { guid: '', username: 'admin' })
    await page.setViewportSize({ width: 1600, height: 1000 })
    await goWithin(page, `blueprints/${guid}`)
    await blocks().first().waitFor()
  })

  const blocks = () => page.locator('.react-flow__node-block')
  const titled = (title: string) => page.locator(`.react-flow__node-block[aria-label^="${title}"]`)
  const menuItem = (name: string) => page.getByRole('menuitem', { name, exact: true })
  const answer = async () => (await fetch(`${studio.address}/api/v1/welcome/Ada`)).json()

  test('the palette begins with the blocks that are used most', async () => {
    const palette = page.getByRole('complementary', { name: 'Blocks to add' })
    await eventually(textsOf(palette.getByRole('group', { name: 'Used most' }).getByRole('option'))).toEqual(
      expect.arrayContaining([expect.stringMatching(/^Log/)]),
    )
    await palette.getByRole('combobox').fill('lo')
    await eventually(() => palette.getByRole('group', { name: 'Used most' }).count()).toBe(0)
    await palette.getByRole('combobox').fill('')
  })

  test('steps that cannot be a function are refused with a reason', async () => {
    await titled('GET /welcome').click()
    await page.keyboard.press('ControlOrMeta+a')
    await page.getByRole('button', { name: 'Extract to a function' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/starts a flow. Select the steps behind it/).waitFor()
    expect(await dialog.getByRole('button', { name: 'Extract', exact: true }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
  })

  test('steps become a function, and the endpoint answers the same', async () => {
    const before = await answer()
    await page.getByRole('button', { name: 'Fit View' }).click()
    const [log, note] = [titled('Log params.name'), titled('Log trim')]
    await page.locator('.react-flow__pane').click({ position: { x: 30, y: 700 } })
    await log.click({ position: { x: 60, y: 12 } })
    await note.click({ position: { x: 60, y: 12 }, modifiers: ['Shift'] })
    await page.getByText('2 selected').waitFor()
    await note.click({ button: 'right', position: { x: 60, y: 12 } })
    await menuItem('Extract to a function').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name of the function').fill('greet')
    await dialog.getByText('Takes name, trim. Returns nothing.').waitFor()
    await expectNoProblem(page, 'extract to a function')
    await dialog.getByRole('button', { name: 'Extract', exact: true }).click()
    await page.locator('.react-flow__node-block.selected[aria-label^="Call greet"]').waitFor()
    await page.getByRole('button', { name: 'Fit View' }).click()
    await eventually(() => blocks().count()).toBe(8)
    // One step of undo, there and back.
    await page.keyboard.press('ControlOrMeta+z')
    await eventually(() => blocks().count()).toBe(5)
    await page.keyboard.press('ControlOrMeta+Shift+z')
    await eventually(() => blocks().count()).toBe(8)
    await page
      .getByRole('button', { name: /^(Deploy|Save, deploy)/ })
      .first()
      .click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /deploy/i })
      .click()
    await eventually(() => page.getByRole('dialog').count()).toBe(0)
    expect(await answer()).toEqual(before)
    expect(before).toEqual({ hello: 'Ada' })
    expect(studio.complaints()).toEqual([])
  })
})

describe('a blueprint that is opened can be read at once', () => {
  let path: string
  beforeAll(async () => {
    const tasks = await installBlueprint(studio.quoin.quoin.flows, tasksFile, { guid: '', username: 'admin' })
    path = `blueprints/${tasks}`
    await page.setViewportSize({ width: 1280, height: 800 })
    await goWithin(page, path)
    await page.locator('.react-flow__node-block').first().waitFor()
  })

  const zoom = () =>
    page.locator('.react-flow__viewport').evaluate((at) => new DOMMatrix(at.style.transform).a)
  const titled = (title: string) => page.locator(`.react-flow__node-block[aria-label^="${title}, block"]`)

  test('it opens with the first trigger in sight, and titles say what blocks do', async () => {
    await eventually(zoom).toBeGreaterThanOrEqual(0.8)
    const box = await titled('GET /tasks').boundingBox()
    expect(box && box.x > 280 && box.y > 100 && box.x + box.width < 970).toBe(true)
    await titled('Reply search.documents').waitFor()
  })

  test('the list of lanes leads to each of them', async () => {
    const lanes = page.getByRole('navigation', { name: 'Lanes' })
    await lanes.getByRole('button', { name: '5 lanes' }).click()
    await eventually(textsOf(lanes.getByRole('listitem'))).toEqual([
      'GET /tasks',
      'POST /tasks',
      'GET /tasks/{guid}',
      'PUT /tasks/{guid}',
      'DELETE /tasks/{guid}',
    ])
    await lanes.getByRole('button', { name: 'DELETE /tasks/{guid}', exact: true }).click()
    await eventually(async () => (await titled('DELETE /tasks/{guid}').boundingBox())?.y ?? 0).toBeLessThan(
      400,
    )
    expect(await zoom()).toBeGreaterThanOrEqual(0.8)
    // On a narrow canvas the list makes room for what it leads to.
    await eventually(() => lanes.getByRole('listitem').count()).toBe(0)
  })

  test('unused pins are folded until one asks for them', async () => {
    const search = titled('Get params.guid from tasks')
    await page.getByRole('button', { name: '5 lanes' }).click()
    await page.getByRole('button', { name: 'GET /tasks/{guid}', exact: true }).click()
    const expand = search.locator('.target[data-handleid="expand"]')
    expect(await expand.count()).toBe(0)
    const before = (await search.boundingBox())?.height ?? 0
    await search.getByRole('button', { name: /^\+\d+ more$/ }).click()
    await expand.waitFor()
    expect((await search.boundingBox())?.height).toBeGreaterThan(before)
    await search.getByRole('button', { name: 'Fewer pins' }).click()
    await eventually(() => expand.count()).toBe(0)
  })

  test('wires can be drawn where names of pins are not drawn any more', async () => {
    await page.getByRole('button', { name: 'Fit View' }).click()
    await eventually(zoom).toBeLessThan(0.45)
    const guid = async (title: string) => (await titled(title).getAttribute('data-id')) ?? ''
    const canvas = studioCanvas(page)
    const remove = await guid('Remove params.guid from tasks')
    const fail = await guid('Fail 400 title is required')
    await canvas.wire({ block: remove, out: 'not_found' }, { block: fail, in: 'flow' })
    await page.keyboard.press('ControlOrMeta+z')
    expect(studio.complaints()).toEqual([])
  })

  test('a block that is found from afar is brought near enough to be read', async () => {
    for (let times = 0; times < 3; times++) await page.getByRole('button', { name: 'Zoom Out' }).click()
    await eventually(zoom).toBeLessThan(0.35)
    await page.locator('.react-flow__pane').click({ position: { x: 300, y: 20 } })
    await page.keyboard.press('ControlOrMeta+f')
    await page.getByRole('dialog').getByRole('combobox').fill('Remove params')
    await page.keyboard.press('Enter')
    await eventually(zoom).toBeGreaterThanOrEqual(0.8)
    const box = async () => titled('Remove params.guid from tasks').boundingBox()
    await eventually(async () => (await box())?.y ?? 0).toBeGreaterThan(100)
  })

  test('on a phone the drawing has the width, and what is selected is below it', async () => {
    const phone = await studio.open('admin', path, { viewport: { width: 390, height: 844 } })
    const canvas = phone.locator('.react-flow').first()
    const panel = phone.getByRole('complementary', { name: 'Properties' })
    const first = phone.locator('.react-flow__node-block').first()
    await first.waitFor()
    const [wide, low] = [await canvas.boundingBox(), await panel.boundingBox()]
    expect(wide?.width).toBeGreaterThanOrEqual(340)
    expect(wide?.height).toBeGreaterThanOrEqual(500)
    expect(low?.y).toBeGreaterThanOrEqual((wide?.y ?? 0) + (wide?.height ?? 0) - 1)
    await first.click()
    await panel.getByLabel('Name in expressions').waitFor()
    await eventually(async () => (await panel.boundingBox())?.height ?? 0).toBeGreaterThan(250)
    expect((await canvas.boundingBox())?.height).toBeGreaterThan(250)
    expect(await phone.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    await phone.getByRole('button', { name: 'Try it' }).click()
    const replies = phone.getByRole('complementary', { name: 'Try it' })
    await replies.getByRole('button', { name: 'Send GET' }).click()
    // The reply is below the fields: it is scrolled to, to its end.
    await eventually(async () => (await replies.getByText('Headers').boundingBox())?.y ?? 1000).toBeLessThan(
      844,
    )
    await phone.context().close()
  })
})

describe('500 changed blocks', () => {
  const CHANGED = 500

  test('are counted, drawn some at a time, and found by their values', async () => {
    const { quoin } = studio.quoin
    const names = Array.from({ length: CHANGED }, (_, at) => `log${at}`)
    const blocks = Object.fromEntries(
      names.map((name, at) => {
        const flow = at === 0 ? '@start.flow' : `@log${at - 1}.flow`
        return [name, { type: 'function_console_log', in: { flow, value: `line ${at}` } }]
      }),
    )
    const start = { type: 'on_startup_register_uri_get', in: { uri: 'long' }, scopes: ['*public'] }
    const file = { name: 'Long', blocks: { start, ...blocks } }
    const guid = await installBlueprint(quoin.flows, file, { guid: '', username: 'admin' })
    interface Stored extends BlockContent {
      readonly _meta: { readonly guid: string; readonly update_hash: string }
    }
    const reply = await fetch(`${studio.address}/api/v1/blueprints/${guid}/blocks`, {
      headers: { authorization: `Bearer ${await studio.quoin.tokenOf('admin')}` },
    })
    const stored: readonly Stored[] = await reply.json()
    const edits = stored
      .filter(({ type }) => type === 'function_console_log')
      .map(
        ({ _meta, type, title, description, position, in_pins, custom_out_pins, fields, scopes, name }) => ({
          guid: _meta.guid,
          update_hash: _meta.update_hash,
          content: {
            ...{ type, title, description, position, custom_out_pins, fields, scopes, name },
            in_pins: in_pins.map((pin) => (pin.id === 'value' ? { ...pin, value: `new ${pin.value}` } : pin)),
          },
        }),
      )
    await studio.quoin.manage('POST', `/blueprints/${guid}/edits`, JSON.parse(JSON.stringify({ edits })))
    await page.setViewportSize({ width: 1280, height: 800 })
    await goWithin(page, `blueprints/${guid}`)
    await page.getByText(`${CHANGED} staged`).waitFor()
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(`${CHANGED} changed, 0 new, 0 removed`).waitFor()
    const sections = dialog.locator('section[data-change]')
    // All at once would hold the page for seconds.
    expect(await sections.count()).toBeLessThanOrEqual(60)
    await dialog.getByLabel('Find a change').fill('line 499')
    await eventually(textsOf(sections)).toEqual([expect.stringMatching(/line 499.*new.*line 499/)])
    expect(studio.complaints()).toEqual([])
  }, 60_000)
})

describe('documents that are not as they were read', () => {
  let storage: string
  let boat: string
  beforeAll(async () => {
    const { manage } = studio.quoin
    storage = guidOf(await manage('POST', '/_system/storages', { name: 'boats' }))
    for (const [order, field] of [
      { name: 'name', type: 'string', required: true },
      { name: 'place', type: 'string' },
      { name: 'age', type: 'integer' },
    ].entries())
      await manage('POST', '/blueprintfields', { ...field, storage: 'boats', order })
    const made = await manage('POST', '/_system/storages/boats/documents', { name: 'Ida', place: 'Kiel' })
    await manage('POST', '/_system/storages/boats/documents', { name: 'Nina', place: 'Kiel' })
    boat = guidOf(made)
  })

  const boats = async () =>
    (await studio.quoin.documents('boats')).map(({ name, place }) => `${name} ${place}`).toSorted()
  const cell = (row: number, column: number) => page.locator(`[data-row="${row}"] [data-column="${column}"]`)

  test('what is typed stays while another tab is looked at, and takes back nothing that another user does', async () => {
    await goWithin(page, `data/storages/${storage}/documents/${boat}`)
    const tab = (name: string) => page.getByRole('tab', { name }).click()
    const place = page.getByRole('textbox', { name: 'Place' })
    await place.fill('Oslo')
    await tab('JSON')
    const json = page.getByRole('textbox', { name: 'Document' })
    await json.fill((await json.inputValue()).replace('Ida', 'Ida II'))
    await studio.quoin.manage('PUT', `/_system/storages/boats/documents/${boat}`, { place: 'Rome' })
    await tab('Form')
    expect(await place.inputValue()).toBe('Oslo')
    await eventually(async () => {
      await page.evaluate(() => dispatchEvent(new Event('visibilitychange')))
      return await page.getByText('place (now "Rome")').count()
    }).toBe(1)
    // The document was read again: what the other user has written into the same field is not written over all the same.
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Another user has changed this document').waitFor()
    expect(await boats()).toEqual(['Ida Rome', 'Nina Kiel'])
    expect(await place.inputValue()).toBe('Oslo')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('place (now "Rome")').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Save' }).click()
    await eventually(boats).toEqual(['Ida Oslo', 'Nina Kiel'])
    await place.fill('Bergen')
    await page.getByRole('button', { name: 'Discard' }).click()
    await eventually(() => place.inputValue()).toBe('Oslo')
    await tab('JSON')
    expect(await json.inputValue()).toContain('Ida II')
    await page.getByRole('button', { name: 'Save' }).click()
    await eventually(boats).toEqual(['Ida II Oslo', 'Nina Kiel'])
  })

  test('a cell that was refused stays while the fields are looked at', async () => {
    await goWithin(page, `data/storages/${storage}?sort=name`)
    const type = async (text: string) => {
      await cell(0, 2).click()
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
    }
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route(
      `**/documents/${boat}?*`,
      async (route) => {
        asked.resolve()
        await answered.promise
        await route.continue()
      },
      { times: 1 },
    )
    await type('5')
    await asked.promise
    await type('x')
    await page.locator('[aria-invalid=true]').waitFor()
    // The write before, of the same cell, ends only now.
    const stored = page.waitForResponse(`**/documents/${boat}?*`)
    answered.resolve()
    await (await stored).finished()
    await eventually(async () => JSON.stringify(await studio.quoin.documents('boats'))).toContain('"age":5')
    await page.getByRole('tab', { name: 'Fields' }).click()
    await page.getByRole('textbox', { name: 'New field' }).waitFor()
    await page.getByRole('tab', { name: 'Documents' }).click()
    // In which order they are shown is forgotten.
    await page.locator('[aria-invalid=true]').waitFor()
  })

  test('rows of the question before cannot be selected or edited', async () => {
    await goWithin(page, `data/storages/${storage}?sort=name`)
    await cell(1, 0).waitFor()
    const answered = Promise.withResolvers<void>()
    await page.route('**/documents/search', async (asked) => {
      await answered.promise
      await asked.continue().catch(() => undefined)
    })
    const bar = page.getByRole('toolbar', { name: 'Selected documents' })
    const grid = page.getByRole('grid')
    await page.getByLabel('Search all text').fill('Nina')
    await page.locator('[aria-busy=true] [role=grid]').waitFor()
    await grid.getByRole('columnheader').getByRole('checkbox').click()
    await cell(0, 0).click()
    await page.keyboard.press('Z')
    await page.keyboard.press('Enter')
    answered.resolve()
    await eventually(() => grid.getAttribute('aria-rowcount')).toBe('2')
    expect([await bar.count(), await boats()]).toEqual([0, ['Ida II Oslo', 'Nina Kiel']])
  })

  test('a large file is shown by its beginning, wherever that is cut', async () => {
    await goWithin(page, `data/storages/${storage}`)
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Import' }).click()
    const chooser = page.waitForEvent('filechooser')
    await dialog.locator('button', { hasText: 'Choose a file' }).click()
    // Of the 512 KiB that are sent, the last are in a cell with quotes and line feeds.
    const buffer = Buffer.from(`name,place\nEve,Rome\n"${'a long text\n'.repeat(45_000)}",Oslo\n`)
    await (await chooser).setFiles({ name: 'large.csv', mimeType: '', buffer })
    await dialog.getByRole('table', { name: 'Preview' }).getByRole('cell', { name: 'Eve' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  test('an import whose answer is lost is not done twice when it is sent again', async () => {
    await goWithin(page, `data/storages/${storage}`)
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Import' }).click()
    const chooser = page.waitForEvent('filechooser')
    await dialog.locator('button', { hasText: 'Choose a file' }).click()
    const buffer = Buffer.from('name,place\nUta,Bonn\n,Ulm\n')
    await (await chooser).setFiles({ name: 'boats.csv', mimeType: '', buffer })
    const send = dialog.getByRole('button', { name: /^Import/ })
    await send.click()
    await dialog.getByText('Nothing was imported: 1 line is refused.').waitFor()
    await page.route(
      '**/documents/import?*',
      async (route) => {
        await route.fetch()
        await route.abort()
      },
      { times: 1 },
    )
    await send.click()
    await dialog.getByText('It is not known whether this was imported.').waitFor()
    const all = ['Ida II Oslo', 'Nina Kiel', 'Uta Bonn']
    expect(await boats()).toEqual(all)
    await send.click()
    await dialog.getByText('1 document imported. 1 line is not imported yet.').waitFor()
    expect(await boats()).toEqual(all)
    await dialog.getByRole('button', { name: 'Undo the import' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await boats()).toEqual(all.slice(0, 2))
  })

  test('wrong lines of imports stay over a reload, also where another tab has some of another storage', async () => {
    const lakes = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'lakes' }))
    const depth = { name: 'depth', type: 'integer', storage: 'lakes' }
    await studio.quoin.manage('POST', '/blueprintfields', depth)
    const other = await page.context().newPage()
    await other.goto(`data/storages/${lakes}`)
    const refused = async (tab: Page, text: string) => {
      const dialog = tab.getByRole('dialog')
      await tab.getByRole('button', { name: 'Import' }).click()
      const chooser = tab.waitForEvent('filechooser')
      await dialog.locator('button', { hasText: 'Choose a file' }).click()
      const buffer = Buffer.from(text)
      await (await chooser).setFiles({ name: 'some.csv', mimeType: '', buffer })
      await dialog.getByRole('button', { name: /^Import/ }).click()
      await dialog.getByText('Nothing was imported: 1 line is refused.').waitFor()
      await dialog.getByRole('button', { name: 'Close' }).last().click()
    }
    const stored = () =>
      page.evaluate(
        () =>
          new Promise<number>((resolve) => {
            const opening = indexedDB.open('quoin')
            opening.onsuccess = () => {
              const { result } = opening
              const reading = result.transaction('imports').objectStore('imports').count()
              reading.onsuccess = () => resolve(reading.result)
              result.close()
            }
          }),
      )
    await other.getByRole('button', { name: 'Import' }).waitFor()
    await refused(page, 'name,place\n,Ulm\n')
    await eventually(stored).toBe(1)
    await refused(other, 'depth\ndeep\n')
    await eventually(stored).toBe(2)
    const waits = (tab: Page) => tab.getByText('1 line of some.csv is not imported yet.')
    await page.reload()
    await waits(page).waitFor()
    // Dismissed there, and there alone.
    await other.getByRole('button', { name: 'Dismiss' }).click()
    await eventually(stored).toBe(1)
    await other.close()
    await page.reload()
    await waits(page).waitFor()
  })

  test('of files that are chosen one after the other, the last one is stored, however long the others take', async () => {
    await studio.quoin.manage('POST', '/blueprintfields', { name: 'photo', type: 'file', storage: 'boats' })
    await page.goto(`data/storages/${storage}/documents/${boat}`)
    const choose = (name: string) =>
      page
        .locator('input[type=file]')
        .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('x') })
    const save = page.getByRole('button', { name: 'Save' })
    await page.getByRole('textbox', { name: 'Place' }).fill('Kiel')
    /** Chooses one whose upload takes for ever, does something else, and waits until the upload was given up. */
    async function chooseAndThen(next: () => Promise<void>): Promise<void> {
      const begun = Promise.withResolvers<void>()
      await page.route('**/assets/stream?*', () => begun.resolve(), { times: 1 })
      const ended = page.waitForEvent('requestfailed')
      await choose('large.txt')
      await begun.promise
      expect(await save.isDisabled()).toBe(true)
      await next()
      await ended
    }
    await chooseAndThen(() => page.getByRole('button', { name: 'Discard' }).click())
    await chooseAndThen(() => choose('small.txt'))
    await save.click()
    const photo = async () => JSON.stringify(await studio.quoin.documents('boats'))
    await eventually(photo).toContain('small.txt')
    expect(await photo()).not.toContain('large.txt')
  })
})
