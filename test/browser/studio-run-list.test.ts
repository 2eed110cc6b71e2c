/** More runs than the list reads at once: the rest is reached, and the filter searches all of them. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setFields } from '../../src/shared/mutation.ts'
import { transact } from '../../src/storage/transact.ts'
import { eventually } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

const RUNS = 150
let studio: StudioFixture
let page: Page
let blueprint = ''
/** Requests of GET /tea: a second try sends one more. */
let called = 0
beforeAll(async () => {
  studio = await openStudio()
  blueprint = await studio.quoin.install('Tea', {
    get: { type: 'on_startup_register_uri_get', title: 'Tea', in: { uri: 'tea' }, scopes: ['*public'] },
    reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: 'tea' } },
  })
  const { database } = studio.quoin.quoin
  // The oldest and the newest were refused.
  for (let i = 0; i < RUNS; i += 1)
    await transact(database, async (session) => session.create('_runs', setFields(record(i))))
  page = await studio.open('admin', `blueprints/${blueprint}?panel=runs`, {
    viewport: { width: 1500, height: 900 },
  })
}, 240_000)
afterAll(() => studio?.close())

const record = (i: number) => ({
  ...{ blueprint, trigger: 't', trigger_type: 'http', label: `GET tea ${i}`, status: 'ended' },
  ...{ started: new Date(1_700_000_000_000 + i * 1_000).toISOString(), us: 900, error: null, steps: 2 },
  reply: { status: i === 0 || i === RUNS - 1 ? 403 : 200 },
  ...{ user: null, deployment: 1, replay_of: null, node: '', paused: null, detail: '{}' },
})
const rows = () => page.getByRole('list', { name: 'Runs' }).getByRole('listitem')
const labels = async () => (await rows().allInnerTexts()).map((text) => /GET tea(?: \d+)?/.exec(text)?.[0])
const older = () => page.getByRole('button', { name: 'Show older' })
const open = async () => {
  await page.goto(`${studio.address}/studio/blueprints/${blueprint}?panel=runs`)
  await page.getByRole('list', { name: 'Runs' }).waitFor()
}

test('the list says how many there are, and shows the newest', async () => {
  await page.getByText(`All ${RUNS}`).waitFor()
  await eventually(() => rows().count()).toBe(100)
  expect((await labels())[0]).toBe(`GET tea ${RUNS - 1}`)
})

test('the filter searches all of them, not only those that are shown', async () => {
  await page.getByText('Errors 2').click()
  await eventually(labels).toEqual([`GET tea ${RUNS - 1}`, 'GET tea 0'])
  expect(await older().count()).toBe(0)
  await page.getByText(`All ${RUNS}`).click()
})

test('the rest is reached, also when one comes in meanwhile', async () => {
  if (called > 0) await open()
  await studio.quoin.manage('PUT', `/blueprints/${blueprint}/tracing`, { on: true, keep_last: 200 })
  expect((await studio.ask('GET', '/tea')).status).toBe(200)
  called += 1
  await eventually(async () => (await labels()).filter((label) => label === 'GET tea').length).toBe(called)
  await older().click()
  await eventually(() => rows().count()).toBe(RUNS + called)
  const all = await labels()
  expect([all[0], all.at(-1), new Set(all).size]).toEqual(['GET tea', 'GET tea 0', RUNS + 1])
  expect(await older().count()).toBe(0)
})

test('the list of runs is closed by its button, and gives way to the settings of a block that is clicked', async () => {
  const list = page.getByRole('list', { name: 'Runs' })
  await open()
  await page.getByRole('button', { name: 'Close the list of runs' }).click()
  await list.waitFor({ state: 'detached' })
  await open()
  await page.locator('.react-flow__node-block').first().click()
  await list.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Add a block after' }).first().waitFor()
})
