/** Rows of the grid that are selected: changed, removed and deleted together, at once or by a job. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { eventually, textOf } from './studio-eventually.ts'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

const COUNT = 1_150

let studio: StudioFixture
let page: Page
let storage: string
beforeAll(async () => {
  studio = await openStudio()
  storage = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'goods' }))
  for (const field of [
    { name: 'n', type: 'integer' },
    { name: 'kind', type: 'choice', validation_rules: { choices: ['old', 'new'] } },
  ])
    await studio.quoin.manage('POST', '/blueprintfields', { ...field, storage: 'goods' })
  await fetch(`${studio.address}/api/v1/_system/storages/goods/documents/import`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await studio.quoin.tokenOf('admin')}`,
      'content-type': 'application/x-ndjson',
    },
    body: Array.from({ length: COUNT }, (_, n) => JSON.stringify({ n, kind: 'old' })).join('\n'),
  })
  page = await studio.open('admin', `data/storages/${storage}?sort=n`)
}, 300_000)
afterAll(() => studio?.close())

const bar = () => page.getByRole('toolbar', { name: 'Selected documents' })
const dialog = () => page.getByRole('dialog')
const found = async (filters: Record<string, string | number>, include_removed = false) =>
  objectsOf(
    await studio.quoin.manage('POST', '/_system/storages/goods/documents/search', {
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
}, 120_000)

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
