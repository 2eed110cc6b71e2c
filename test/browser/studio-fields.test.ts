/** The form of a field: what it shows for a type, and what it sends. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

let studio: StudioFixture
let page: Page
beforeAll(async () => {
  studio = await openStudio()
  await studio.quoin.manage('POST', '/_system/storages', { name: 'goods' })
  page = await studio.open('admin', 'data/fields?open=new')
}, 300_000)
afterAll(() => studio?.close())

const dialog = () => page.getByRole('dialog')
const fill = (label: string, text: string) => dialog().getByLabel(label, { exact: true }).fill(text)
async function choose(label: string, option: string): Promise<void> {
  await dialog().getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

test('a choice with a label, that is unique without regard to case', async () => {
  await dialog().waitFor()
  await dialog().getByRole('textbox', { name: 'Name' }).fill('size')
  await choose('Type', 'Choice')
  await choose('Storage', 'goods')
  await fill('Label', 'Size of the box')
  await fill('Help', 'As printed on the box.')
  await fill('Order', '2')
  for (const choice of ['S', 'M']) {
    await dialog().getByRole('combobox', { name: 'Choices' }).fill(choice)
    await page.keyboard.press('Enter')
  }
  await dialog().getByRole('switch', { name: 'Unique' }).check()
  await dialog().getByRole('switch', { name: 'Ignore case' }).check()
  await settled(page)
  await expectNoProblem(page, 'the form of a field')
  await dialog().getByRole('button', { name: 'Create' }).click()
  await dialog().waitFor({ state: 'detached' })
  expect(await studio.quoin.manage('POST', '/blueprintfields/search', {})).toMatchObject([
    {
      ...{ name: 'size', type: 'choice', storage: 'goods', label: 'Size of the box', order: 2 },
      ...{ help: 'As printed on the box.', validation_rules: { choices: ['S', 'M'] } },
      unique: { ignore_case: true },
    },
  ])
  expect(studio.complaints()).toEqual([])
})

test('an expression that cannot be used is named beside its input', async () => {
  await goWithin(page, 'data/fields?open=new')
  await dialog().waitFor()
  await dialog().getByRole('textbox', { name: 'Name' }).fill('total')
  await choose('Type', 'Decimal')
  await choose('Storage', 'goods')
  await fill('Computed as', 'price * 2')
  expect(await dialog().getByLabel('Default', { exact: true }).count()).toBe(0)
  await dialog().getByRole('button', { name: 'Create' }).click()
  await dialog().getByText('There is no name price').first().waitFor()
  await fill('Computed as', 'doc.price * 2')
  await dialog().getByRole('button', { name: 'Create' }).click()
  await dialog().waitFor({ state: 'detached' })
})

test('what is typed into the line that adds a field is in its form', async () => {
  await goWithin(page, 'data')
  await page.getByRole('link', { name: 'goods', exact: true }).first().click()
  await page.getByRole('tab', { name: 'Fields' }).click()
  await page.getByLabel('New field').fill('maker')
  await page.getByRole('button', { name: 'More settings' }).click()
  expect(await dialog().getByRole('textbox', { name: 'Name' }).inputValue()).toBe('maker')
  await choose('Type', 'Reference')
  await choose('Refers to', 'goods')
  await dialog().getByRole('button', { name: 'Create' }).click()
  await page.getByRole('table').getByText('maker', { exact: true }).waitFor()
  expect(await page.getByLabel('New field').inputValue()).toBe('')
  expect(studio.complaints()).toEqual([])
})

test('typing and Enter choose the type, and what it needs is beside it', async () => {
  const begin = async (name: string, type: string) => {
    await page.getByLabel('New field').fill(name)
    await page.keyboard.press('Tab')
    await page.keyboard.type(type)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
  }
  const added = (name: string) => page.getByRole('table').getByText(name, { exact: true }).waitFor()
  await begin('box', 'ref')
  await page.keyboard.type('goo')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await added('box')
  await begin('price', 'curr')
  await page.keyboard.type('usd')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await added('price')
  await page.getByRole('table').getByText('Money', { exact: true }).waitFor()
  await begin('state', 'sev')
  await page.keyboard.type('open,done,')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await added('state')
  const fields = await studio.quoin.manage('POST', '/blueprintfields/search', {})
  expect(fields).toContainEqual(
    expect.objectContaining({
      name: 'box',
      type: 'reference',
      reference: { storage: 'goods', on_delete: 'refuse' },
    }),
  )
  expect(fields).toContainEqual(
    expect.objectContaining({ name: 'price', type: 'decimal', validation_rules: { currency: 'USD' } }),
  )
  expect(fields).toContainEqual(
    expect.objectContaining({
      name: 'state',
      type: 'choices',
      validation_rules: { choices: ['open', 'done'] },
    }),
  )
  expect(studio.complaints()).toEqual([])
})

test('Enter on what fits nothing neither closes the dialog nor saves the type chosen before', async () => {
  await page.getByRole('button', { name: 'More settings' }).click()
  const type = dialog().getByRole('combobox', { name: 'Type' })
  await type.click()
  await page.keyboard.type('zebra')
  await page.getByText('Nothing found').waitFor()
  await page.keyboard.press('Enter')
  expect(await dialog().count()).toBe(1)
  await type.fill('day')
  await page.keyboard.press('Enter')
  expect(await type.inputValue()).toBe('Date')
  expect(await dialog().count()).toBe(1)
  expect(studio.complaints()).toEqual([])
})
