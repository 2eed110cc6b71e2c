/** The expressions of a run in the list of its steps: what each read, and what it gave. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { axeProblems } from './axe-check.ts'
import { eventually, textOf } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

const blocks = {
  post: { type: 'on_startup_register_uri_post', in: { uri: 'orders' }, scopes: ['*public'] },
  reply: {
    type: 'httpconnection_set_json',
    title: 'Total',
    in: { flow: '@post.flow', value: '=body.vip ? 0 : body.price * body.amount' },
  },
}

let studio: StudioFixture
let page: Page
beforeAll(async () => {
  studio = await openStudio()
  const { flows } = studio.quoin.quoin
  const file = { name: 'Orders', blocks, layout: { post: [0, 0], reply: [290, 0] } }
  const guid = await installBlueprint(flows, file, { guid: '', username: 'builder' })
  page = await studio.open('admin', `blueprints/${guid}?panel=try`, {
    viewport: { width: 1500, height: 900 },
  })
}, 240_000)
afterAll(() => studio?.close())

test('a step shows its expression, what was read, and the value', async () => {
  await page.getByRole('textbox', { name: 'Body' }).fill('{"price":7,"amount":6,"secret":"x"}')
  await page.getByRole('button', { name: 'Send POST' }).click()
  await page.getByRole('button', { name: /^Runs/ }).click()
  const steps = page.getByRole('region', { name: 'Steps' })
  await steps.getByText('Total').click()
  await eventually(textOf(steps)).toContain('Expressions')
  const text = await textOf(steps)()
  for (const part of [
    '=body.vip ? 0 : body.price * body.amount',
    'body.vip null',
    'body.price 7',
    'body.amount 6',
    '→ 42',
  ])
    expect(text).toContain(part)
  expect(text).not.toContain('body.secret')
  expect(await axeProblems(page)).toEqual([])
})
