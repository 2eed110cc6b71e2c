/** The form of a field whose documents have values: what a rename and another type do is shown before the button does it. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectOf } from '../end-to-end/harness.ts'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

let studio: StudioFixture
let page: Page
let storage: string
let field: string
beforeAll(async () => {
  studio = await openStudio()
  const { quoin } = studio
  storage = guidOf(await quoin.manage('POST', '/_system/storages', { name: 'goods' }))
  field = guidOf(
    await quoin.manage('POST', '/blueprintfields', { name: 'price', type: 'string', storage: 'goods' }),
  )
  for (const price of ['12', '7.5', 'on request'])
    await quoin.manage('POST', `/_system/storages/${storage}/documents`, { price })
  page = await studio.open('admin', `data/storages/${storage}?tab=fields&open=${field}`)
}, 300_000)
afterAll(() => studio?.close())

const dialog = () => page.getByRole('dialog')
const prices = async (name: string) =>
  (await studio.quoin.documents('goods')).map((document) => document[name])

test('another type shows what does not fit, and asks what is stored instead', async () => {
  await dialog().waitFor()
  await dialog().getByRole('combobox', { name: 'Type' }).click()
  await page.getByRole('option', { name: 'Number', exact: true }).click()
  await dialog().getByRole('button', { name: 'Save', exact: true }).click()
  await dialog().getByText('The values of 2 documents are converted.').waitFor()
  await dialog().getByText('"on request": must be a number').waitFor()
  expect(await prices('price')).toEqual(['12', '7.5', 'on request'])
  await settled(page)
  await expectNoProblem(page, 'values of a field that do not fit')
  await dialog().getByRole('combobox', { name: 'Values that do not fit' }).click()
  await page.getByRole('option', { name: 'Keep them in another field' }).click()
  await dialog().getByRole('textbox', { name: 'Field that keeps them' }).fill('price_note')
  await dialog().getByRole('button', { name: 'Save and convert' }).click()
  await dialog().waitFor({ state: 'detached' })
  expect([await prices('price'), await prices('price_note')]).toEqual([
    [12, 7.5, null],
    [undefined, undefined, 'on request'],
  ])
})

test('a rename says how many documents follow, shows how far they have come, and is taken back', async () => {
  await studio.quoin.manage('PUT', '/queues/default', { paused: true })
  await goWithin(page, `data/storages/${storage}?tab=fields&open=${field}`)
  await dialog().getByRole('textbox', { name: 'Name' }).fill('amount')
  await dialog().getByRole('button', { name: 'Save', exact: true }).click()
  await dialog().getByText('2 documents have a value.').waitFor()
  await dialog().getByRole('button', { name: 'Save and move the values' }).click()
  await dialog().waitFor({ state: 'detached' })
  await page.getByText('Values are copied to amount.').waitFor()
  await settled(page)
  await expectNoProblem(page, 'a field that is renamed')
  await page.getByRole('button', { name: 'Take back' }).click()
  await page.getByText('Values are removed from amount, the former name.').waitFor()
  await studio.quoin.manage('PUT', '/queues/default', { paused: false })
  const migration = async () =>
    objectOf(await studio.quoin.manage('GET', `/blueprintfields/${field}`)).migration
  await expect.poll(migration, { timeout: 20_000, interval: 50 }).toBe(null)
  expect([await prices('price'), await prices('amount')]).toEqual([
    [12, 7.5, null],
    [undefined, undefined, undefined],
  ])
  expect(studio.complaints()).toEqual([])
})

test('removing a field says how many documents have a value', async () => {
  await goWithin(page, `data/storages/${storage}?tab=fields`)
  await page.getByRole('button', { name: 'Remove the field price' }).click()
  await page.getByText('2 documents have a value of it and keep it.').waitFor()
  await page.keyboard.press('Escape')
  await dialog().waitFor({ state: 'detached' })
})

test('a new document is typed in the order of its fields, and no letter is lost', async () => {
  const { quoin } = studio
  await quoin.manage('POST', '/_system/storages', { name: 'contracts' })
  const fields = [
    { name: 'title', type: 'string' },
    { name: 'price', type: 'decimal', validation_rules: { currency: 'EUR' } },
    { name: 'start', type: 'day' },
    { name: 'good', type: 'reference', reference: { storage: 'goods' } },
    { name: 'number', type: 'autonumber' },
  ]
  for (const [order, one] of fields.entries())
    await quoin.manage('POST', '/blueprintfields', { ...one, storage: 'contracts', order })
  await goWithin(page, 'data')
  await page.getByRole('link', { name: 'contracts', exact: true }).first().click()
  await page.getByRole('link', { name: 'New document' }).click()
  await page.getByRole('textbox', { name: 'Title' }).focus()
  await page.keyboard.type('Rent of the hall')
  await page.keyboard.press('Tab')
  await page.keyboard.type('1200.50')
  await page.getByLabel('Start').fill('2026-06-01')
  await page.getByRole('combobox', { name: 'Good' }).click()
  await page.getByRole('option').first().click()
  expect(await page.getByLabel('Number').count(), 'Quoin gives it').toBe(0)
  await settled(page)
  await expectNoProblem(page, 'a new document')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('tab', { name: 'History' }).waitFor()
  expect(await quoin.documents('contracts')).toMatchObject([
    { title: 'Rent of the hall', price: 1200.5, start: '2026-06-01', good: expect.any(String), number: 1 },
  ])
  await page.getByRole('textbox', { name: 'Title' }).fill('Rent')
  await page.getByRole('button', { name: 'Discard' }).click()
  expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Rent of the hall')
  expect(studio.complaints()).toEqual([])
})
