/** What is probably a mistake is said at the block, in the bar, beside the canvas and before a deploy; "No problems" only where none was found. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { findRecords } from '../../src/records/records.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { guidOf } from '../../src/storage/document-fields.ts'
import { systemStorages } from '../../src/storage/system-storages.ts'
import { transact } from '../../src/storage/transact.ts'
import { objectOf } from '../end-to-end/harness.ts'
import { eventually, textsOf } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

const file = {
  name: 'Mails',
  blocks: {
    post: { type: 'on_startup_register_uri_post', in: { uri: 'mails' }, scopes: ['*loggedin'] },
    search: { type: 'function_search', in: { flow: '@post.flow', storage: 'mails' } },
    answer: { type: 'reply', in: { flow: '@search.flow', value: 'sent' } },
  },
}

let studio: StudioFixture
let page: Page
beforeAll(async () => {
  studio = await openStudio()
  const guid = await installBlueprint(studio.quoin.quoin.flows, file, { guid: '', username: 'admin' })
  page = await studio.open('admin', `blueprints/${guid}`)
  await titled('POST /mails').waitFor()
})

afterAll(() => studio?.close())

const titled = (title: string) => page.locator(`.react-flow__node-block[aria-label^="${title}, block"]`)
const overview = () => page.getByRole('region', { name: 'Overview' })
const inBar = () => page.getByRole('button', { name: /Show them\.$/ })

test('a flow in order has no problems, and the bar is silent', async () => {
  await overview().getByRole('heading', { name: 'No problems' }).waitFor()
  expect(await inBar().count()).toBe(0)
})

test('a trigger that leads nowhere and steps that hang loose are told everywhere', async () => {
  await titled('Search mails').click({ position: { x: 60, y: 12 } })
  await page.keyboard.press('Delete')
  await inBar().waitFor()
  await page.locator('.react-flow__pane').click({ position: { x: 300, y: 600 } })
  const said = overview().getByRole('button')
  await eventually(textsOf(said)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/POST \/mails.*nothing|POST \/mails.*leads|POST \/mails.*behind/i),
      expect.stringMatching(/Reply.*No trigger leads to this block/),
    ]),
  )
  expect(await overview().getByText('No problems').count()).toBe(0)
  // At the block too.
  await titled('POST /mails').locator('[data-level]').waitFor()
  await expectNoProblem(page, 'warnings in the bar')
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page
    .getByRole('dialog')
    .getByText(/warning|problem/)
    .first()
    .waitFor()
  await page.keyboard.press('Escape')
})

test('the button in the bar leads to the list', async () => {
  await titled('POST /mails').click({ position: { x: 60, y: 12 } })
  await overview().waitFor({ state: 'detached' })
  await inBar().click()
  await overview()
    .getByRole('heading', { name: /warning|problem/ })
    .waitFor()
  await page.keyboard.press('ControlOrMeta+z')
  await overview().getByRole('heading', { name: 'No problems' }).waitFor()
  await eventually(() => inBar().count()).toBe(0)
  expect(studio.complaints()).toEqual([])
})

test('a setting that an earlier Quoin stored without its block having it is removed with a button', async () => {
  const { database } = studio.quoin.quoin.flows.records
  const query = { kind: 'term', field: 'type', value: 'reply' } as const
  const reply = () => findRecords(database.session(), systemStorages.blocks, query)
  const [stored] = await reply()
  const changes = setFields({ fields: { ...objectOf(stored?.fields), colour: 'red' } })
  await transact(database, (session) => session.update(systemStorages.blocks, guidOf(stored ?? {}), changes))
  await page.reload()
  await overview()
    .getByText(/no setting colour/)
    .click()
  await expectNoProblem(page, 'the button of a setting that is no setting')
  await page.getByRole('button', { name: 'Remove the setting colour' }).click()
  await eventually(async () => objectOf(objectOf((await reply())[0]?.unsaved).fields).colour).toBe(undefined)
  await page.locator('.react-flow__pane').click({ position: { x: 300, y: 600 } })
  await overview().getByRole('heading', { name: 'No problems' }).waitFor()
  expect(studio.complaints()).toEqual([])
})
