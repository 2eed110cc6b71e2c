/** While a blueprint is edited, pins show what they got and gave in the last run that passed their block. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { objectOf } from '../end-to-end/harness.ts'
import { axeProblems } from './axe-check.ts'
import { eventually } from './studio-eventually.ts'
import { openStudio, type StudioFixture } from './studio-fixture.ts'

let studio: StudioFixture
let page: Page
let blueprint = ''
beforeAll(async () => {
  studio = await openStudio()
  blueprint = await studio.quoin.install('Goods', {
    post: { type: 'on_startup_register_uri_post', title: 'Add', in: { uri: 'goods' }, scopes: ['*public'] },
    check: { type: 'branch', title: 'Check', in: { flow: '@post.flow', condition: '=body.price > 0' } },
    keep: {
      type: 'function_create_document_from_mutations',
      title: 'Keep',
      in: { flow: '@check.true', storage: 'goods', set: '={ price: body.price, note: body.note }' },
    },
    kept: {
      type: 'httpconnection_set_json',
      title: 'Kept',
      in: { flow: '@keep.flow', code: 201, value: '=keep.document.price' },
    },
    refused: {
      type: 'httpconnection_set_json',
      title: 'Refused',
      in: { flow: '@check.false', code: 400, value: '=body.price' },
    },
  })
  page = await open('admin')
}, 240_000)
afterAll(() => studio?.close())

const open = (user: string, words = '') =>
  studio.open(user, `blueprints/${blueprint}${words}`, { viewport: { width: 1700, height: 900 } })
const block = (on: Page, title: string): Locator =>
  on.locator(`.react-flow__node-block[aria-label^="${title}, block"]`)
const says = (title: string) =>
  eventually(async () =>
    (await block(page, title).getAttribute('aria-label'))?.replace(`${title}, block`, ''),
  )
const shows = (title: string, words: string) =>
  block(page, title).getByRole('button', { name: words, exact: true }).waitFor()
const send = (price: number) =>
  studio.ask('POST', '/goods', { body: { price, note: 'tea '.repeat(40), password: 'hunter2 of Ada' } })
const trace = (on: boolean) => studio.quoin.manage('PUT', `/blueprints/${blueprint}/tracing`, { on })

test('before a run there are no values, and after one the open canvas has them', async () => {
  await says('Check').toBe('')
  await trace(true)
  expect((await send(3)).status).toBe(201)
  await trace(false)
  await says('Check').toBe(', traced run')
  await shows('Check', 'condition got true')
  await shows('Kept', 'value got 3')
  await shows('Keep', 'document gave {price, note, _meta}')
  await says('Refused').toBe('')
  await block(page, 'Kept').getByText('traced run,').waitFor()
  expect(await axeProblems(page)).toEqual([])
})

test('an edit keeps them, and says that the block was changed since', async () => {
  await block(page, 'Kept').click()
  const panel = page.getByRole('region', { name: 'Last values' })
  await panel.getByText('traced run').waitFor()
  const title = page.getByRole('textbox', { name: 'Title' })
  await title.fill('Answer')
  await title.press('Tab')
  await says('Answer').toBe(', traced run')
  const code = page.getByRole('group', { name: /^code,/ }).getByRole('textbox')
  await code.fill('202')
  await code.press('Tab')
  await says('Answer').toBe(', traced run, changed since')
  await shows('Answer', 'value got 3')
  await panel.getByText('The block was changed since then.').waitFor()
  await page.keyboard.press('Control+z')
  await says('Answer').toBe(', traced run')
})

test('the panel has them whole', async () => {
  await block(page, 'Keep').click()
  const panel = page.getByRole('region', { name: 'Last values' })
  await panel.getByText('tea '.repeat(40).trim()).first().waitFor()
  expect(await page.content()).not.toContain('hunter2')
})

test('each block has those of the last run that passed it, also of a try, and leads there', async () => {
  const tried = await studio.quoin.manage('POST', `/blueprints/${blueprint}/run`, {
    ...{ trigger: 'POST goods', input: { body: { price: -1 } } },
  })
  await says('Refused').toBe(', tried')
  await shows('Refused', 'value got -1')
  await shows('Check', 'condition got false')
  await says('Keep').toBe(', traced run')
  await block(page, 'Refused')
    .getByRole('button', { name: /^tried,/ })
    .click()
  await page.getByRole('region', { name: 'Shown run' }).waitFor()
  expect(new URL(page.url()).searchParams.get('run')).toBe(Object(tried).guid)
  await says('Keep').toBe(', did not run')
  await page.getByRole('button', { name: 'Leave the run' }).click()
  await says('Keep').toBe(', traced run')
})

test('a user who may not see runs sees none', async () => {
  await studio.quoin.addUser('drawer', [
    ...['blueprints_view', 'blueprints_update', 'blueprintactions_view', 'blueprintactions_update'],
  ])
  const other = await open('drawer')
  const refused = other.waitForResponse((reply) => reply.url().includes('/runs?') && reply.status() === 403)
  await Promise.all([refused, other.reload()])
  await block(other, 'Check').waitFor()
  expect(await block(other, 'Check').getAttribute('aria-label')).toBe('Check, block')
  await other.context().close()
})

test('values are switched off and on, and the browser keeps it', async () => {
  const values = page.getByRole('button', { name: 'Values', exact: true })
  await values.click()
  await says('Keep').toBe('')
  await page.reload()
  await says('Keep').toBe('')
  expect(await values.getAttribute('aria-pressed')).toBe('false')
  await values.click()
  await says('Keep').toBe(', traced run')
})

test('times of sampled runs are shown at the blocks of the deployed version', async () => {
  const path = `/blueprints/${blueprint}/block-times`
  await eventually(async () => {
    await send(3)
    return objectOf(await studio.quoin.manage('GET', path)).runs
  }).toBeGreaterThan(1)
  await page.getByRole('button', { name: 'Times', exact: true }).click()
  await says('Keep').toMatch(/, \d+ passes, median [\d.]+ ms, 95 % below [\d.]+ ms$/)
  const legend = page.getByRole('status').filter({ hasText: 'version 1' })
  await legend.getByText(/\d+ sampled runs? of version 1 in a day/).waitFor()
  await block(page, 'Keep')
    .getByTitle(/^Sampled runs: /)
    .waitFor()
  expect(
    await block(page, 'Refused')
      .getByTitle(/^Sampled runs: /)
      .count(),
  ).toBe(0)
  expect(await axeProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Times', exact: true }).click()
  await says('Keep').toBe(', traced run')
})

test('nothing was complained of', () => expect(studio.complaints()).toEqual([]))
