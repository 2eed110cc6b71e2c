/** The rules of a storage are edited in the studio: a mistake is shown at its rule with its column, and what fits is stored. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectOf } from '../end-to-end/harness.ts'
import { eventually } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

let studio: StudioFixture
let page: Page
let storage: string

beforeAll(async () => {
  studio = await openStudio()
  storage = guidOf(await studio.quoin.manage('POST', '/_system/storages', { name: 'deals' }))
  page = await studio.open('admin', 'data')
}, 300_000)
afterAll(() => studio?.close())

const rules = async () => objectOf(await studio.quoin.manage('GET', `/_system/storages/${storage}`)).rules

test('a wrong rule is named with its column, a right one is stored, an empty one is none', async () => {
  const open = async () => {
    await page.getByRole('button', { name: 'More about deals' }).click()
    await page.getByRole('menuitem', { name: 'Rules' }).click()
    await page.getByRole('dialog').waitFor()
  }
  await open()
  const see = page.getByRole('textbox', { name: 'See' })
  await see.fill('doc.title.length > 3')
  await page.getByRole('button', { name: 'Save' }).click()
  await page
    .getByRole('dialog')
    .getByText(/column \d+/)
    .first()
    .waitFor()
  await settled(page)
  await expectNoProblem(page, 'a rule that cannot be used')
  expect(await rules()).toBeNull()

  await see.fill('doc.owner == user.guid')
  await page.getByRole('textbox', { name: 'Change' }).fill('doc.owner == user.guid && doc.locked != true')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await rules()).toEqual({
    see: 'doc.owner == user.guid',
    change: 'doc.owner == user.guid && doc.locked != true',
  })

  await open()
  await eventually(() => see.inputValue()).toBe('doc.owner == user.guid')
  for (const name of ['See', 'Change']) await page.getByRole('textbox', { name }).fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await rules()).toBeNull()
})

test('a constraint with its message and field is added beside the permissions, and removed', async () => {
  const constraints = async () =>
    objectOf(await studio.quoin.manage('GET', `/_system/storages/${storage}`)).constraints
  const open = async () => {
    await page.getByRole('button', { name: 'More about deals' }).click()
    await page.getByRole('menuitem', { name: 'Rules' }).click()
    await page.getByRole('dialog').waitFor()
  }
  const save = async () => {
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await open()
  await page.getByRole('button', { name: 'Add constraint' }).click()
  await page.getByRole('textbox', { name: 'Condition over doc' }).fill('doc.end >= doc.start')
  await page.getByRole('textbox', { name: 'Message' }).fill('The end must not be before the start.')
  await page.getByRole('combobox', { name: 'Field at which it is shown' }).fill('end')
  await settled(page)
  await expectNoProblem(page, 'a constraint')
  await save()
  expect(await constraints()).toEqual([
    { rule: 'doc.end >= doc.start', message: 'The end must not be before the start.', field: 'end' },
  ])
  expect(await rules()).toBeNull()
  await open()
  await page.getByRole('button', { name: 'Remove constraint 1' }).click()
  await save()
  expect(await constraints()).toEqual([])
})

test('a rule that reads a field of no storage says so; a field of every storage is known', async () => {
  for (const field of [{ name: 'owner', storage: 'deals' }, { name: 'checked_by' }])
    await studio.quoin.send('POST', '/blueprintfields', { as: 'admin', body: { type: 'string', ...field } })
  await page.goto('data')
  await page.getByRole('button', { name: 'More about deals' }).click()
  await page.getByRole('menuitem', { name: 'Rules' }).click()
  const see = page.getByRole('textbox', { name: 'See' })
  await see.fill('doc.checked_by == user.guid && doc.onwer == user.guid && doc.owner != "doc.locked"')
  const warnings = page.getByRole('dialog').getByRole('status')
  await eventually(() => warnings.allTextContents()).toEqual([expect.stringContaining('onwer')])
})
