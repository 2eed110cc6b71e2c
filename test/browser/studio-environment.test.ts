/** Values of the environment in the studio: added, changed and removed by a person, and offered to expressions. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guidOf, objectsOf } from '../end-to-end/harness.ts'
import { axeProblems } from './axe-check.ts'
import { studioCanvas } from './studio-canvas.ts'
import { eventually, press, textOf, textsOf } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

let studio: StudioFixture
let page: Page
let blueprint = ''
beforeAll(async () => {
  studio = await openStudio()
  blueprint = await studio.quoin.install('Links', {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'links' }, scopes: ['*public'] },
    reply: { type: 'httpconnection_set_json', title: 'Reply', in: { flow: '@get.flow', value: '=1' } },
  })
  page = await studio.open('admin', 'operate/environment')
}, 240_000)
afterAll(() => studio?.close())

const present = () => studio.quoin.quoin.flows.environmentValues.present()
const dialog = () => page.getByRole('dialog')
const rows = () => page.getByRole('main').getByRole('row')

test('without values the screen says how they are read', async () => {
  await page.getByText("=env.BASE_URL + '/orders'").waitFor()
  expect(await axeProblems(page)).toEqual([])
})

test('a name that is none is refused in the dialog, and a text is added', async () => {
  await page.getByRole('button', { name: 'New value' }).click()
  await dialog().getByLabel('Name').fill('base-url')
  await dialog().getByLabel('Value', { exact: true }).fill('https://shop.example')
  await dialog().getByRole('button', { name: 'Create' }).click()
  await dialog().getByRole('alert').waitFor()
  expect(present()).toEqual({})
  await dialog().getByLabel('Name').fill('BASE_URL')
  await dialog().getByRole('button', { name: 'Create' }).click()
  await eventually(textOf(rows())).toMatch(/BASE_URL.*https:\/\/shop\.example.* by admin/)
  expect(present()).toEqual({ BASE_URL: 'https://shop.example' })
})

test('a value becomes JSON, with what is wrong said while it is typed', async () => {
  await page.getByRole('link', { name: 'BASE_URL' }).click()
  await dialog()
    .getByText(/^Changed .* by admin$/)
    .waitFor()
  await dialog().getByText('JSON', { exact: true }).click()
  await dialog().getByLabel('Value', { exact: true }).fill('{ "shop": ')
  await eventually(textOf(dialog())).toMatch(/line 1/i)
  expect(await axeProblems(page)).toEqual([])
  await dialog().getByLabel('Value', { exact: true }).fill('{ "shop": "https://shop.example" }')
  await dialog().getByRole('button', { name: 'Save' }).click()
  await dialog().waitFor({ state: 'detached' })
  expect(present()).toEqual({ BASE_URL: { shop: 'https://shop.example' } })
})

test('expressions are completed with the names and fields of values', async () => {
  const editor = await studio.open('admin', `blueprints/${blueprint}`)
  const blocks = objectsOf(await studio.quoin.manage('GET', `/blueprints/${blueprint}/blocks`))
  const reply = blocks.find(({ title }) => title === 'Reply')
  await studioCanvas(editor).choose(guidOf(reply))
  const field = editor.getByRole('textbox', { name: 'Expression of value' })
  await field.click()
  await field.press('ControlOrMeta+a')
  await editor.keyboard.type('env.BA')
  const options = editor.locator('.cm-tooltip-autocomplete').getByRole('option')
  await eventually(textsOf(options)).toEqual([expect.stringMatching(/^BASE_URL/)])
  await press(editor, 'Enter')
  await editor.keyboard.type('.')
  await eventually(textsOf(options)).toEqual([expect.stringMatching(/^shop/)])
  await editor.context().close()
})

test('a value is removed when that is confirmed', async () => {
  await page.getByRole('button', { name: 'Remove BASE_URL' }).click()
  await dialog().getByText('env.BASE_URL').waitFor()
  expect(Object.keys(present())).toEqual(['BASE_URL'])
  await dialog().getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No values').waitFor()
  expect(present()).toEqual({})
  expect(studio.complaints()).toEqual([])
})
