/** Who may use a storage is chosen by groups, where pages and APIs are made, and changed in one place. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { eventually } from './studio-eventually.ts'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem, settled } from './studio-looks.ts'

let studio: StudioFixture
let page: Page
beforeAll(async () => {
  studio = await openStudio()
  page = await studio.open('admin', 'people/groups?open=new')
}, 300_000)
afterAll(() => studio?.close())

/** A second try has groups and a storage of its own. */
let tries = 0
let storage = ''
let blueprint = ''

const dialog = () => page.getByRole('dialog')
const who = (label: string, choice: string) =>
  dialog().getByRole('radiogroup', { name: label }).getByText(choice, { exact: true }).click()
/** Of the pages that were made last. */
const triggers = async () => {
  const found = await studio.quoin.manage('POST', '/blueprintactions/search', {
    filters: { type: ['state_page', 'on_startup_register_resource'] },
    sort: [{ '_meta.cms': 'asc' }],
  })
  return JSON.parse(JSON.stringify(found)).filter((one: JsonObject) => one.blueprint_guid === blueprint)
}
const scopesOfPages = async () =>
  (await triggers()).flatMap((one: { type: string; scopes: string[]; unsaved?: { scopes?: string[] } }) =>
    one.type === 'state_page' ? [one.unsaved?.scopes ?? one.scopes] : [],
  )
const groups = () => studio.quoin.manage('POST', '/_system/authentication-groups/search', {})

test('after a scope was typed, nothing lies over Create', async () => {
  const group = `Mail${++tries}`
  if (tries > 1) await page.goto('people/groups?open=new')
  await dialog().waitFor()
  await dialog().getByRole('textbox', { name: 'Name' }).fill(group)
  await dialog().getByRole('combobox', { name: 'Scopes' }).fill('mail_read')
  await page.keyboard.press('Enter')
  await dialog().getByRole('button', { name: 'Create' }).click()
  await dialog().waitFor({ state: 'detached' })
  expect(await groups()).toContainEqual(expect.objectContaining({ name: group, scopes: ['mail_read'] }))
})

test('made pages ask for the scopes that the chosen groups are given', async () => {
  const { manage } = studio.quoin
  storage = `contracts_${++tries}`
  const [group, office] = [`Sales${tries}`, `Office${tries}`]
  await manage('POST', '/_system/storages', { name: storage })
  await manage('POST', '/blueprintfields', { name: 'title', type: 'string', storage })
  await manage('POST', '/_system/authentication-groups', { name: group, scopes: ['mail_read'] })
  await manage('POST', '/_system/authentication-groups', { name: office, scopes: [] })
  // Loaded again: the list of groups is not read twice in one second.
  await page.goto('data')
  await page.getByRole('link', { name: storage, exact: true }).first().click()
  await page.getByRole('button', { name: 'Make pages' }).click()
  await who('Who may see the documents', 'These groups')
  await dialog()
    .getByRole('combobox', { name: 'Who may see the documents: groups' })
    .fill(group.toLowerCase())
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await dialog().getByText(`${storage}_read and ${storage}_write`).waitFor()
  await settled(page)
  await expectNoProblem(page, 'the dialog that makes pages')
  await dialog().getByRole('button', { name: 'Make and activate' }).click()
  await page.waitForURL(/\/blueprints\/[0-9a-f-]{36}/)
  blueprint = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  const read = [`${storage}_read`, `${storage}_write`]
  const write = [`${storage}_write`]
  expect(await scopesOfPages()).toEqual([read, write, read, write])
  expect(await groups()).toContainEqual(
    expect.objectContaining({ name: group, scopes: ['mail_read', ...read] }),
  )
  expect(await groups()).toContainEqual(expect.objectContaining({ name: office, scopes: [] }))
})

test('one place changes all pages, and says what counts at the next deploy', async () => {
  // What a first try has staged.
  await studio.quoin.manage('DELETE', `/blueprintactions/unsaved/${blueprint}`)
  await goWithin(page, 'data')
  await page.getByRole('link', { name: storage, exact: true }).first().click()
  await page.getByRole('button', { name: `More about ${storage}` }).click()
  await page.getByRole('menuitem', { name: 'Who may use it' }).click()
  await dialog().getByText(`/${storage}/new`).waitFor()
  await who('Who may see the documents', 'Signed-in users')
  await eventually(() => dialog().getByText('more users').count()).toBe(2)
  await dialog().getByRole('button', { name: 'Save' }).click()
  await dialog().getByText('in use when these blueprints are deployed').waitFor()
  await settled(page)
  await expectNoProblem(page, 'who may use a storage')
  const write = [`${storage}_write`]
  expect(await scopesOfPages()).toEqual([['*loggedin'], write, ['*loggedin'], write])
  expect(studio.complaints()).toEqual([])
})

test('before a choice nothing is marked, also where pages admit different users', async () => {
  const { _meta } = (await triggers()).find((one: { type: string }) => one.type === 'state_page')
  await studio.quoin.manage('PUT', `/blueprintactions/${_meta.guid}`, { scopes: ['mail_read'] })
  await page.goto(`${studio.address}/studio/data`)
  await page.getByRole('button', { name: `More about ${storage}` }).click()
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

test('a group that is there from the start is copied, with its scopes', async () => {
  const name = `Readers ${Date.now()}`
  await page.goto('people/groups')
  await page.getByRole('button', { name: 'Copy the group viewer' }).click()
  const dialog = page.getByRole('dialog', { name: 'New group' })
  expect(await dialog.getByLabel('Name').inputValue()).toBe('Copy of viewer')
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: `Copy the group ${name}` }).waitFor()
  const scopesOf = (one: string) =>
    JSON.parse(JSON.stringify(all)).find((group: { name: string }) => group.name === one)?.scopes
  const all = await groups()
  expect(scopesOf('viewer')).toContain('storages_view')
  expect(scopesOf(name)).toEqual(scopesOf('viewer'))
})
