/** Undo in the grid: edits of cells, a paste, a change and a removal of many; what another user has changed stays. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { eventually } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

let studio: StudioFixture
let page: Page
const guids: string[] = []
beforeAll(async () => {
  studio = await openStudio()
  const storage = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'goods' }))
  for (const [order, field] of [
    { name: 'n', type: 'integer' },
    { name: 'name', type: 'string' },
  ].entries())
    await studio.quoin.manage('POST', '/blueprintfields', { ...field, order, storage: 'goods' })
  for (const [n, name] of ['Bolt', 'Nut', 'Wheel'].entries())
    guids.push(guidOf(await studio.quoin.manage('POST', '/_system/storages/goods/documents', { n, name })))
  page = await studio.open('admin', `data/storages/${storage}?sort=n`)
}, 300_000)
afterAll(() => studio?.close())

const cell = (row: number, column: number) => page.locator(`[data-row="${row}"] [data-column="${column}"]`)
const undo = () => page.getByRole('button', { name: /^Undo the/ })
const names = async () =>
  objectsOf(
    await studio.quoin.manage('POST', '/_system/storages/goods/documents/search', { sort: [{ n: 'asc' }] }),
  ).map(({ name }) => name ?? null)
const others = (row: number, fields: Record<string, string>) =>
  studio.quoin.manage('PUT', `/_system/storages/goods/documents/${guids[row]}`, fields)
const dialog = () => page.getByRole('dialog')
const bar = () => page.getByRole('toolbar', { name: 'Selected documents' })

async function type(row: number, text: string): Promise<void> {
  await cell(row, 1).click()
  await page.keyboard.type(text)
  await page.keyboard.press('Enter')
}

beforeEach(async () => {
  await page.getByRole('grid').waitFor()
  expect([await names(), await undo().count()]).toEqual([['Bolt', 'Nut', 'Wheel'], 0])
})

test('edits of cells go back one by one, the latest first', async () => {
  await type(0, 'Rod')
  await type(0, 'Bar')
  await type(1, 'Washer')
  await eventually(names).toEqual(['Bar', 'Washer', 'Wheel'])
  await undo().waitFor()
  await settled(page)
  await expectNoProblem(page, 'the grid with something to undo')
  await page.keyboard.press('Control+z')
  await eventually(names).toEqual(['Bar', 'Nut', 'Wheel'])
  await eventually(() => cell(1, 1).textContent()).toContain('Nut')
  await page.keyboard.press('Control+z')
  await eventually(names).toEqual(['Rod', 'Nut', 'Wheel'])
  await undo().click()
  await undo().waitFor({ state: 'detached' })
})

test('a write that is on its way is waited for', async () => {
  const held = Promise.withResolvers<void>()
  await page.route('**/documents/*', async (route) => {
    if (route.request().method() === 'PUT') await held.promise
    await route.continue()
  })
  const sent = page.waitForRequest((request) => request.method() === 'PUT')
  const written: string[] = []
  page.on('response', (response) => {
    if (response.request().method() === 'PUT') written.push(response.request().postData() ?? '')
  })
  await type(0, 'Rod')
  await sent
  await page.keyboard.press('Control+z')
  held.resolve()
  // Not the notification: that of the undo before may be there still.
  await eventually(() => written).toEqual([expect.stringContaining('Rod'), expect.stringContaining('Bolt')])
  await page.unrouteAll({ behavior: 'wait' })
  expect(await names()).toEqual(['Bolt', 'Nut', 'Wheel'])
  await undo().waitFor({ state: 'detached' })
})

test('cells that are cleared together are one step', async () => {
  await cell(0, 1).click()
  await cell(2, 1).click({ modifiers: ['Shift'] })
  await page.keyboard.press('Delete')
  await eventually(names).toEqual([null, null, null])
  await page.getByRole('button', { name: 'Undo the change of 3 documents' }).waitFor()
  await page.keyboard.press('Control+z')
  await undo().waitFor({ state: 'detached' })
})

test('what another user has changed since is not overwritten, and named', async () => {
  await cell(0, 1).click()
  await cell(1, 1).click({ modifiers: ['Shift'] })
  await page.keyboard.press('Delete')
  await eventually(names).toEqual([null, null, 'Wheel'])
  await others(0, { name: 'Theirs' })
  await page.keyboard.press('Control+z')
  await page.getByText('Not all of it was undone').waitFor()
  await page.getByText(`Another user has changed name of ${guids[0]}: it holds "Theirs" now.`).waitFor()
  await settled(page)
  await expectNoProblem(page, 'an undo with a conflict')
  await page.locator('.mantine-Notification-closeButton').first().click()
  expect(await names()).toEqual(['Theirs', 'Nut', 'Wheel'])
  await others(0, { name: 'Bolt' })
  await undo().waitFor({ state: 'detached' })
})

test('a change of many and a removal of all are taken back', async () => {
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).click()
  await bar().getByRole('button', { name: 'Change a field' }).click()
  await dialog().getByRole('combobox', { name: 'Field' }).click()
  await page.getByRole('option', { name: 'Name' }).click()
  await dialog().getByRole('textbox', { name: 'Value' }).fill('Same')
  await dialog().getByRole('button', { name: 'Change' }).click()
  await dialog().waitFor({ state: 'detached' })
  expect(await names()).toEqual(['Same', 'Same', 'Same'])
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).click()
  await bar().getByRole('button', { name: 'Remove' }).click()
  await dialog().getByRole('button', { name: 'Remove' }).click()
  await dialog().waitFor({ state: 'detached' })
  expect(await names()).toEqual([])
  await page.getByText('No documents').waitFor()
  await page.getByRole('button', { name: 'Undo the removal of 3 documents' }).click()
  await eventually(names).toEqual(['Same', 'Same', 'Same'])
  await page.getByRole('button', { name: 'Undo the change of 3 documents' }).waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Control+z')
  await undo().waitFor({ state: 'detached' })
  expect(await names()).toEqual(['Bolt', 'Nut', 'Wheel'])
  expect(studio.complaints()).toEqual([])
})

test('a document that was deleted meanwhile is named, and the others come back', async () => {
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).click()
  await bar().getByRole('button', { name: 'Remove' }).click()
  await dialog().getByRole('button', { name: 'Remove' }).click()
  await dialog().waitFor({ state: 'detached' })
  await studio.quoin.manage('DELETE', `/_system/storages/goods/documents/${guids[2]}?hard=true`)
  await undo().click()
  await page.getByText(`Another user has removed or deleted ${guids[2]}.`).waitFor()
  expect(await names()).toEqual(['Bolt', 'Nut'])
})
