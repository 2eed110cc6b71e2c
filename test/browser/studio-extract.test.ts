/** Steps become a function in the studio: one gesture, one step of undo, and the endpoint answers the same. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { eventually, textsOf } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

const file = {
  name: 'Welcome',
  blocks: {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'welcome/{name}' }, scopes: ['*public'] },
    log: { type: 'function_console_log', in: { flow: '@get.flow', value: '=params.name' } },
    trim: { type: 'httpconnection_get_params', in: { connection: '@get.connection', field: 'name' } },
    note: { type: 'function_console_log', in: { flow: '@log.flow', value: '=trim.value' } },
    answer: {
      type: 'httpconnection_set_json',
      in: { flow: '@note.flow', value: '=({ hello: params.name })' },
    },
  },
}

let studio: StudioFixture
let page: Page
beforeAll(async () => {
  studio = await openStudio()
  const guid = await installBlueprint(studio.quoin.quoin.flows, file, { guid: '', username: 'admin' })
  page = await studio.open('admin', `blueprints/${guid}`, { viewport: { width: 1600, height: 1000 } })
  await blocks().first().waitFor()
})
afterAll(() => studio?.close())

const blocks = () => page.locator('.react-flow__node-block')
const titled = (title: string) => page.locator(`.react-flow__node-block[aria-label^="${title}"]`)
const menuItem = (name: string) => page.getByRole('menuitem', { name, exact: true })
const answer = async () => (await fetch(`${studio.address}/api/v1/welcome/Ada`)).json()

test('the palette begins with the blocks that are used most', async () => {
  const palette = page.getByRole('complementary', { name: 'Blocks to add' })
  await eventually(textsOf(palette.getByRole('group', { name: 'Used most' }).getByRole('option'))).toEqual(
    expect.arrayContaining([expect.stringMatching(/^Log/)]),
  )
  await palette.getByRole('combobox').fill('lo')
  await eventually(() => palette.getByRole('group', { name: 'Used most' }).count()).toBe(0)
  await palette.getByRole('combobox').fill('')
})

test('steps that cannot be a function are refused with a reason', async () => {
  await titled('GET /welcome').click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.getByRole('button', { name: 'Extract to a function' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/starts a flow. Select the steps behind it/).waitFor()
  expect(await dialog.getByRole('button', { name: 'Extract', exact: true }).isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
})

test('steps become a function, and the endpoint answers the same', async () => {
  const before = await answer()
  await page.getByRole('button', { name: 'Fit View' }).click()
  const [log, note] = [titled('Log params.name'), titled('Log trim')]
  await page.locator('.react-flow__pane').click({ position: { x: 30, y: 700 } })
  await log.click({ position: { x: 60, y: 12 } })
  await note.click({ position: { x: 60, y: 12 }, modifiers: ['Shift'] })
  await page.getByText('2 selected').waitFor()
  await note.click({ button: 'right', position: { x: 60, y: 12 } })
  await menuItem('Extract to a function').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name of the function').fill('greet')
  await dialog.getByText('Takes name, trim. Returns nothing.').waitFor()
  await expectNoProblem(page, 'extract to a function')
  await dialog.getByRole('button', { name: 'Extract', exact: true }).click()
  await page.locator('.react-flow__node-block.selected[aria-label^="Call greet"]').waitFor()
  await page.getByRole('button', { name: 'Fit View' }).click()
  await eventually(() => blocks().count()).toBe(8)
  // One step of undo, there and back.
  await page.keyboard.press('ControlOrMeta+z')
  await eventually(() => blocks().count()).toBe(5)
  await page.keyboard.press('ControlOrMeta+Shift+z')
  await eventually(() => blocks().count()).toBe(8)
  await page
    .getByRole('button', { name: /^(Deploy|Save, deploy)/ })
    .first()
    .click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /deploy/i })
    .click()
  await eventually(() => page.getByRole('dialog').count()).toBe(0)
  expect(await answer()).toEqual(before)
  expect(before).toEqual({ hello: 'Ada' })
  expect(studio.complaints()).toEqual([])
})
