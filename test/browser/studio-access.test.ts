/** Who may use a storage is chosen by groups, where pages and APIs are made, and changed in one place. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

let studio: StudioFixture
let page: Page
beforeAll(async () => {
  studio = await openStudio()
  await studio.quoin.manage('POST', '/_system/storages', { name: 'contracts' })
  await studio.quoin.manage('POST', '/blueprintfields', {
    name: 'title',
    type: 'string',
    storage: 'contracts',
  })
  page = await studio.open('admin', 'people/groups?open=new')
}, 300_000)
afterAll(() => studio?.close())

const dialog = () => page.getByRole('dialog')
const who = (label: string, choice: string) =>
  dialog().getByRole('radiogroup', { name: label }).getByText(choice, { exact: true }).click()
const triggers = async () => {
  const found = await studio.quoin.manage('POST', '/blueprintactions/search', {
    filters: { type: ['state_page', 'on_startup_register_resource'] },
    sort: [{ '_meta.cms': 'asc' }],
  })
  return JSON.parse(JSON.stringify(found))
}
const scopesOfPages = async () =>
  (await triggers()).flatMap((one: { type: string; scopes: string[]; unsaved?: { scopes?: string[] } }) =>
    one.type === 'state_page' ? [one.unsaved?.scopes ?? one.scopes] : [],
  )
const groups = () => studio.quoin.manage('POST', '/_system/authentication-groups/search', {})

test('after a scope was typed, nothing lies over Create', async () => {
  await dialog().waitFor()
  await dialog().getByRole('textbox', { name: 'Name' }).fill('Sales')
  await dialog().getByRole('combobox', { name: 'Scopes' }).fill('mail_read')
  await page.keyboard.press('Enter')
  await dialog().getByRole('button', { name: 'Create' }).click()
  await dialog().waitFor({ state: 'detached' })
  expect(await groups()).toMatchObject([{ name: 'Sales', scopes: ['mail_read'] }])
})

test('made pages ask for the scopes that the chosen groups are given', async () => {
  await studio.quoin.manage('POST', '/_system/authentication-groups', { name: 'Office', scopes: [] })
  await goWithin(page, 'data')
  await page.getByRole('link', { name: 'contracts', exact: true }).first().click()
  await page.getByRole('button', { name: 'Make pages' }).click()
  await who('Who may see the documents', 'These groups')
  await dialog().getByRole('combobox', { name: 'Who may see the documents: groups' }).fill('sal')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await dialog().getByText('contracts_read and contracts_write').waitFor()
  await settled(page)
  await expectNoProblem(page, 'the dialog that makes pages')
  await dialog().getByRole('button', { name: 'Make and activate' }).click()
  await page.waitForURL(/\/blueprints\/[0-9a-f-]{36}/)
  const read = ['contracts_read', 'contracts_write']
  expect(await scopesOfPages()).toEqual([read, ['contracts_write'], read, ['contracts_write']])
  expect(await groups()).toContainEqual(
    expect.objectContaining({ name: 'Sales', scopes: ['mail_read', 'contracts_read', 'contracts_write'] }),
  )
  expect(await groups()).toContainEqual(expect.objectContaining({ name: 'Office', scopes: [] }))
})

test('one place changes all pages, and says what counts at the next deploy', async () => {
  await goWithin(page, 'data')
  await page.getByRole('link', { name: 'contracts', exact: true }).first().click()
  await page.getByRole('button', { name: 'More about contracts' }).click()
  await page.getByRole('menuitem', { name: 'Who may use it' }).click()
  await dialog().getByText('/contracts/new').waitFor()
  await who('Who may see the documents', 'Signed-in users')
  expect(await dialog().getByText('more users').count()).toBe(2)
  await dialog().getByRole('button', { name: 'Save' }).click()
  await dialog().getByText('in use when these blueprints are deployed').waitFor()
  await settled(page)
  await expectNoProblem(page, 'who may use a storage')
  const write = ['contracts_write']
  expect(await scopesOfPages()).toEqual([['*loggedin'], write, ['*loggedin'], write])
  expect(studio.complaints()).toEqual([])
})

test('before a choice nothing is marked, also where pages admit different users', async () => {
  const { _meta } = (await triggers()).find((one: { type: string }) => one.type === 'state_page')
  await studio.quoin.manage('PUT', `/blueprintactions/${_meta.guid}`, { scopes: ['mail_read'] })
  await page.goto(`${studio.address}/studio/data`)
  await page.getByRole('button', { name: 'More about contracts' }).click()
  await page.getByRole('menuitem', { name: 'Who may use it' }).click()
  await dialog().getByText('They admit different users now.').waitFor()
  expect(
    await dialog()
      .getByText(/(?:more|fewer|other) users/)
      .count(),
  ).toBe(0)
  await who('Who may see the documents', 'Signed-in users')
  await dialog()
    .getByText(/(?:more|other) users/)
    .first()
    .waitFor()
})
