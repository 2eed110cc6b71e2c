/** Documents come in as a file, are offered as a resource, and are changed many at once. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { guidOf, objectOf, objectsOf } from '../end-to-end/harness.ts'
import { eventually, textOf } from './studio-eventually.ts'
import { goWithin, studioOfSuite } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

const studio = studioOfSuite()
let page: Page
beforeAll(async () => {
  page = await studio.open('admin', 'nowhere')
}, 240_000)

describe('import', () => {
  beforeAll(async () => {
    const storage = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'people' }))
    for (const [order, field] of [
      { name: 'name', type: 'string', required: true },
      { name: 'age', type: 'integer' },
    ].entries())
      await studio.quoin.manage('POST', '/blueprintfields', { ...field, order, storage: 'people' })
    await page.goto(`data/storages/${storage}`)
  })

  const dialog = () => page.getByRole('dialog')
  const people = async () =>
    objectsOf(
      await studio.quoin.manage('POST', '/_system/storages/people/documents/search', {
        sort: [{ age: 'asc' }],
      }),
    ).map(({ name, age }) => [name, age])

  async function choose(text: string | Buffer, name = 'people.csv'): Promise<void> {
    await page.getByRole('button', { name: 'Import' }).click()
    const chooser = page.waitForEvent('filechooser')
    await dialog().locator('button', { hasText: 'Choose a file' }).click()
    await (await chooser).setFiles({ name, mimeType: '', buffer: Buffer.from(text) })
  }

  const file = 'Who,Age,Note\nAnn,41,x\nBob,abc,y\nCid,9,z\n'

  test('a preview shows what rows become, and where columns go', async () => {
    await choose(file)
    const preview = dialog().getByRole('table', { name: 'Preview' })
    await preview.getByText('name is required').first().waitFor()
    await preview.getByLabel('Who').selectOption('name')
    await preview.getByRole('cell', { name: 'Ann' }).waitFor()
    await preview.getByText('The value of Age is not a number.').waitFor()
    await preview.getByLabel('Note').selectOption('(not imported)')
    await settled(page)
    await expectNoProblem(page, 'the preview of an import')
    expect(await people()).toEqual([])
  })

  test('the same file can be chosen again, after it was changed on the disk', async () => {
    const chooser = page.waitForEvent('filechooser')
    await dialog().locator('button', { hasText: 'people.csv' }).click()
    await chooser
    // A browser says nothing of a choice of what is chosen already.
    expect(await dialog().locator('input[type=file]').inputValue()).toBe('')
  })

  test('a refused line refuses the file, and is shown with its cell', async () => {
    await dialog().getByRole('button', { name: 'Import' }).click()
    await dialog().getByText('Nothing was imported: 1 line is refused.').waitFor()
    const line = dialog().getByRole('list', { name: 'Refused lines' }).getByRole('listitem')
    expect(await line.getByLabel('Age in line 3').inputValue()).toBe('abc')
    await line.getByText('The value of Age is not a number.').waitFor()
    await line.getByText('Who: Bob').waitFor()
    expect(await people()).toEqual([])
  })

  test('or is skipped and kept; the import is undone with one click', async () => {
    await dialog().getByRole('button', { name: 'Back to the file' }).click()
    await dialog().getByRole('switch', { name: 'Skip lines that are refused' }).check()
    await dialog().getByRole('button', { name: 'Import' }).click()
    await dialog().getByText('2 documents imported. 1 line is not imported yet.').waitFor()
    await expectNoProblem(page, 'the result of an import')
    expect(await people()).toEqual([
      ['Cid', 9],
      ['Ann', 41],
    ])
    await dialog().getByRole('button', { name: 'Undo the import' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect(await people()).toEqual([])
  })

  test('an export has the columns and rows that are shown', async () => {
    for (const [name, age] of [
      ['Ann', 41],
      ['Cid', 9],
      ['Dee', 50],
    ] as const)
      await studio.quoin.manage('POST', '/_system/storages/people/documents', { name, age, note: 'x' })
    await goWithin(page, `${page.url().split('?')[0]}?filter=age~gte~40&sort=-age&columns=age,name`)
    await eventually(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('3')
    await page.getByRole('button', { name: 'Export' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'CSV, the columns shown' }).click()
    const done = await download
    expect(done.suggestedFilename()).toBe('people.csv')
    expect(await readFile(await done.path(), 'utf8')).toBe('\ufeffage,name\r\n50,Dee\r\n41,Ann\r\n')
  })

  test('a workbook is exported, and imported again', async () => {
    await page.getByRole('button', { name: 'Export' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'XLSX, the columns shown' }).click()
    const done = await download
    expect(done.suggestedFilename()).toBe('people.xlsx')
    await choose(await readFile(await done.path()), 'people.xlsx')
    const preview = dialog().getByRole('table', { name: 'Preview' })
    await preview.getByRole('cell', { name: 'Dee' }).waitFor()
    await dialog().getByRole('button', { name: 'Import' }).click()
    await dialog().getByText('2 documents imported.').waitFor()
    expect((await people()).map(([name]) => name)).toEqual(['Cid', 'Ann', 'Ann', 'Dee', 'Dee'])
    expect(studio.complaints()).toEqual([])
  })

  test('a blueprint is imported under the name that is chosen', async () => {
    await goWithin(page, 'blueprints')
    await page.getByRole('button', { name: 'Import' }).click()
    const blueprint = { name: 'Hello', blocks: { s: { type: 'storage', fields: { storage: 'people' } } } }
    const chooser = page.waitForEvent('filechooser')
    await dialog().locator('button', { hasText: 'Choose a file' }).click()
    await (await chooser).setFiles({
      name: 'hello.json',
      mimeType: '',
      buffer: Buffer.from(JSON.stringify(blueprint)),
    })
    const name = dialog().getByLabel('Name')
    await eventually(() => name.inputValue()).toBe('Hello')
    await name.fill('  Hello again ')
    await settled(page)
    await expectNoProblem(page, 'import of a blueprint')
    await dialog().getByRole('button', { name: 'Import' }).click()
    await page.waitForURL(/blueprints\/[0-9a-f-]+/)
    const found = objectsOf(await studio.quoin.manage('POST', '/blueprints/search', {}))
    expect(found.map((one) => one.name)).toEqual(['Hello again'])
  })
})

describe('an API made of a storage', () => {
  let storage: string

  beforeAll(async () => {
    const { quoin } = studio
    storage = guidOf(await quoin.manage('POST', '/_system/storages', { name: 'goods' }))
    for (const field of [
      { name: 'name', type: 'string', required: true },
      { name: 'price', type: 'number' },
      { name: 'sold', type: 'boolean' },
      { name: 'number', type: 'autonumber', required: true },
    ])
      await quoin.manage('POST', '/blueprintfields', { ...field, storage: 'goods' })
    await page.goto(`data/storages/${storage}`)
  })

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
})

describe('selected rows are changed, removed and deleted together, at once or by a job', () => {
  const COUNT = 1_150

  let storage: string
  beforeAll(async () => {
    storage = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'crates' }))
    for (const field of [
      { name: 'n', type: 'integer' },
      { name: 'kind', type: 'choice', validation_rules: { choices: ['old', 'new'] } },
    ])
      await studio.quoin.manage('POST', '/blueprintfields', { ...field, storage: 'crates' })
    await fetch(`${studio.address}/api/v1/_system/storages/crates/documents/import`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await studio.quoin.tokenOf('admin')}`,
        'content-type': 'application/x-ndjson',
      },
      body: Array.from({ length: COUNT }, (_, n) => JSON.stringify({ n, kind: 'old' })).join('\n'),
    })
    await page.goto(`data/storages/${storage}?sort=n`)
  })

  const bar = () => page.getByRole('toolbar', { name: 'Selected documents' })
  const dialog = () => page.getByRole('dialog')
  const found = async (filters: Record<string, string | number>, include_removed = false) =>
    objectsOf(
      await studio.quoin.manage('POST', '/_system/storages/crates/documents/search', {
        filters,
        include_removed,
        limit: 1000,
        sort: [{ n: 'asc' }],
      }),
    ).map(({ n }) => n)

  test('rows between two clicks are changed together', async () => {
    await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).click()
    await page.getByRole('checkbox', { name: 'Select row 3', exact: true }).click({ modifiers: ['Shift'] })
    await bar().getByText('3 documents selected').waitFor()
    await settled(page)
    await expectNoProblem(page, 'selected rows')
    await bar().getByRole('button', { name: 'Change a field' }).click()
    await dialog().getByRole('combobox', { name: 'Field' }).click()
    await page.getByRole('option', { name: 'Kind' }).click()
    await dialog().getByRole('combobox', { name: 'Value' }).click()
    await page.getByRole('option', { name: 'new' }).click()
    await dialog().getByRole('button', { name: 'Change' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect(await found({ kind: 'new' })).toEqual([0, 1, 2])
    await bar().waitFor({ state: 'detached' })
  })

  test('a row by the keyboard, removed, and deleted where removed ones are shown', async () => {
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('Shift+Space')
    await bar().getByRole('button', { name: 'Remove' }).click()
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect([await found({ n: 0 }), await found({ n: 0 }, true)]).toEqual([[], [0]])
    await page.getByRole('switch', { name: 'Removed' }).check()
    await eventually(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('2')
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).click()
    await bar().getByRole('button', { name: 'Delete permanently' }).click()
    await dialog().getByRole('button', { name: 'Delete permanently' }).click()
    await dialog().waitFor({ state: 'detached' })
    expect(await found({ n: 0 }, true)).toEqual([])
  })

  test('all that match, also on other pages, by a job that says how far it is', async () => {
    await goWithin(page, `data/storages/${storage}?sort=n&filter=kind~is~old`)
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).click()
    await bar().getByText('100 documents selected').waitFor()
    await bar().getByRole('button', { name: 'Select all 1,147' }).click()
    await bar().getByText('1,147 documents selected').waitFor()
    await bar().getByRole('button', { name: 'Change a field' }).click()
    await dialog().getByRole('combobox', { name: 'Field' }).click()
    await page.getByRole('option', { name: 'N', exact: true }).click()
    await dialog().getByRole('textbox', { name: 'Value' }).fill('7')
    await dialog().getByRole('button', { name: 'Change' }).click()
    await page.getByText('The documents are changed').waitFor({ timeout: 60_000 })
    expect(await textOf(page.getByText('1,147 changed of 1,147'))()).toContain('1,147')
    expect([...new Set(await found({ kind: 'old' }))]).toEqual([7])
    expect(await found({ kind: 'new' })).toEqual([1, 2])
    expect(studio.complaints()).toEqual([])
  })

  test('filters, order and columns are saved as a view, and shown again', async () => {
    await goWithin(page, `data/storages/${storage}?sort=-n&filter=kind~is~new&columns=n`)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save as a new view' }).click()
    await dialog().getByLabel('Name').fill('New ones')
    await settled(page)
    await expectNoProblem(page, 'saving a view')
    await page.keyboard.press('Enter')
    await dialog().waitFor({ state: 'detached' })
    const button = () => page.getByRole('button', { name: /New ones|Views/ })
    await button().click()
    await page.getByRole('menuitem', { name: 'All documents' }).click()
    await eventually(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('1150')
    await button().click()
    await page.getByRole('menuitem', { name: 'New ones' }).click()
    await eventually(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('3')
    expect(new URL(page.url()).searchParams.get('sort')).toBe('-n')
    await page.getByRole('button', { name: 'N', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Sort ascending' }).click()
    await page.getByRole('button', { name: 'New ones (changed)' }).click()
    await page.getByRole('menuitem', { name: 'Save changes to New ones' }).click()
    await page.getByRole('button', { name: 'New ones', exact: true }).waitFor()
    expect(await studio.quoin.manage('GET', `/_system/storages/${storage}/views`)).toMatchObject([
      { name: 'New ones', shared: false, address: 'filter=kind%7Eis%7Enew&sort=n&columns=n' },
    ])
    expect(studio.complaints()).toEqual([])
  })
})

describe('while a request is on its way', () => {
  let boat: string
  let editor: string
  beforeAll(async () => {
    const { manage } = studio.quoin
    const storage = guidOf(await manage('POST', '/_system/storages', { name: 'boats' }))
    for (const [order, name] of ['name', 'place'].entries())
      await manage('POST', '/blueprintfields', { name, type: 'string', storage: 'boats', order })
    const made = await manage('POST', `/_system/storages/${storage}/documents`, {
      name: 'Ida',
      place: 'Kiel',
    })
    boat = `data/storages/${storage}/documents/${guidOf(made)}`
    const blocks = {
      on: { type: 'on_startup_register_uri_get', in: { uri: 'boats' }, scopes: ['*public'] },
      reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: 'none' } },
    }
    const by = { guid: '', username: 'admin' }
    const { flows } = studio.quoin.quoin
    editor = `blueprints/${await installBlueprint(flows, { name: 'Zebra crossings', blocks }, by)}`
  })

  const dialog = () => page.getByRole('dialog')

  /** The requests of a method below a path are sent when the returned function is called. */
  async function late(method: string, path: string): Promise<() => Promise<void>> {
    const go = Promise.withResolvers<void>()
    await page.route(`**/api/v1/${path}`, async (route) => {
      if (route.request().method() === method) await go.promise
      await route.continue()
    })
    return async () => {
      go.resolve()
      await page.unrouteAll({ behavior: 'wait' })
    }
  }

  const stored = async () => {
    const { name, place } = objectOf(
      await studio.quoin.manage('GET', `/_system/${boat.replace('data/', '')}`),
    )
    return [name, place]
  }

  test('a dialog that was closed meanwhile says what failed, and closes no other one', async () => {
    await goWithin(page, 'data')
    await settled(page)
    const go = await late('POST', '_system/storages')
    const begin = async (name: string) => {
      await page.getByRole('button', { name: 'New storage' }).click()
      await dialog().locator('input:focus').waitFor()
      await page.keyboard.type(name)
    }
    await begin('boats')
    await page.keyboard.press('Enter')
    await dialog().locator('button[data-loading]').waitFor()
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
    await begin('ships')
    await go()
    await page.getByRole('alert').filter({ hasText: 'Not done: New storage' }).waitFor()
    expect(await dialog().locator('input:focus').inputValue()).toBe('boatsships')
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  test('what is typed and saved while a document is being saved is saved too', async () => {
    await goWithin(page, boat)
    const place = page.getByRole('textbox', { name: 'Place' })
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Ida II')
    const go = await late('PUT', '_system/storages/**')
    await page.keyboard.press('ControlOrMeta+s')
    await page.locator('button[data-loading]').waitFor()
    await place.press('End')
    await page.keyboard.type(' har')
    await page.keyboard.press('ControlOrMeta+s')
    expect(await stored()).toEqual(['Ida', 'Kiel'])
    await go()
    await eventually(stored).toEqual(['Ida II', 'Kiel har'])
    // The cursor has stayed where it was.
    await page.keyboard.type('bour')
    expect(await place.inputValue()).toBe('Kiel harbour')
    expect(await stored()).toEqual(['Ida II', 'Kiel har'])
  })

  test('what is typed and saved while a document is being created is saved too, and what is typed for the next one is not in it', async () => {
    await goWithin(page, boat.replace(/[^/]+$/, 'new'))
    const place = page.getByRole('textbox', { name: 'Place' })
    await place.fill('Kiel')
    const go = await late('POST', '_system/storages/*/documents')
    await page.keyboard.press('ControlOrMeta+s')
    await page.locator('button[data-loading]').waitFor()
    await page.keyboard.type(' har')
    await page.keyboard.press('ControlOrMeta+s')
    await go()
    const places = async () => (await studio.quoin.documents('boats')).map((one) => one.place)
    await eventually(places).toEqual(['Kiel har', 'Kiel har'])
    await page.keyboard.type('bour')
    expect(await place.inputValue()).toBe('Kiel harbour')
    await page.evaluate("history.pushState(null, '', 'new')")
    await page.getByRole('heading', { name: 'New document' }).waitFor()
    await place.fill('Bremen')
    await page.goBack()
    await eventually(() => place.inputValue()).toBe('Kiel har')
  })

  test('fields are added as fast as their names are typed', async () => {
    await goWithin(page, `${boat.replace(/\/documents.*/, '')}?tab=fields`)
    const go = await late('POST', 'blueprintfields')
    await page.getByRole('textbox', { name: 'New field' }).click()
    for (const name of ['length', 'width', 'depth']) {
      await page.keyboard.type(name)
      await page.keyboard.press('Enter')
    }
    await go()
    const names = page.locator('main td:first-child a')
    await eventually(() => names.allTextContents()).toEqual(['name', 'place', 'length', 'width', 'depth'])
  })

  test('Enter in the palette counts before anything is found', async () => {
    await goWithin(page, 'data')
    const go = await late('POST', 'blueprints/search')
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type('zebra cross')
    await page.keyboard.press('Enter')
    await dialog().getByText('Searching').waitFor()
    await go()
    await page.waitForURL(`**/${editor}`)
  })

  const chooseTrigger = () =>
    page
      .locator('.react-flow__node-block')
      .first()
      .click({ position: { x: 12, y: 6 } })

  test('keys do nothing below the dialog of a deploy, which may be closed while it deploys', async () => {
    await chooseTrigger()
    await page.getByLabel('Value of uri', { exact: true }).fill('ships')
    await page.getByText('1 staged', { exact: true }).waitFor()
    const go = await late('PUT', 'blueprints/update/set/active/**')
    await page.keyboard.press('ControlOrMeta+Enter')
    await dialog().locator('button:focus', { hasText: 'Save' }).waitFor()
    await page.keyboard.press('Enter')
    await dialog().locator('button[data-loading]').waitFor()
    await page.keyboard.press('ControlOrMeta+z')
    await page.keyboard.type('o')
    expect(await page.getByRole('tree').count()).toBe(0)
    expect(await page.getByLabel('Value of uri', { exact: true }).inputValue()).toBe('ships')
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
    await page.keyboard.press('v')
    await dialog().getByText('Version 1').first().waitFor()
    await go()
    await page.getByText('is deployed and live').waitFor()
    expect(await dialog().count()).toBe(1)
    expect((await studio.ask('GET', '/ships')).status).toBe(200)
  })

  test('Enter deploys also before it is shown what changes', async () => {
    await page.keyboard.press('Escape')
    await chooseTrigger()
    await page.getByLabel('Value of uri', { exact: true }).fill('fleet')
    await page.getByText('1 staged', { exact: true }).waitFor()
    const go = await late('GET', 'blueprints/*/versions/2')
    await page.keyboard.press('ControlOrMeta+Enter')
    await dialog().getByRole('status', { name: 'Reading what is deployed' }).waitFor()
    await page.keyboard.press('Enter')
    await dialog().locator('button[data-loading]').waitFor()
    expect((await studio.ask('GET', '/fleet')).status).toBe(404)
    await go()
    await page.getByText('Active, version 3').waitFor()
  })
})
