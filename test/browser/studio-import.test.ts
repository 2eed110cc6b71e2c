/** A CSV file into a storage and out of it: preview, mapping, refused lines, undo, and an export of what is filtered. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { eventually } from './studio-eventually.ts'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

let studio: StudioFixture
let page: Page
beforeAll(async () => {
  studio = await openStudio()
  const storage = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'people' }))
  for (const [order, field] of [
    { name: 'name', type: 'string', required: true },
    { name: 'age', type: 'integer' },
  ].entries())
    await studio.quoin.manage('POST', '/blueprintfields', { ...field, order, storage: 'people' })
  page = await studio.open('admin', `data/storages/${storage}`)
}, 300_000)
afterAll(() => studio?.close())

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
