/** Triggers that are run by hand in the studio: without effects as they are drawn, and for real as they are deployed. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeProblems } from './axe-check.ts'
import { eventually } from './studio-eventually.ts'
import { goWithin, openStudio, type StudioFixture } from './studio-fixture.ts'
import { expectNoProblem } from './studio-looks.ts'

let studio: StudioFixture
let page: Page
let blueprint = ''
beforeAll(async () => {
  studio = await openStudio()
  const keep = (flow: string, set: string) => ({
    type: 'function_create_document_from_mutations',
    in: { flow, storage: 'kept', set },
  })
  blueprint = await studio.quoin.install('Shop', {
    order: {
      type: 'on_startup_register_uri_post',
      in: { uri: 'shop/orders' },
      fields: { schema: [{ name: 'item', type: 'text', required: true }] },
      scopes: ['*public'],
    },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@order.flow', storage: 'orders', set: '={ item: body.item }' },
    },
    created: { type: 'httpconnection_set_json', in: { flow: '@create.flow', value: '=create.document' } },
    tea: { type: 'on_startup_register_uri_get', in: { uri: 'shop/teas/{name}' }, scopes: ['*public'] },
    poured: { type: 'httpconnection_set_json', in: { flow: '@tea.flow', value: '=params.name' } },
    add: {
      type: 'trigger_custom_function',
      out: [
        { id: 'a', type: 'number' },
        { id: 'b', type: 'number' },
      ],
      fields: { name: 'add' },
    },
    sum: { type: 'function_return', in: { flow: '@add.flow', value: '=params.a + params.b' } },
    nightly: { type: 'schedule_repeating_event', title: 'Nightly report', in: { cron: '0 2 * * *' } },
    keep_tick: keep('@nightly.flow', '={ by: "schedule" }'),
    changed: { type: 'storage_event', in: { storage: 'orders', events: ['on_updated'] } },
    keep_item: keep('@changed.flow', '={ by: changed.document.item }'),
  })
  expect((await studio.ask('POST', '/shop/orders', { body: { item: 'Green tea' } })).status).toBe(200)
  page = await studio.open('admin', `blueprints/${blueprint}?panel=try`, {
    viewport: { width: 1500, height: 1000 },
  })
}, 240_000)
afterAll(() => studio?.close())

const panel = () => page.getByRole('complementary', { name: 'Try it' })
const kept = async () => (await studio.quoin.documents('kept')).map(({ by }) => by)

async function choose(label: string, option: RegExp): Promise<void> {
  await panel().getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option }).click()
}

test('the body of an endpoint is made from its schema, and it is tried as it is drawn', async () => {
  const item = panel().getByRole('textbox', { name: 'item' })
  const json = panel().getByRole('radio', { name: 'JSON' })
  const body = panel().getByRole('textbox', { name: 'Body' })
  expect(await item.inputValue()).toBe('')
  await panel().getByText('JSON', { exact: true }).click()
  await eventually(() => json.isChecked()).toBe(true)
  expect(await body.inputValue()).toBe('{\n  "item": ""\n}')
  // What is written in one is in the other.
  await body.fill('{ "item": "Cof')
  await panel().getByText('Fields', { exact: true }).click()
  await panel().getByText('The body is no JSON object. Mend it as JSON.').waitFor()
  await panel().getByText('JSON', { exact: true }).click()
  await body.fill('{ "item": "Cocoa", "more": 1 }')
  await panel().getByText('Fields', { exact: true }).click()
  await eventually(() => item.inputValue()).toBe('Cocoa')
  await item.fill('Coffee')
  await panel().getByText('JSON', { exact: true }).click()
  await eventually(async () => JSON.parse(await body.inputValue())).toEqual({ item: 'Coffee', more: 1 })
  await expectNoProblem(page, 'the form of a request')
  await panel().getByRole('button', { name: 'Try without effects' }).click()
  await panel().getByText('Tried without effects').waitFor()
  await page.getByRole('region', { name: 'Shown run' }).getByText('200').waitFor()
  expect((await studio.quoin.documents('orders')).map(({ item }) => item)).toEqual(['Green tea'])
})

test('an endpoint without a body is tried as it is drawn', async () => {
  await choose('What to run', /^GET/)
  await panel().getByRole('textbox', { name: 'name' }).fill('Assam')
  await panel().getByRole('button', { name: 'Try without effects' }).click()
  await panel().getByText('Tried without effects').waitFor()
  await panel().getByText('Assam').waitFor()
})

test('a function gets its parameters, and its result is shown', async () => {
  await choose('What to run', /^Function add/)
  const parameters = panel().getByRole('textbox', { name: 'Parameters' })
  expect(JSON.parse(await parameters.inputValue())).toEqual({ a: 0, b: 0 })
  await parameters.fill('{ "a": 40, "b": 2 }')
  await panel().getByRole('button', { name: 'Try', exact: true }).click()
  await panel().getByText('42').waitFor()
  await page.locator('.react-flow__node-block').filter({ hasText: '42' }).first().waitFor()
})

test('an event takes a document of its storage, and writes only for real', async () => {
  await choose('What to run', /Storage event: orders/)
  await choose('Document of orders', /Green tea/)
  await panel().getByRole('button', { name: 'Try', exact: true }).click()
  await panel().getByText('Tried without effects').waitFor()
  expect(await kept()).toEqual([])
  await panel().getByText('Run for real').first().click()
  await panel().getByRole('button', { name: 'Run for real' }).click()
  await panel().getByText('Ran for real').waitFor()
  expect(await kept()).toEqual(['Green tea'])
  expect(await axeProblems(page)).toEqual([])
})

test('the screen of schedules names the block, and runs it now', async () => {
  await goWithin(page, 'operate/schedules')
  await page.getByRole('link', { name: 'Nightly report · Shop' }).first().click()
  await page.getByRole('button', { name: 'Run now' }).click()
  await page
    .getByRole('dialog', { name: 'Run this schedule now?' })
    .getByRole('button', { name: 'Run now' })
    .click()
  await page.getByRole('link', { name: 'Show the run' }).waitFor()
  expect(await kept()).toEqual(['Green tea', 'schedule'])
  expect(await axeProblems(page)).toEqual([])
  await page.getByRole('link', { name: 'Show the run' }).click()
  await page.getByRole('region', { name: 'Shown run' }).getByText('Done').waitFor()
})
